import type { Finding } from '../domain/evidence.ts';
import { stripEscapes } from '../log/lines/clean.ts';

/** Most findings one answer may hold. */
export const MAX_FINDINGS = 10;
/** Most characters of one finding's text. */
export const MAX_TEXT = 4_000;
const MAX_TITLE = 300;
const MAX_DATA = 4_000;
/** Of a list or an object inside a finding's data. */
const MAX_ITEMS = 200;
const MAX_DEPTH = 4;

/** Control characters that carry nothing for a reader; `\t` and `\n` stay, so lines keep their numbers. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Removes terminal escapes and control characters; of a line that a carriage return overwrote, what a person saw stays. */
export function cleanText(text: string): string {
  const plain = stripEscapes(text);
  const shown = plain.includes('\r') ? plain.split('\n').map(lastShown).join('\n') : plain;
  return shown.replace(CONTROLS, '');
}

/** Cleans, masks and cuts a finding. A finding with lines is cut at a line's end and its `lineEnd` follows. */
export async function boundFinding(finding: Finding, mask: (text: string) => string | Promise<string>): Promise<Finding> {
  const text = await mask(cleanText(finding.text));
  const cut = finding.lineStart === undefined ? { text: text.slice(0, MAX_TEXT) } : cutLines(text, finding.lineStart);
  const { data, ...rest } = finding;
  return {
    ...rest,
    ...cut,
    title: (await mask(cleanText(oneLine(finding.title)))).slice(0, MAX_TITLE),
    ...(data === undefined ? {} : { data: await boundData(data, mask) }),
  };
}

function cutLines(text: string, lineStart: number): { text: string; lineEnd: number } {
  let kept = text;
  if (text.length > MAX_TEXT) {
    const end = text.lastIndexOf('\n', MAX_TEXT);
    kept = end <= 0 ? text.slice(0, MAX_TEXT) : text.slice(0, end);
  }
  return { text: kept, lineEnd: lineStart + kept.split('\n').length - 1 };
}

async function boundData(
  data: Readonly<Record<string, unknown>>,
  mask: (text: string) => string | Promise<string>,
): Promise<Record<string, unknown>> {
  const bounded: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data).slice(0, 40)) {
    bounded[key] = await boundValue(value, mask, MAX_DEPTH);
  }
  return bounded;
}

/** Texts however deep they stand; what is deeper still is left out, since nobody looks there for secrets. */
async function boundValue(value: unknown, mask: (text: string) => string | Promise<string>, depth: number): Promise<unknown> {
  if (typeof value === 'string') return (await mask(cleanText(value))).slice(0, MAX_DATA);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return Promise.all(value.slice(0, MAX_ITEMS).map((item) => boundValue(item, mask, depth - 1)));
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(await Promise.all(entries.map(async ([key, item]) => [key, await boundValue(item, mask, depth - 1)] as const)));
}

function lastShown(line: string): string {
  const end = line.endsWith('\r') ? line.replace(/\r{1,9}$/, '') : line;
  return end.slice(end.lastIndexOf('\r') + 1);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
