import { z } from 'zod';

/** Which part of a list. */
export interface Page {
  /** 1..200 */
  readonly limit: number;
  readonly offset: number;
}

/** The same as a query says it. */
export const pageQuery = { limit: queryInteger(1, 200, 50), offset: queryInteger(0, 1_000_000, 0) };

/** An integer in a query: digits and nothing else, so that an empty value is no zero. Absent: `standard`. */
export function queryInteger(minimum: number, maximum: number, standard: number) {
  const read = (text: unknown) => (typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : text);
  const number = z.preprocess(read, z.int('must be a whole number, in digits').min(minimum).max(maximum));
  return number.default(standard).meta({ type: 'integer', minimum, maximum, default: standard });
}
