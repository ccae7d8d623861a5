import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import { append } from '../../lib/lists.ts';
import { decodeSources } from '../../log/decode/archive.ts';
import { stripEscapes } from '../../log/lines/clean.ts';

/** One log of a corpus: its name, and its text as it is stored. */
export interface CorpusLog {
  readonly name: string;
  readonly text: string;
}

const MAX_LOG = 2 ** 29;

/** Reads given logs, plain, compressed or in archives. Throws TriageError with the name of what is no log. */
export async function readCorpus(paths: readonly string[]): Promise<CorpusLog[]> {
  const logs: CorpusLog[] = [];
  for (const path of paths) {
    const sources = await decodeSources(path, readFileSync(path), 'log', { maxBytes: MAX_LOG });
    append(
      logs,
      sources.map(({ text }) => ({ name: basename(path), text })),
    );
  }
  return logs;
}

/**
 * Writes the logs one after another, again and again, until the file holds `bytes`. Terminal escapes are taken out: other programs do
 * not see words through them, and the hits of all must be comparable. Returns the bytes written.
 */
export function writeCorpus(path: string, logs: readonly CorpusLog[], bytes: number): number {
  const file = openSync(path, 'w');
  let written = 0;
  try {
    while (written < bytes) {
      for (const { text } of logs) written += writeSync(file, `${stripEscapes(text).replaceAll('\u001b', '')}\n`);
    }
  } finally {
    closeSync(file);
  }
  return written;
}
