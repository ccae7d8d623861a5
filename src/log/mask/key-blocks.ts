import { append } from '../../lib/lists.ts';
import type { Span } from './span.ts';

export const KEY_BLOCK_LITERALS: readonly string[] = ['-----begin', '---- begin ssh2', 'private-lines:'];
export const ENCODED_KEY_LITERALS: readonly string[] = ['ls0tls1crudjti'];

const BEGIN = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|\bPrivate-Lines: \d{1,3}/;
const END = /-{4,5} ?END /;
/** The longest private key block, in lines. */
const MAX_LINES = 200;
/** Keys of one line, as in a JSON document without line ends. */
const MAX_BLOCKS = 50;
const LAST_RUN = /(?<![A-Za-z0-9+/=])[A-Za-z0-9+/=]{1,2000}(?=(?:\\{1,2}[nr]){0,2}["',]{0,3}\s{0,8}$)/;
/** Lines of a block that hold no key: its headers, and what is empty. */
const HEADER = /(?:^|\s)(?:Proc-Type|DEK-Info|Version|Comment|Hash|Subject|Charset): |^\s*$/;

/** Reads the lines of a text after a given one; null where there is none. */
export type NextLine = (after: number) => string | null;

/** Spans in one line; `line` counts from the line where the block begins. */
export interface LineSpans {
  readonly line: number;
  readonly spans: readonly Span[];
}

/**
 * The bodies of the private keys that begin in this line: what follows on the line itself (`\n` written out; several where each of
 * them also ends there), or on at most 200 lines after it, up to its end or to the first line that cannot belong to a key.
 */
export function findKeyBlock(first: string, next: NextLine): LineSpans[] {
  const found: LineSpans[] = [];
  let after = 0;
  for (let block = 0; block < MAX_BLOCKS; block++) {
    const begin = BEGIN.exec(first.slice(after));
    if (begin === null) break;
    const from = after + begin.index + begin[0].length;
    const rest = first.slice(from, from + 20_000);
    const end = rest.search(END);
    if (end === -1) {
      const here = /[A-Za-z0-9+/=]{16}/.test(rest) ? onOneLine(first, from, endOfText(first)) : [];
      return [...found, ...here, ...bodyOf(next, after + begin.index)];
    }
    append(found, onOneLine(first, from, from + end));
    after = from + end;
  }
  return found;
}

function bodyOf(next: NextLine, indent: number): LineSpans[] {
  const body: LineSpans[] = [];
  for (let line = 1; line <= MAX_LINES; line++) {
    const text = next(line);
    if (text === null || END.test(text)) break;
    if (HEADER.test(text) || HEADER.test(text.slice(indent))) continue;
    const run = LAST_RUN.exec(text.slice(0, 4_000));
    if (run === null || !(isKeyMaterial(run[0]) || endsSoon(next, line))) break;
    body.push({ line, spans: [{ from: run.index, to: run.index + run[0].length }] });
  }
  return body;
}

function isKeyMaterial(run: string): boolean {
  return run.length >= 16 && /\d/.test(run) && /[A-Z]/.test(run) && /[a-z]/.test(run);
}

/** The last line of a key may be short, and a checksum may follow it. */
function endsSoon(next: NextLine, line: number): boolean {
  return END.test(next(line + 1) ?? '') || END.test(next(line + 2) ?? '');
}

/** Base64 of a whole PEM file with a private key, as in kubeconfigs and Kubernetes secrets; certificates stay. */
export function findEncodedKeys(line: string): Span[] {
  return Array.from(line.matchAll(/(?<![A-Za-z0-9+/])LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,200000}={0,2}/g)).flatMap(({ 0: run, index }) =>
    Buffer.from(run.slice(0, 80), 'base64').toString('latin1').includes('PRIVATE KEY') ? [{ from: index, to: index + run.length }] : [],
  );
}

/** The key between its first and its last mark, without the breaks (`\n` written out) at both ends. */
function onOneLine(line: string, from: number, to: number): LineSpans[] {
  const body = line.slice(from, to);
  const start = /^(?:\s|\\{1,3}[nr]){0,8}/.exec(body)?.[0].length ?? 0;
  const rest = /(?:\s|\\{1,3}[nr]|["',]){0,8}$/.exec(body.slice(-24))?.[0].length ?? 0;
  const span = { from: from + start, to: Math.max(from + start, to - rest) };
  return line.startsWith('***', span.from) ? [] : [{ line: 0, spans: [span] }];
}

function endOfText(line: string): number {
  return line.endsWith('\r') ? line.length - 1 : line.length;
}
