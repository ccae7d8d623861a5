import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { findDiff, MAX_DIFF_BYTES } from '../../experiments/fix-diff.ts';
import type { Proposal } from '../../experiments/try-fix.ts';

/** Reads the diff in a file or, with `-`, in standard input. Throws `invalid-input` if there is none. */
export async function readProposal(path: string): Promise<Proposal> {
  const content = await (path === '-' ? text(process.stdin) : readFile(path, 'utf8')).catch(
    (cause: unknown) => {
      throw new TriageError('invalid-input', `${path} cannot be read: ${getErrorMessage(cause)}`, { cause });
    },
  );
  return parseProposal(path === '-' ? 'standard input' : path, content);
}

/**
 * Extracts the diff from a text. Throws `invalid-input` if there is none, and `too-large` for a text of more
 * than a mebibyte.
 */
export function parseProposal(source: string, content: string): Proposal {
  if (content.length > MAX_DIFF_BYTES)
    throw new TriageError('too-large', `${source} is longer than a diff may be, one mebibyte.`);
  const diff = findDiff(content);
  if (diff === null)
    throw new TriageError(
      'invalid-input',
      `${source} has no diff: it needs lines that start with --- and +++.`,
    );
  return { source, diff };
}
