import type { BlameLine, CodeLine, CommitInfo } from '../../ports/code-host.ts';

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
    commits.push({ commit: commit.trim(), author, at, subject });
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
