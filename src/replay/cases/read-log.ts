import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { decodeSources } from '../../log/decode/archive.ts';
import { tooLarge } from '../../log/decode/decompress.ts';

/** The texts of a log's file, plain, compressed or an archive. Throws TriageError; a file above the limit is not even read. */
export async function readLog(path: string, maxBytes: number): Promise<SourceText[]> {
  const name = basename(path).replace(/\.(?:gz|zst)$/, '');
  const file = await stat(path).catch((cause: unknown) => {
    throw new TriageError('not-found', `${path} is missing or cannot be read.`, { cause });
  });
  // A device or a pipe may have no end.
  if (!file.isFile()) throw new TriageError('invalid-input', `${path} is not a file.`);
  if (file.size > maxBytes) throw tooLarge(name, maxBytes);
  return await decodeSources(name, await readFile(path), 'log', { maxBytes });
}
