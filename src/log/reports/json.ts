import { z } from 'zod';
import { createLineCounter } from './line-counter.ts';
import type { ReportDraft } from './report-draft.ts';

/** A JSON report: its value, and where its text says something. */
export interface JsonDocument {
  readonly source: string;
  readonly value: unknown;
  /** The line on which the text says this as a JSON string, searched from the last one found; null where it does not, or at too long a line. */
  readonly lineOf: (said: string) => number | null;
}

/** Characters; a value takes several times as much memory as its text. */
const MAX_JSON = 64 * 1024 * 1024;
const MAX_SEARCHES = 2_000;
/** Searches of the whole text for what it writes in another way, such as with `\\/` for `/`. */
const MAX_MISSES = 10;
const MAX_LINE = 4_000;

/** A text field of which a report may hold more than we want. */
export const text = z.string().nullish();
export const count = z.number().nullish();

/** Parses JSON; undefined where the text is none or too large. */
export function parseJson(source: string): unknown {
  if (source.length > MAX_JSON || !/^[\ufeff\s]{0,1000}[{[]/.test(source)) return undefined;
  try {
    return JSON.parse(source.replace(/^\ufeff/, '')) as unknown;
  } catch {
    return undefined;
  }
}

/** Reads a list item by item, so that one strange item does not hide the others; a note says how many were strange. */
export function readItems<Item extends z.ZodType>(
  draft: ReportDraft,
  items: readonly unknown[],
  schema: Item,
  read: (item: z.infer<Item>) => void,
): void {
  let strange = 0;
  for (const item of items) {
    const parsed = schema.safeParse(item);
    if (parsed.success) read(parsed.data);
    else strange++;
  }
  if (strange > 0) draft.note(`${strange} of ${items.length} entries of the report are not as its format describes and were left out.`);
}

/** Opens a parsed document. */
export function openJson(source: string, value: unknown, json: string): JsonDocument {
  const lineAt = createLineCounter(json);
  let searches = 0;
  let misses = 0;
  let from = 0;
  return {
    source,
    value,
    lineOf(said) {
      if (said === '' || misses > MAX_MISSES || ++searches > MAX_SEARCHES) return null;
      const needle = JSON.stringify(said);
      let at = json.indexOf(needle, from);
      if (at === -1) {
        misses++;
        at = from === 0 ? -1 : json.indexOf(needle);
      }
      if (at === -1) return null;
      from = at + needle.length;
      const before = json.slice(Math.max(0, at - MAX_LINE), at).lastIndexOf('\n');
      const after = json.slice(at, at + MAX_LINE).indexOf('\n');
      const isLong = (before === -1 && at > MAX_LINE) || (after === -1 && json.length - at > MAX_LINE);
      return isLong ? null : lineAt(at);
    },
  };
}
