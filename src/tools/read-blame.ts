import { z } from 'zod';
import { isRetryable } from '../domain/errors.ts';
import { containsTokens, readTokens } from '../lib/code-tokens.ts';
import {
  findChangedRange,
  formatChange,
  isOnlyFormatting,
  type LineChange,
  readAlterations,
  readChanges,
} from '../lib/patch-changes.ts';
import type { BlameLine, ChangedFile, CodeHost, CommitInfo } from '../ports/code-host.ts';
import {
  type BuiltCode,
  type ChangeFinding,
  commitData,
  commitTitle,
  defineCodeTool,
  findBuiltCode,
} from './repository.ts';
import type { Tool } from './tool.ts';

const AROUND = 3;
const MAX_LINES = 40;

const Parameters = z
  .strictObject({
    path: z.string().trim().min(1).max(1_024).describe('Path in the repository, or as the log prints it'),
    line: z
      .int()
      .min(1)
      .optional()
      .describe('The line of interest, 1-based; three lines on either side come too'),
    lineStart: z.int().min(1).optional().describe('First line, where a range is meant'),
    lineEnd: z.int().min(1).optional().describe('Last line of the range; at most 40 lines'),
  })
  .refine((args) => args.line !== undefined || args.lineStart !== undefined, {
    error: 'line or lineStart must be given',
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
    parameters: Parameters,
    keptBy: 'arguments',
    argumentsFrom: ({ located }) =>
      located === null
        ? null
        : { path: located.path, lineStart: Math.max(1, located.line - 3), lineEnd: located.line + 3 },
    async run({ path, line, lineStart, lineEnd }, context) {
      const code = await findBuiltCode(codeHost, context);
      const located = await code.locate(path);
      if ('findings' in located) return located.findings;
      const first = lineStart ?? Math.max(1, (line ?? 1) - AROUND);
      const last = Math.max(first, Math.min(lineEnd ?? (line ?? first) + AROUND, first + MAX_LINES - 1));
      const range = { path: located.path, lineStart: first, lineEnd: last };
      const blamed = await codeHost.blame({ ...code.at, ...range }, code.signal);
      if (blamed.length === 0) return [];
      const recent = await readRecent(code, range, blamed);
      const runs = groupRuns(await followFormatting(code, recent, blamed));
      const removed = findRemoval(recent, runs);
      const altering = recent.filter(
        ({ by, changes }) => by !== removed?.by && changes.some((change) => change.removed.some(isWritten)),
      );
      return [
        removed === null ? [] : toChangeFinding(range, removed, code, { removes: true }),
        runs.map((run) => toFinding(located.path, run, code, recent)),
        altering.map((other) =>
          toChangeFinding(range, other, code, { lines: other.changes.map(findChangedRange) }),
        ),
      ].flat();
    },
  });
}

interface Range {
  readonly path: string;
  readonly lineStart: number;
  readonly lineEnd: number;
}

/**
 * Groups neighboring lines by their last commit. The newest change comes first, because it is the most likely
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

/** The maximum number of commits of the range whose own patches are read. */
const MAX_RECENT = 6;

/** A commit that touched the range, with its changes of the file. */
interface Recent {
  readonly by: CommitInfo;
  /** The patch; null if the host could not show the commit. */
  readonly diff: Awaited<ReturnType<CodeHost['commitDiff']>>;
  readonly file: ChangedFile | null;
  /** Its changes at the lines of the range, with current line numbers, without formatting. */
  readonly changes: readonly LineChange[];
  /** True if it only formatted the code of the file. */
  readonly isFormatting: boolean;
}

/**
 * Reads the newest commits that touched the range. Blame is useful without their patches, so a patch that
 * cannot be read is left out; throws only if the run ended or the error is retryable.
 */
async function readRecent(
  { host, at, signal }: BuiltCode,
  range: Range,
  lines: readonly BlameLine[],
): Promise<Recent[]> {
  const commits = await host.lineHistory({ ...at, ...range, limit: MAX_RECENT }, signal);
  return await Promise.all(
    commits.map(async (by) => {
      const diff = await readDiff(host, { repository: at.repository, commit: by.commit }, signal);
      const file = diff?.files.find(({ path }) => path === range.path) ?? null;
      const changes = readAlterations(file?.patch ?? '', range.path).flatMap(
        (change) => findPlace(change, lines, range.path) ?? [],
      );
      const isFormatting = file !== null && isOnlyFormatting(file.patch ?? '', range.path, file);
      return { by, diff, file, changes, isFormatting };
    }),
  );
}

/**
 * Finds the current position of a change: at a line that it added, unchanged or reformatted, or else next to
 * its neighbors. Returns null if none of these lines exists.
 */
function findPlace(change: LineChange, lines: readonly BlameLine[], path: string): LineChange | null {
  const { added, before, after } = change;
  const isFrom = (written = '') => {
    const tokens = readTokens([written], path);
    return ({ text }: BlameLine) =>
      (/\w{2}/.test(text) && text.trim() === written.trim()) ||
      containsTokens(tokens, readTokens([text], path));
  };
  const places = [
    ...added.map((text, at) => (lines.find(isFrom(text))?.line ?? Number.NaN) - at),
    (lines.findLast(isFrom(before.at(-1)))?.line ?? Number.NaN) + 1,
    lines.find(isFrom(after[0]))?.line ?? Number.NaN,
  ];
  const newLine = places.find((place) => !Number.isNaN(place));
  return newLine === undefined ? null : { ...change, newLine };
}

