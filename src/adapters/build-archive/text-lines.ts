import type { SourceText } from '../../domain/build.ts';
import type { ArchivedSource } from '../../ports/build-archive.ts';

/** The most lines one window holds. */
const MAX_WINDOW = 2000;

/** The text as every archive keeps it: without NUL characters and lone surrogates, which databases refuse or alter. */
export function archivable(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text).toWellFormed();
}

/** `text` is archivable already. A lone `\r` never ends a line; an empty text has one empty line. */
export function describeSource(source: SourceText, text: string): ArchivedSource {
  return { name: source.name, kind: source.kind, lines: countLines(text), bytes: Buffer.byteLength(text), notes: [...source.notes] };
}

/** The window that is read for lines `from`..`to`; `last` is before `first` where nothing is asked. Not clipped at the end. */
export function windowOf(from: number, to: number): { readonly first: number; readonly last: number } {
  const first = Math.max(1, Math.trunc(from));
  return { first, last: Math.min(Math.trunc(to), first + MAX_WINDOW - 1) };
}

/** A lone `\r` never ends a line; an empty text has one empty line. */
export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
