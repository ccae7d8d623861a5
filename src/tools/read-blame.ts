import { z } from 'zod';
import { isRetryable } from '../domain/errors.ts';
import type { Finding } from '../domain/evidence.ts';
import type { BlameLine, CodeHost, CommitInfo } from '../ports/code-host.ts';
import { commitData, commitTitle, defineCodeTool, locateFile, type ResolvedCommit, resolveCommit, withNote } from './repository.ts';
import type { Tool } from './tool.ts';

const AROUND = 3;
const MAX_LINES = 40;

const Parameters = z.strictObject({
  path: z.string().trim().min(1).max(1_024).describe('Path in the repository, or as the log prints it'),
  line: z.int().min(1).optional().describe('The line of interest, 1-based; three lines on either side come too'),
  lineStart: z.int().min(1).optional().describe('First line, where a range is meant'),
  lineEnd: z.int().min(1).optional().describe('Last line of the range; at most 40 lines'),
});

/** Who changed these lines last, or took some of them away, when, and in which commit? */
export function readBlame(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'read_blame',
    question: 'Who changed these lines last, when, in which commit and in which pull request?',
    categories: ['CODE_ERROR'],
    costClass: 'medium',
    usualLatencyMs: 600,
    parameters: Parameters.refine((args) => args.line !== undefined || args.lineStart !== undefined, {
      error: 'line or lineStart must be given',
    }),
    keptBy: 'arguments',
    async run({ path, line, lineStart, lineEnd }, { subject, signal }) {
      const { repository } = subject.build;
      const commit = await resolveCommit(codeHost, subject, signal);
      const located = await locateFile(codeHost, { repository, ref: commit.ref, path }, signal);
      if ('findings' in located) return located.findings;
      const first = lineStart ?? Math.max(1, (line ?? 1) - AROUND);
      const last = Math.max(first, Math.min(lineEnd ?? (line ?? first) + AROUND, first + MAX_LINES - 1));
      const range = { repository, ref: commit.ref, path: located.path, lineStart: first, lineEnd: last };
      const runs = runsOf(await codeHost.blame(range, signal));
      if (runs.length === 0) return [];
      const removed = await removalIn(codeHost, range, runs, signal);
      const newest = removed?.commit ?? runs[0]?.[0]?.commit;
      const pullRequest = newest === undefined ? null : await pullRequestOf(codeHost, { repository, commit: newest }, signal);
      const found = runs.map((run) => findingOf(located.path, run, commit, run[0]?.commit === newest ? pullRequest : null));
      return removed === null ? found : [removalFinding(range, { ...removed, pullRequest }, commit), ...found];
    },
  });
}

/** Neighbouring lines that one commit changed, the newest change first: it is the likeliest suspect. */
function runsOf(lines: readonly BlameLine[]): BlameLine[][] {
  const runs: BlameLine[][] = [];
  for (const line of lines) {
    const run = runs.at(-1);
    const previous = run?.at(-1);
    if (run !== undefined && previous?.commit === line.commit && previous.line + 1 === line.line) run.push(line);
    else runs.push([line]);
  }
  return runs.sort((left, right) => Date.parse(right[0]?.at ?? '') - Date.parse(left[0]?.at ?? ''));
}

/** The newest commit that touched the lines, where none of them is its own: it took some away, which no blame tells. */
async function removalIn(
  codeHost: CodeHost,
  range: Parameters<CodeHost['blame']>[0],
  runs: readonly BlameLine[][],
  signal: AbortSignal,
): Promise<CommitInfo | null> {
  const [newest] = await codeHost.lineHistory({ ...range, limit: 1 }, signal);
  return newest === undefined || runs.some(([line]) => line?.commit === newest.commit) ? null : newest;
}

function removalFinding(range: { path: string; lineStart: number; lineEnd: number }, by: CommitInfo, commit: ResolvedCommit): Finding {
  const { path, lineStart, lineEnd } = range;
  return {
    title: withNote(`${commitTitle(by)} (removed lines here)`, commit),
    text: `removed lines between ${lineStart} and ${lineEnd} of ${path}`,
    source: path,
    lineStart,
    lineEnd,
    data: { path, line: lineStart, ...commitData(by) },
  };
}

/** The pull request of the newest change, where the host knows it; blame is worth having without. Throws only where the run ended. */
async function pullRequestOf(
  codeHost: CodeHost,
  query: { repository: string; commit: string },
  signal: AbortSignal,
): Promise<number | null> {
  try {
    return (await codeHost.commitDiff(query, signal))?.commit.pullRequest ?? null;
  } catch (error) {
    if (signal.aborted || isRetryable(error)) throw error;
    return null;
  }
}

function findingOf(path: string, run: readonly BlameLine[], commit: ResolvedCommit, pullRequest: number | null): Finding {
  const [first] = run;
  const last = run.at(-1);
  return {
    title: withNote(first === undefined ? '' : commitTitle({ ...first, pullRequest }), commit),
    text: run.map((line) => line.text).join('\n'),
    source: path,
    ...(first === undefined || last === undefined ? {} : { lineStart: first.line, lineEnd: last.line }),
    data: { path, line: first?.line, ...(first === undefined ? {} : commitData({ ...first, pullRequest })) },
  };
}
