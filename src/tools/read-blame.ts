import { z } from 'zod';
import { isRetryable } from '../domain/errors.ts';
import type { Finding } from '../domain/evidence.ts';
import { formatChange, type LineChange, readChanges } from '../lib/patch-changes.ts';
import type { BlameLine, CodeHost, CommitInfo } from '../ports/code-host.ts';
import { type BuiltCode, builtCode, commitData, commitTitle, defineCodeTool } from './repository.ts';
import type { Tool } from './tool.ts';

const AROUND = 3;
const MAX_LINES = 40;

const Parameters = z.strictObject({
  path: z.string().trim().min(1).max(1_024).describe('Path in the repository, or as the log prints it'),
  line: z
    .int()
    .min(1)
    .optional()
    .describe('The line of interest, 1-based; three lines on either side come too'),
  lineStart: z.int().min(1).optional().describe('First line, where a range is meant'),
  lineEnd: z.int().min(1).optional().describe('Last line of the range; at most 40 lines'),
});

/** Creates the tool that shows who last changed or deleted these lines, when, and in which commit. */
export function readBlame(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'read_blame',
    question: 'Who changed these lines last, when, in which commit and in which pull request?',
    serves: { CODE_ERROR: 2 },
    investigator: 'code',
    asks: 'code host',
    precedence: 7,
    costClass: 'medium',
    usualLatencyMs: 600,
    parameters: Parameters.refine((args) => args.line !== undefined || args.lineStart !== undefined, {
      error: 'line or lineStart must be given',
    }),
    keptBy: 'arguments',
    argumentsFrom: ({ located }) =>
      located === null
        ? null
        : { path: located.path, lineStart: Math.max(1, located.line - 3), lineEnd: located.line + 3 },
    async run({ path, line, lineStart, lineEnd }, context) {
      const code = await builtCode(codeHost, context);
      const located = await code.locate(path);
      if ('findings' in located) return located.findings;
      const first = lineStart ?? Math.max(1, (line ?? 1) - AROUND);
      const last = Math.max(first, Math.min(lineEnd ?? (line ?? first) + AROUND, first + MAX_LINES - 1));
      const range = { path: located.path, lineStart: first, lineEnd: last };
      const runs = groupRuns(await codeHost.blame({ ...code.at, ...range }, code.signal));
      if (runs.length === 0) return [];
      const recent = await readRecent(code, range);
      const removed = findRemoval(recent, runs);
      const requests = new Map(recent.map(({ by, diff }) => [by.commit, diff?.commit.pullRequest]));
      const findRequest = (run: readonly BlameLine[]) => requests.get(run[0]?.commit ?? '') ?? null;
      const found = runs.map((run) => toFinding(located.path, run, code, findRequest(run)));
      return removed === null ? found : [removalFinding(range, removed, code), ...found];
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
    if (run !== undefined && previous?.commit === line.commit && previous.line + 1 === line.line)
      run.push(line);
    else runs.push([line]);
  }
  return runs.sort((left, right) => Date.parse(right[0]?.at ?? '') - Date.parse(left[0]?.at ?? ''));
}

/** Commits of the range whose own patches are read. */
const MAX_RECENT = 3;

/** A commit that touched the range, with its changes of the file. */
interface Recent {
  readonly by: CommitInfo;
  /** Null if the host could not show the commit. */
  readonly diff: Awaited<ReturnType<CodeHost['commitDiff']>>;
  readonly changes: readonly LineChange[];
}

/**
 * Reads the newest commits that touched the range. Blame is useful without their patches, so a patch that
 * cannot be read is left out; throws only if the run ended or the error is retryable.
 */
async function readRecent({ host, at, signal }: BuiltCode, range: Range): Promise<Recent[]> {
  const commits = await host.lineHistory({ ...at, ...range, limit: MAX_RECENT }, signal);
  return await Promise.all(
    commits.map(async (by) => {
      const diff = await readDiff(host, { repository: at.repository, commit: by.commit }, signal);
      const file = diff?.files.find(({ path }) => path === range.path);
      return { by, diff, changes: readChanges(file?.patch ?? '') };
    }),
  );
}

async function readDiff(host: CodeHost, query: Parameters<CodeHost['commitDiff']>[0], signal: AbortSignal) {
  try {
    return await host.commitDiff(query, signal);
  } catch (error) {
    if (signal.aborted || isRetryable(error)) throw error;
    return null;
  }
}

interface Removal extends Pick<Recent, 'by' | 'diff'> {
  readonly changes: readonly LineChange[];
}

/**
 * Returns the newest commit that deleted lines of the range, which blame does not show. That is a commit to
 * which no line is attributed if it is the newest of all, or one whose patch takes more lines away than it
 * adds next to lines that are still in the range.
 */
function findRemoval(recent: readonly Recent[], runs: readonly BlameLine[][]): Removal | null {
  const lines = new Set(
    runs
      .flat()
      .map(({ text }) => text.trim())
      .filter((text) => /\w{2}/.test(text)),
  );
  const attributed = new Set(runs.map(([line]) => line?.commit));
  for (const [rank, { by, diff, changes }] of recent.entries()) {
    const removing = changes.filter(({ removed, added, before, after }) => {
      const around = [before.slice(-1), added, after.slice(0, 1)].flat();
      const isHere = around.some((line) => lines.has(line.trim()));
      return isHere && removed.filter(isWritten).length > added.filter(isWritten).length;
    });
    const isUnseen = rank === 0 && !attributed.has(by.commit);
    if (removing.length > 0 || isUnseen) return { by, diff, changes: removing };
  }
  return null;
}

function isWritten(line: string): boolean {
  return line.trim() !== '';
}

function removalFinding(range: Range, { by, diff, changes }: Removal, { titled }: BuiltCode): Finding {
  const { path, lineStart, lineEnd } = range;
  const said = `removed lines between ${lineStart} and ${lineEnd} of ${path}`;
  const commit = { ...by, pullRequest: diff?.commit.pullRequest ?? by.pullRequest ?? null };
  return {
    title: titled(`${commitTitle(commit)} (removed lines here)`),
    text: [said, ...changes.map(formatChange)].join('\n'),
    source: path,
    lineStart,
    lineEnd,
    data: { path, line: lineStart, removes: true, ...commitData(commit) },
  };
}

function toFinding(
  path: string,
  run: readonly BlameLine[],
  { titled }: BuiltCode,
  pullRequest: number | null,
): Finding {
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
