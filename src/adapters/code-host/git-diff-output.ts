import type { ChangedFile } from '../../ports/code-host.ts';
import type { GitAnswer } from './git-command.ts';
import { MAX_PATCH } from './limits.ts';

/** A file's change without its patch, and how many `diff --git` sections git prints for it. */
export interface Change extends Omit<ChangedFile, 'patch'> {
  readonly sections: 1 | 2;
}

const STATUS: Readonly<Record<string, ChangedFile['status']>> = { A: 'added', C: 'added', D: 'removed', R: 'renamed' };

/**
 * Reads `--raw --numstat -z`: first `:modes ids status NUL path NUL [new path NUL]` of every file, then
 * `added TAB deleted TAB path NUL` (or `TAB NUL old NUL new NUL` for a renamed one) of every file in the same order.
 */
export function parseChanges(output: string): Change[] {
  const tokens = output.split('\0');
  const changes: Change[] = [];
  const numbers: { additions: number; deletions: number }[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = (tokens[index] ?? '').replace(/^\n/, '');
    const raw = /^:\d{6} \d{6} [0-9a-f]{4,64} [0-9a-f]{4,64} ([A-Z])\d{0,3}$/.exec(token);
    if (raw !== null && numbers.length === 0) {
      const letter = raw[1] ?? 'M';
      const first = tokens[index + 1] ?? '';
      const moved = letter === 'R' || letter === 'C';
      const path = moved ? (tokens[index + 2] ?? '') : first;
      index += moved ? 2 : 1;
      const status = STATUS[letter] ?? 'modified';
      changes.push({
        path,
        previousPath: letter === 'R' ? first : null,
        status,
        additions: 0,
        deletions: 0,
        sections: letter === 'T' ? 2 : 1,
      });
      continue;
    }
    const counted = /^(\d{1,12}|-)\t(\d{1,12}|-)\t/.exec(token);
    if (counted === null) continue;
    numbers.push({ additions: lines(counted[1]), deletions: lines(counted[2]) });
    if (token.length === counted[0].length) index += 2;
  }
  return changes.map((change, index) => ({ ...change, ...numbers[index] }));
}

/**
 * The patches of the changes, in their order: sections start with `diff --git`, and no line of a patch's body can, as each
 * begins with a mark of its own. Null for binary files and pure renames, and for what lies beyond the output's limit.
 */
export function parsePatches(answer: GitAnswer, changes: readonly Change[]): (string | null)[] {
  const sections = `\n${answer.output}`.split('\ndiff --git ').slice(1);
  // The last section of an output that was cut may be half a patch.
  if (answer.cut) sections.pop();
  let next = 0;
  return changes.map(({ sections: count }) => {
    const own = sections.slice(next, next + count);
    next += count;
    const hunks = own.map(hunksOf).filter((text) => text !== '');
    return hunks.length === 0 ? null : hunks.join('\n').slice(0, MAX_PATCH);
  });
}

function hunksOf(section: string): string {
  const start = section.indexOf('\n@@ ');
  return start === -1 ? '' : section.slice(start + 1).replace(/\n$/, '');
}

function lines(count: string | undefined): number {
  return count === undefined || count === '-' ? 0 : Number(count);
}
