import { z } from 'zod';
import { logAddress } from '../addresses.ts';
import { type Range, readRange, writeRange } from './window.ts';

const range = z
  .string()
  .max(40)
  .transform((text) => readRange(text))
  .catch(null)
  .default(null);
const line = z.coerce.number().int().min(1).max(999_999_999).catch(0).default(0);
const onOff = z.enum(['0', '1']).optional().catch(undefined);

/** What the address of the viewer says. What cannot be read is as if it were not there. */
export const LogQuery = z.object({
  /** Name of the text; absent: the build's largest log. */
  file: z.string().max(2_000).optional().catch(undefined),
  /** Marked lines. */
  L: range,
  from: line,
  to: line,
  view: z.literal('full').optional().catch(undefined),
  /** Words to search for, in one line. */
  q: z.string().max(500).catch('').default(''),
  case: z.literal('1').optional().catch(undefined),
  /** First hit that is wanted. */
  hit: z.coerce.number().int().min(1).max(999_999_999).catch(1).default(1),
  ts: onOff,
  wrap: onOff,
  /** Only of this analysis evidence is shown. */
  analysis: z.string().max(300).optional().catch(undefined),
  /** Only the rows that take the place of this gap are wanted. */
  part: range,
});
export type LogQuery = z.infer<typeof LogQuery>;

/** A place in one log of the viewer. */
export interface Place {
  readonly marked?: Range;
  readonly window?: Range;
  readonly view?: 'full';
  readonly hit?: number;
}

/** What stays as it is when somebody goes on within the log. */
export type Kept = Pick<LogQuery, 'ts' | 'wrap' | 'analysis' | 'q' | 'case'>;

/** The address of a place in a log, with what stays as it is. */
export function placeAddress(buildId: string, file: string, kept: Partial<Kept>, { marked, window, view, hit }: Place = {}): string {
  const own = { view, from: window?.from, to: window?.to, hit, L: marked === undefined ? undefined : writeRange(marked) };
  const asked = Object.entries({ ...kept, q: kept.q || undefined, ...own }).filter(([, value]) => value !== undefined);
  const query = asked.map(([name, value]) => `&${name}=${encodeURIComponent(String(value).toWellFormed())}`).join('');
  const first = marked?.from ?? window?.from;
  return `${logAddress(buildId, file)}${query}${first === undefined ? '' : `#L${first}`}`;
}
