import { TriageError } from '../../domain/errors.ts';
import type { GitAnswer } from '../../git/command.ts';
import type { BlameLine, ChangedFile, CodeLine, CommitInfo, FileHits } from '../../ports/code-host.ts';
import { MAX_PATCH, parsePullRequest } from '../code-questions.ts';

/** The lowest exit code of a fatal error. Lower codes are answers: 1 is "nothing found". */
const GAVE_UP = 128;

/** Throws if git failed for another reason than that something does not exist. */
export function assertAnswered(answer: GitAnswer, what: string): void {
  if (answer.exitCode >= GAVE_UP)
    throw new TriageError('upstream-failed', `git could not ${what} (exit code ${answer.exitCode}).`);
}

const MAX_LINE = 1_000;

/**
 * Parses `git grep -n -z` of one commit: `commit:path NUL line NUL text LF`. A truncated last record is left
 * out.
 */
export function parseGrep(output: string, commit: string, limit: number): CodeLine[] {
  const found: CodeLine[] = [];
  for (const record of output.split('\n').slice(0, -1)) {
    const [where, line, ...text] = record.split('\0');
    if (where === undefined || line === undefined || !where.startsWith(`${commit}:`)) continue;
    found.push({
      path: where.slice(commit.length + 1),
      line: Number(line),
      text: text.join('\0').slice(0, MAX_LINE),
    });
    if (found.length === limit) break;
  }
  return found;
}

/**
 * Parses `git grep -o -i -z` of one commit, `commit:path NUL match LF` for each occurrence, and counts by
 * file.
 */
export function countMatches(output: string, commit: string, words: readonly string[]): FileHits[] {
  const wanted = words.map((word) => word.toLowerCase());
  const files = new Map<string, { occurrences: number; seen: Set<string> }>();
  for (
    let start = 0, end = output.indexOf('\n');
    end !== -1;
    start = end + 1, end = output.indexOf('\n', start)
  ) {
    const separator = output.indexOf('\0', start);
    if (separator === -1 || separator > end) continue;
    const path = output.slice(start + commit.length + 1, separator);
    const match = output.slice(separator + 1, end).toLowerCase();
    const file = files.get(path) ?? { occurrences: 0, seen: new Set() };
    files.set(path, file);
    // A longer word may contain a shorter one. git prints only the longer one, but both occur.
    for (const word of wanted) {
      if (!match.includes(word)) continue;
      file.occurrences += 1;
      file.seen.add(word);
    }
  }
  return [...files].map(([path, { occurrences, seen }]) => ({ path, occurrences, words: seen.size }));
}

interface BlamedCommit {
  author: string;
  at: string;
  subject: string;
}

/** Parses `git blame --porcelain`. The facts about a commit are printed once, with its first line. */
export function parseBlame(output: string): BlameLine[] {
  const commits = new Map<string, BlamedCommit>();
  const lines: BlameLine[] = [];
  let commit = '';
  let line = 0;
  for (const record of output.split('\n')) {
    const header = record.match(/^([0-9a-f]{40,64}) \d+ (\d+)/);
    const facts = commits.get(commit);
    if (record.startsWith('\t')) {
      lines.push({
        line,
        commit,
        ...(facts ?? { author: '', at: '', subject: '' }),
        text: record.slice(1, 1 + MAX_LINE),
      });
    } else if (header !== null) {
      commit = header[1] ?? '';
      line = Number(header[2]);
      if (!commits.has(commit)) commits.set(commit, { author: '', at: '', subject: '' });
    } else if (facts !== undefined) {
      readFact(facts, record);
    }
  }
  return lines;
}

function readFact(facts: BlamedCommit, record: string): void {
  const space = record.indexOf(' ');
  const name = record.slice(0, space);
  const value = record.slice(space + 1);
  if (name === 'author') facts.author = value;
  if (name === 'author-time') facts.at = new Date(Number(value) * 1000).toISOString();
  if (name === 'summary') facts.subject = value;
}

/**
 * Parses `git log -z --format=%H%x00%an%x00%aI%x00%s`: four fields for each commit. No text of a commit can
 * contain a NUL.
 */
export function parseLog(output: string): Omit<CommitInfo, 'files'>[] {
  const fields = output.split('\0');
  const commits: Omit<CommitInfo, 'files'>[] = [];
  for (let index = 0; index + 3 < fields.length; index += 4) {
    const [commit = '', author = '', at = '', subject = ''] = fields.slice(index, index + 4);
    commits.push({ commit: commit.trim(), author, at, subject, pullRequest: parsePullRequest(subject) });
  }
  return commits;
}

/**
 * Parses `git log -z --name-only --format=%H` for known commits. Only the id that must come next begins a new
 * commit, so that no file name is mistaken for one.
 */
export function parseFiles(
  output: string,
  commits: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, string[]>(commits.map((commit) => [commit, []]));
  let next = 0;
  let current: string[] = [];
  for (const token of output.split('\0')) {
    const text = token.replace(/^\n/, '');
    const expected = commits[next];
    if (expected !== undefined && text === expected) {
      current = files.get(expected) ?? [];
      next += 1;
    } else if (text !== '') {
      current.push(text);
    }
  }
  return files;
}

/** A file's change without its patch, and the number of `diff --git` sections that git prints for it. */
export interface Change extends Omit<ChangedFile, 'patch'> {
  readonly sections: 1 | 2;
}

const STATUS: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added',
  C: 'added',
  D: 'removed',
  R: 'renamed',
};

/**
 * Parses `--raw --numstat -z`: first `:modes ids status NUL path NUL [new path NUL]` of every file, then
 * `added TAB deleted TAB path NUL` (or `TAB NUL old NUL new NUL` for a renamed one) of every file in the same
 * order.
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
    numbers.push({ additions: countLines(counted[1]), deletions: countLines(counted[2]) });
    if (token.length === counted[0].length) index += 2;
  }
  return changes.map((change, index) => ({ ...change, ...numbers[index] }));
}

/**
 * Splits the output into the patches of the changes, in their order. A section begins with `diff --git`; no
 * line of a patch does, because each begins with a mark. A patch is null for binary files, pure renames, and
 * beyond the output limit.
 */
export function parsePatches(answer: GitAnswer, changes: readonly Change[]): (string | null)[] {
  const sections = `\n${answer.output}`.split('\ndiff --git ').slice(1);
  // The last section of a truncated output may be incomplete.
  if (answer.cut) sections.pop();
  let next = 0;
  return changes.map(({ sections: count }) => {
    const patches = sections.slice(next, next + count);
    next += count;
    const hunks = patches.map(extractHunks).filter((text) => text !== '');
    return hunks.length === 0 ? null : hunks.join('\n').slice(0, MAX_PATCH);
  });
}

function extractHunks(section: string): string {
  const start = section.indexOf('\n@@ ');
  return start === -1 ? '' : section.slice(start + 1).replace(/\n$/, '');
}

function countLines(count: string | undefined): number {
  return count === undefined || count === '-' ? 0 : Number(count);
}
