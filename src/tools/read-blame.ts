import { z } from 'zod';
import { isRetryable } from '../domain/errors.ts';
import type { Finding } from '../domain/evidence.ts';
import type { BlameLine, CodeHost, CommitInfo } from '../ports/code-host.ts';
import { type BuiltCode, builtCode, commitData, commitTitle, defineCodeTool } from './repository.ts';
import type { Tool } from './tool.ts';

const AROUND = 3;
const MAX_LINES = 40;

const Parameters = z.strictObject({
  path: z.string().trim().min(1).max(1_024).describe('Path in the repository, or as the log prints it'),
  line: z.int().min(1).optional().describe('The line of interest, 1-based; three lines on either side come too'),
  lineStart: z.int().min(1).optional().describe('First line, where a range is meant'),
  lineEnd: z.int().min(1).optional().describe('Last line of the range; at most 40 lines'),
});

/** Creates the tool that shows who last changed or deleted these lines, when, and in which commit. */
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
    async run({ path, line, lineStart, lineEnd }, context) {
      const code = await builtCode(codeHost, context);
      const located = await code.locate(path);
      if ('findings' in located) return located.findings;
      const first = lineStart ?? Math.max(1, (line ?? 1) - AROUND);
      const last = Math.max(first, Math.min(lineEnd ?? (line ?? first) + AROUND, first + MAX_LINES - 1));
      const range = { path: located.path, lineStart: first, lineEnd: last };
      const runs = groupRuns(await codeHost.blame({ ...code.at, ...range }, code.signal));
      if (runs.length === 0) return [];
      const removed = await removalIn(code, range, runs);
      const newest = removed?.commit ?? runs[0]?.[0]?.commit;
      const pullRequest = newest === undefined ? null : await findPullRequest(code, newest);
      const found = runs.map((run) => toFinding(located.path, run, code, run[0]?.commit === newest ? pullRequest : null));
      return removed === null ? found : [removalFinding(range, { ...removed, pullRequest }, code), ...found];
    },
  });
}

interface Range {
  readonly path: string;
  readonly lineStart: number;
  readonly lineEnd: number;
}

/**
 * Groups neighboring lines by their last commit, the newest change first because it is the most likely
 * suspect.
 */
function groupRuns(lines: readonly BlameLine[]): BlameLine[][] {
  const runs: BlameLine[][] = [];
  for (const line of lines) {
    const run = runs.at(-1);
    const previous = run?.at(-1);
    if (run !== undefined && previous?.commit === line.commit && previous.line + 1 === line.line) run.push(line);
    else runs.push([line]);
  }
  return runs.sort((left, right) => Date.parse(right[0]?.at ?? '') - Date.parse(left[0]?.at ?? ''));
}

/**
 * Returns the newest commit that touched the range, if no line is attributed to it. That commit deleted
 * lines, which blame does not show.
 */
async function removalIn({ host, at, signal }: BuiltCode, range: Range, runs: readonly BlameLine[][]): Promise<CommitInfo | null> {
  const [newest] = await host.lineHistory({ ...at, ...range, limit: 1 }, signal);
  return newest === undefined || runs.some(([line]) => line?.commit === newest.commit) ? null : newest;
}

function removalFinding({ path, lineStart, lineEnd }: Range, by: CommitInfo, { titled }: BuiltCode): Finding {
  return {
    title: titled(`${commitTitle(by)} (removed lines here)`),
    text: `removed lines between ${lineStart} and ${lineEnd} of ${path}`,
    source: path,
    lineStart,
    lineEnd,
    data: { path, line: lineStart, ...commitData(by) },
  };
}

/**
 * Returns the pull request of the newest change, if the host knows it. Returns null on errors, because blame
 * is useful without it; throws only if the run ended or the error is retryable.
 */
async function findPullRequest({ host, at: { repository }, signal }: BuiltCode, commit: string): Promise<number | null> {
  try {
    return (await host.commitDiff({ repository, commit }, signal))?.commit.pullRequest ?? null;
  } catch (error) {
    if (signal.aborted || isRetryable(error)) throw error;
    return null;
  }
}

function toFinding(path: string, run: readonly BlameLine[], { titled }: BuiltCode, pullRequest: number | null): Finding {
  const [first] = run;
  const last = run.at(-1);
  return {
    title: titled(first === undefined ? '' : commitTitle({ ...first, pullRequest })),
    text: run.map((line) => line.text).join('\n'),
    source: path,
    ...(first === undefined || last === undefined ? {} : { lineStart: first.line, lineEnd: last.line }),
    data: { path, line: first?.line, ...(first === undefined ? {} : commitData({ ...first, pullRequest })) },
  };
}
