import type { CodeLine, FileHits } from '../../ports/code-host.ts';
import { assertAnswered } from './git-command.ts';
import { countMatches, parseGrep } from './git-output.ts';
import type { Ask, Place } from './git-place.ts';
import { mostTelling } from './most-telling.ts';

const OPTIONS = ['-z', '-F', '-I', '--no-color', '--full-name', '--no-textconv', '--no-recurse-submodules'];

/** Lines that hold a text, as it is written. */
export async function grepLines(ask: Ask, place: Place, text: string, limit: number, signal: AbortSignal): Promise<CodeLine[]> {
  const answer = await ask(place, ['grep', '-n', ...OPTIONS, '-e', text, place.commit, '--'], signal);
  assertAnswered(answer, 'search the repository');
  return parseGrep(answer.output, place.commit, limit);
}

/** Files by how many of the words they hold. `-o` prints every occurrence, where `-c` would count lines and not tell the words apart. */
export async function grepFiles(
  ask: Ask,
  place: Place,
  { words, limit }: { words: readonly string[]; limit: number },
  signal: AbortSignal,
): Promise<FileHits[]> {
  const patterns = words.flatMap((word) => ['-e', word]);
  const answer = await ask(place, ['grep', '-o', '-i', ...OPTIONS, ...patterns, place.commit, '--'], signal);
  assertAnswered(answer, 'search the repository');
  return mostTelling(countMatches(answer.output, place.commit, words), limit);
}
