import type { BlameLine, CodeLine, CommitInfo, FileHits } from '../../ports/code-host.ts';
import { pullRequestOf } from './pull-request-number.ts';

const MAX_LINE = 1_000;

/** Reads `git grep -n -z` of one commit: `commit:path NUL line NUL text LF`. A cut last record is left out. */
export function parseGrep(output: string, commit: string, limit: number): CodeLine[] {
  const found: CodeLine[] = [];
  for (const record of output.split('\n').slice(0, -1)) {
    const [where, line, ...text] = record.split('\0');
    if (where === undefined || line === undefined || !where.startsWith(`${commit}:`)) continue;
    found.push({ path: where.slice(commit.length + 1), line: Number(line), text: text.join('\0').slice(0, MAX_LINE) });
    if (found.length === limit) break;
  }
  return found;
}

/** Reads `git grep -o -i -z` of one commit, `commit:path NUL match LF` for each occurrence, and counts by file. */
export function countMatches(output: string, commit: string, words: readonly string[]): FileHits[] {
  const wanted = words.map((word) => word.toLowerCase());
  const files = new Map<string, { occurrences: number; seen: Set<string> }>();
  for (let start = 0, end = output.indexOf('\n'); end !== -1; start = end + 1, end = output.indexOf('\n', start)) {
    const separator = output.indexOf('\0', start);
    if (separator === -1 || separator > end) continue;
    const path = output.slice(start + commit.length + 1, separator);
    const match = output.slice(separator + 1, end).toLowerCase();
    const file = files.get(path) ?? { occurrences: 0, seen: new Set() };
    files.set(path, file);
    // A longer word may hold a shorter one: git prints the longer, and both occur.
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

/** Reads `git blame --porcelain`: a commit's facts come once, with its first line. */
export function parseBlame(output: string): BlameLine[] {
  const commits = new Map<string, BlamedCommit>();
  const lines: BlameLine[] = [];
  let commit = '';
  let line = 0;
  for (const record of output.split('\n')) {
    const header = record.match(/^([0-9a-f]{40,64}) \d+ (\d+)/);
    const facts = commits.get(commit);
    if (record.startsWith('\t')) {
      lines.push({ line, commit, ...(facts ?? { author: '', at: '', subject: '' }), text: record.slice(1, 1 + MAX_LINE) });
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

/** Reads `git log -z --format=%H%x00%an%x00%aI%x00%s`: four fields a commit, and no commit's text can hold a NUL. */
export function parseLog(output: string): Omit<CommitInfo, 'files'>[] {
  const fields = output.split('\0');
  const commits: Omit<CommitInfo, 'files'>[] = [];
  for (let index = 0; index + 3 < fields.length; index += 4) {
    const [commit = '', author = '', at = '', subject = ''] = fields.slice(index, index + 4);
    commits.push({ commit: commit.trim(), author, at, subject, pullRequest: pullRequestOf(subject) });
  }
  return commits;
}

/**
 * Reads `git log -z --name-only --format=%H` for commits that are known: only the id that must come next starts a new one,
 * so no file name can pass for a commit.
 */
export function parseFiles(output: string, commits: readonly string[]): ReadonlyMap<string, readonly string[]> {
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