/** The maximum number of consecutive formatting commits that are followed. */
const MAX_FOLLOWED = 3;

/**
 * Attributes lines that a commit only formatted to their authors, by blaming the lines that it replaced.
 * Lines whose authors are unknown keep the commit.
 */
async function followFormatting(
  { host, at, signal }: BuiltCode,
  recent: readonly Recent[],
  blamed: readonly BlameLine[],
): Promise<readonly BlameLine[]> {
  let lines = blamed;
  for (const { by, file } of recent.filter(({ isFormatting }) => isFormatting).slice(0, MAX_FOLLOWED)) {
    if (file === null || !lines.some(({ commit }) => commit === by.commit)) continue;
    const { path } = file;
    const known = { repository: at.repository, path: file.previousPath ?? path };
    const [, previous] = await host.history({ ...at, ref: by.commit, path, limit: 2 }, signal);
    const changes = readChanges(file.patch ?? '').filter(({ removed }) => removed.length > 0);
    if (previous === undefined || changes.length === 0) continue;
    const replaced = new Map<LineChange, readonly BlameLine[]>();
    for (const change of changes) {
      if (!lines.some(({ commit, text }) => commit === by.commit && change.added.includes(text))) continue;
      const { oldLine: lineStart, removed } = change;
      const old = { lineStart, lineEnd: lineStart + removed.length - 1 };
      replaced.set(change, await host.blame({ ...known, ref: previous.commit, ...old }, signal));
    }
    lines = lines.map((line) => {
      const [change, old = []] =
        line.commit === by.commit
          ? ([...replaced].find(([lineChange]) => lineChange.added.includes(line.text)) ?? [])
          : [];
      const tokens = readTokens([line.text], path);
      const same = old.find(({ text }) => containsTokens(readTokens([text], path), tokens));
      const written = same ?? old[change?.added.indexOf(line.text) ?? 0] ?? old.at(-1);
      return written === undefined ? line : { ...written, line: line.line, text: line.text };
    });
  }
  return lines;
}

async function readDiff(host: CodeHost, query: Parameters<CodeHost['commitDiff']>[0], signal: AbortSignal) {
  try {
    return await host.commitDiff(query, signal);
  } catch (error) {
    if (signal.aborted || isRetryable(error)) throw error;
    return null;
  }
}

/**
 * Returns the newest commit that deleted lines of the range, which blame does not show. It is a commit
 * without attributed lines that is the newest of all, or whose patch removes more lines than it adds next to
 * lines that are still in the range.
 */
function findRemoval(recent: readonly Recent[], runs: readonly BlameLine[][]): Recent | null {
  const attributed = new Set(runs.map(([line]) => line?.commit));
  for (const [rank, candidate] of recent.filter(({ isFormatting }) => !isFormatting).entries()) {
    const changes = candidate.changes.filter(
      ({ removed, added }) => removed.filter(isWritten).length > added.filter(isWritten).length,
    );
    const isUnseen = rank === 0 && !attributed.has(candidate.by.commit);
    if (changes.length > 0 || isUnseen) return { ...candidate, changes };
  }
  return null;
}

function isWritten(line: string): boolean {
  return line.trim() !== '';
}

/** Converts what a commit removed or replaced in the range to a finding with its patch. */
function toChangeFinding(
  { path, lineStart, lineEnd }: Range,
  { by, diff, changes }: Recent,
  { titled }: BuiltCode,
  known: { readonly removes: true } | { readonly lines: [number, number][] },
): ChangeFinding {
  const did = 'removes' in known ? 'removed' : 'changed';
  const summary = `${did} lines between ${lineStart} and ${lineEnd} of ${path}`;
  const commit = { ...by, pullRequest: diff?.commit.pullRequest ?? by.pullRequest ?? null };
  return {
    title: titled(`${commitTitle(commit)} (${did} lines here)`),
    text: [summary, ...changes.map(formatChange)].join('\n'),
    source: path,
    lineStart,
    lineEnd,
    data: { path, line: lineStart, ...known, ...commitData(commit) },
  };
}

function toFinding(
  path: string,
  run: readonly BlameLine[],
  { titled }: BuiltCode,
  recent: readonly Recent[],
): ChangeFinding {
  const [first] = run;
  const last = run.at(-1);
  if (first === undefined || last === undefined) return { title: titled(''), text: '', source: path };
  const match = recent.find(({ by }) => by.commit === first.commit);
  const pullRequest = match?.diff?.commit.pullRequest ?? null;
  return {
    title: titled(commitTitle({ ...first, pullRequest })),
    text: run.map((line) => line.text).join('\n'),
    source: path,
    lineStart: first.line,
    lineEnd: last.line,
    data: {
      path,
      line: first.line,
      ...(match?.isFormatting === true ? { formats: true } : {}),
      ...commitData({ ...first, pullRequest }),
    },
  };
}
