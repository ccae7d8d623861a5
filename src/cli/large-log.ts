import { accessSync, constants, statSync } from 'node:fs';
import { basename } from 'node:path';
import { maskFile } from '../log/mask/file.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { LogInPieces } from '../log/read-sources.ts';
import { visibleLine } from '../publish/visible-text.ts';

/** A masked log that stays in its file. Its bytes must not be asked for after `close`. */
export interface LargeLog {
  readonly source: LogInPieces;
  /** Places where a secret was hidden. */
  readonly secrets: number;
  close(): void;
}

/** A log of more than this is read from its file, piece by piece. */
const LARGE = 32 * 1024 * 1024;

/**
 * Opens a large log without holding it. Null for all else: what is small, no file, or no plain text (see {@link maskFile}), and what cannot
 * be read, of which the next one who reads it says why in a sentence.
 */
export async function openLargeLog(path: string, masker: Masker): Promise<LargeLog | null> {
  const file = isLargeFile(path) ? await maskFile(path, masker) : null;
  if (file === null) return null;
  const { secrets, close, ...log } = file;
  const source: LogInPieces = { ...log, name: visibleLine(basename(path)), kind: 'log' };
  return { source, secrets, close };
}

function isLargeFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    const info = statSync(path);
    return info.isFile() && info.size > LARGE;
  } catch {
    return false;
  }
}
