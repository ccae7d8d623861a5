import { TriageError, type TriageErrorCode } from '../../../src/domain/errors.ts';

/** Null if the work refuses its input as it may: with one of these codes. Anything else that is thrown stays thrown. */
export async function unlessRefused<T>(
  codes: readonly TriageErrorCode[],
  work: () => T | Promise<T>,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TriageError && codes.includes(error.code)) return null;
    throw error;
  }
}
