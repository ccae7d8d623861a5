import type { Finding } from '../domain/evidence.ts';
import type { ChangedFile, CommitInfo } from '../ports/code-host.ts';

const MAX_FILES = 50;
/** Ranges of changed lines kept as data; a file with more was rewritten. */
const MAX_RANGES = 40;

/** "a1b2c3d4e5 Ada, 2026-01-05, #12: Raise the tax": who changed what, when and in which pull request. */
export function commitTitle({ commit, author, at, subject, pullRequest }: Omit<CommitInfo, 'files'>): string {
  const request = pullRequest == null || subject.includes(`#${pullRequest}`) ? '' : `, #${pullRequest}`;
  return `${commit.slice(0, 10)} ${author}, ${at.slice(0, 10)}${request}: ${subject}`;
}

/** What the suspect ranking reads of a commit. */
export function commitData({ commit, author, at, subject, pullRequest }: Omit<CommitInfo, 'files'>): Record<string, unknown> {
  return { commit, author, at, subject, pullRequest: pullRequest ?? null };
}

/** A commit with the files it touched. */
export function commitFinding(info: CommitInfo, title: string, data: Record<string, unknown> = {}): Finding {
  const files = info.files.slice(0, MAX_FILES);
  const more = info.files.length - files.length;
  return {
    title,
    text: [info.subject, ...files, ...(more > 0 ? [`… ${more} more files`] : [])].join('\n'),
    source: `commit/${info.commit}`,
    data: { ...data, ...commitData(info), files },
  };
}

/** A changed file with its patch, as lines of the new state where the patch gives them. */
export function changeFinding(file: ChangedFile, title: string, data: Record<string, unknown>): Finding {
  const moved = file.previousPath === null ? '' : `, was ${file.previousPath}`;
  const { path, previousPath, status, additions, deletions, patch } = file;
  return {
    title: `${path} (${status}${moved}, +${additions} −${deletions}) in ${title}`,
    text: patch ?? `${status}: +${additions} −${deletions} lines, no patch`,
    source: path,
    data: { ...data, path, previousPath, status, additions, deletions, lines: changedRanges(patch ?? '') },
  };
}

/** First and last line of each stretch that a unified diff adds or touches, 1-based in the new file. */
export function changedRanges(patch: string): (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  let line = 0;
  for (const text of patch.split('\n')) {
    const start = /^@@ -\d{1,9}(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@/.exec(text)?.[1];
    if (start !== undefined) line = Number(start);
    else if (text.startsWith('+') || text.startsWith('-')) {
      const at = Math.max(1, line);
      const last = ranges.at(-1);
      if (last !== undefined && at <= last[1] + 1) ranges[ranges.length - 1] = [last[0], Math.max(last[1], at)];
      else ranges.push([at, at]);
      if (text.startsWith('+')) line += 1;
    } else if (!text.startsWith('\\')) line += 1;
  }
  return ranges.slice(0, MAX_RANGES);
}
