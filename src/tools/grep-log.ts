import { setImmediate as nextTurn } from 'node:timers/promises';
import { RE2JS, RE2JSException } from 're2js';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { Finding } from '../domain/evidence.ts';
import { append, findMax } from '../lib/collections.ts';
import { splitAlternation } from '../lib/split-alternation.ts';
import { cutAfter } from '../lib/text.ts';
import { cleanLine } from '../log/lines/clean.ts';
import type { BuildArchive, NumberedLine } from '../ports/build-archive.ts';
import { chooseSource, cleanText, type LogLines, listWindowPieces } from './findings.ts';
import { withOwnLines } from './own-lines.ts';
import { ANY_CATEGORY, defineTool, type Tool } from './tool.ts';

const MAX_LINES = 20;
/** Milliseconds of work between two yields to the event loop. */
const TURN_MS = 50;

const MAX_CONTEXT = 5;
/** The maximum number of texts of a build that are searched. */
const MAX_SOURCES = 50;

const Parameters = z
  .strictObject({
    text: z
      .string()
      .min(2)
      .max(200)
      .regex(/^[^\n\r\0]*$/, 'one line')
      .describe('Literal text; with pattern, a regular expression in RE2 syntax'),
    pattern: z.boolean().default(false).describe('The text is a regular expression'),
    source: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Name of the log or artifact; by default the log in which the build failed'),
    everywhere: z.boolean().default(false).describe("All of the build's logs, reports and artifacts"),
    ignoreCase: z.boolean().default(false),
    context: z.int().min(0).max(MAX_CONTEXT).default(0).describe('Lines shown on either side of each'),
    limit: z.int().min(1).max(MAX_LINES).default(MAX_LINES),
  })
  .refine(({ source, everywhere }) => source === undefined || !everywhere, {
    error: 'use either source or everywhere, not both',
  });

/**
 * Creates the tool that finds the lines of the build's logs and artifacts that contain a text. Each result
 * states the number of matching lines. The alternatives of a pattern share the shown lines, so that a common
 * one does not hide a rare one, and the result says of which lines are left out.
 */
export function grepLog(archive: BuildArchive): Tool {
  return defineTool({
    name: 'grep_log',
    question: 'On which lines of a log or artifact, or of all of them, does this text or pattern stand?',
    serves: ANY_CATEGORY,
    investigator: 'history',
    asks: 'log',
    costClass: 'low',
    usualLatencyMs: 200,
    provider: `build-archive:${archive.driver}`,
    parameters: Parameters,
    async run({ text, pattern, source: named, everywhere, ignoreCase, context, limit }, { subject, signal }) {
      const holds = createLineTest({ text, pattern, ignoreCase });
      const branches = createBranches({ text, pattern, ignoreCase });
      const literals = pattern ? [] : extractLiterals(text, ignoreCase);
      const chosen = everywhere ? null : await chooseSource(archive, subject, named);
      const ownArchive = withOwnLines(archive, subject);
      const sources = everywhere
        ? (await archive.list(subject.build.id)).slice(0, MAX_SOURCES)
        : chosen === null
          ? []
          : [chosen];
      const findings: Finding[] = [];
      let room = limit;
      for (const source of sources) {
        const lines = await readCandidates(ownArchive, subject.build.id, source.name, literals);
        const found = await readMatchingLines(lines, {
          holds,
          branches,
          anchored: pattern && text.startsWith('^'),
          limit: room,
          signal,
        });
        if (found.every(({ total }) => total === 0)) continue;
        const hits = shareRoom(found, room);
        room -= hits.length;
        const title = `“${cutAfter(text, MAX_SHOWN_TEXT)}” in ${source.name} (${countLines(found, hits)})`;
        const runs = await withContext(
          ownArchive,
          subject.build.id,
          source.name,
          groupRuns(hits, context),
          context,
        );
        append(
          findings,
          runs.flatMap((run) => listWindowPieces(source.name, title, run)),
        );
      }
      return findings;
    },
  });
}

/** Adds the surrounding lines to each run. */
async function withContext(
  archive: BuildArchive,
  buildId: string,
  name: string,
  runs: readonly NumberedLine[][],
  context: number,
): Promise<LogLines[]> {
  const windows: LogLines[] = [];
  for (const run of runs) {
    const [first, last] = [run[0]?.line ?? 1, run.at(-1)?.line ?? 1];
    const wide =
      context === 0 ? null : await archive.lines(buildId, name, Math.max(1, first - context), last + context);
    windows.push(wide ?? { lineStart: first, lines: run.map(({ text }) => text) });
  }
  return windows;
}

/**
 * Returns the literals that an archive may search for in place of the text: its longest part that needs no
 * case folding beyond ASCII letters, and the control
 * characters that may interrupt it invisibly. Empty if there is no such part; then every line is inspected.
 */
function extractLiterals(text: string, ignoreCase: boolean): readonly string[] {
  const isPlain =
    !ignoreCase && text.toLowerCase() === text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const parts = isPlain ? [text] : (text.match(/[\t -~]+/g) ?? []);
  const longest = parts.reduce((long, part) => (part.length > long.length ? part : long), '');
  return longest === '' ? [] : [longest, ...INTERRUPTING];
}

/**
 * The characters that `cleanText` removes, except escapes, which every archive ignores, and carriage returns,
 * after which the line is overwritten.
 */
const INTERRUPTING: readonly string[] = Array.from({ length: 0xa0 }, (_, code) =>
  String.fromCharCode(code),
).filter((text) => /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/.test(text));

type Lines = Iterable<readonly NumberedLine[]>;

/** Returns lines that may contain the text, including all that do. */
async function readCandidates(
  archive: BuildArchive,
  buildId: string,
  name: string,
  literals: readonly string[],
): Promise<Lines> {
  if (archive.linesWith !== undefined) return archive.linesWith(buildId, name, literals);
  const stored = await archive.read(buildId, name);
  return stored === null ? [] : readLines(stored);
}

function* readLines(stored: string): Lines & Generator<readonly NumberedLine[]> {
  for (let line = 1, start = 0; start <= stored.length; line += 1) {
    const newline = stored.indexOf('\n', start);
    const end = newline === -1 ? stored.length : newline;
    yield [{ line, text: stored.slice(start, end) }];
    start = end + 1;
  }
}

interface Wanted {
  readonly holds: (line: string) => boolean;
  /** The alternatives of the text; one, if it has none. */
  readonly branches: readonly { readonly name: string; readonly holds: (line: string) => boolean }[];
  /** True if the pattern matches the beginning of a line. The CI system's prefix is not part of the line. */
  readonly anchored: boolean;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** The lines with one alternative of the text: the first ones, and the number of all. */
interface BranchLines {
  readonly name: string;
  readonly hits: NumberedLine[];
  total: number;
}

/**
 * Returns the first lines with each alternative, and their numbers. A line with several alternatives counts
 * for the first.
 */
async function readMatchingLines(lines: Lines, wanted: Wanted): Promise<BranchLines[]> {
  const found = wanted.branches.map(({ name }): BranchLines => ({ name, hits: [], total: 0 }));
  let last = 0;
  let paused = performance.now();
  for (const some of lines) {
    for (const { line, text: raw } of some) {
      const text = cleanText(raw);
      const tested = wanted.anchored ? cleanLine(text) : text;
      if (line === last || !wanted.holds(tested)) continue;
      last = line;
      const at = wanted.branches.findIndex(({ holds }) => holds(tested));
      const branch = found[Math.max(0, at)];
      if (branch === undefined) continue;
      branch.total += 1;
      if (branch.hits.length < wanted.limit) branch.hits.push({ line, text });
    }
    if (performance.now() - paused < TURN_MS) continue;
    // Without a pause, the time limit could not take effect.
    await nextTurn();
    wanted.signal.throwIfAborted();
    paused = performance.now();
  }
  return found;
}

/** Takes lines from each alternative in turn, as many as there is room for, and puts them in their order. */
function shareRoom(found: readonly BranchLines[], room: number): NumberedLine[] {
  const taken: NumberedLine[] = [];
  const deepest = findMax(
    found.map(({ hits }) => hits.length),
    0,
  );
  for (let place = 0; place < deepest; place++)
    for (const { hits } of found) {
      const hit = hits[place];
      if (hit !== undefined && taken.length < room) taken.push(hit);
    }
  return taken.sort((left, right) => left.line - right.line);
}

/** The maximum length of a pattern in a title, of an alternative in it, and the number of those named. */
const [MAX_SHOWN_TEXT, MAX_SHOWN_BRANCH, MAX_NAMED] = [60, 30, 3];

/** Says how many lines there are, and how many are left out, of which alternatives. */
function countLines(found: readonly BranchLines[], kept: readonly NumberedLine[]): string {
  const total = found.reduce((sum, branch) => sum + branch.total, 0);
  const all = `${total} ${total === 1 ? 'line' : 'lines'} in all`;
  if (total === kept.length) return all;
  const numbers = new Set(kept.map(({ line }) => line));
  const left = found
    .map(({ name, hits, total: some }) => ({
      name: cutAfter(name, MAX_SHOWN_BRANCH),
      count: some - hits.filter(({ line }) => numbers.has(line)).length,
    }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
  const most = left.slice(0, MAX_NAMED).map(({ name, count }) => `${count} of “${name}”`);
  const named = found.length === 1 ? '' : `: ${most.join(', ')}${left.length > MAX_NAMED ? ', …' : ''}`;
  return `${all}, ${total - kept.length} left out${named}`;
}

/** Groups matching lines whose contexts touch, so that each finding has consecutive lines. */
function groupRuns(hits: readonly NumberedLine[], context: number): NumberedLine[][] {
  const runs: NumberedLine[][] = [];
  for (const hit of hits) {
    const run = runs.at(-1);
    const previous = run?.at(-1)?.line;
    if (previous !== undefined && hit.line - previous <= 2 * context + 1) run?.push(hit);
    else runs.push([hit]);
  }
  return runs;
}

/**
 * The maximum number of characters of a line that a pattern is matched against. Literal text is searched in
 * the whole line.
 */
const MAX_LINE = 8_000;

/** The parameters of the search in a line. */
interface Asked {
  readonly text: string;
  /**
   * True if the text is a pattern in RE2's syntax, without look-around and back-references. It takes linear
   * time on any line.
   */
  readonly pattern: boolean;
  readonly ignoreCase: boolean;
}

/**
 * Creates a function that checks whether a line contains the text. Throws `invalid-input` for an invalid
 * pattern.
 */
function createLineTest({ text, pattern, ignoreCase }: Asked): (line: string) => boolean {
  if (pattern) {
    const compiled = compile(text, ignoreCase);
    return (line) => compiled.matcher(line.slice(0, MAX_LINE)).find();
  }
  if (!ignoreCase) return (line) => line.includes(text);
  const lower = text.toLowerCase();
  return (line) => line.toLowerCase().includes(lower);
}

function createBranches({ text, pattern, ignoreCase }: Asked): Wanted['branches'] {
  const parts = pattern ? splitAlternation(text) : [text];
  if (parts.length === 1) return [{ name: text, holds: () => true }];
  return parts.map((part) => ({ name: part, holds: createLineTest({ text: part, pattern, ignoreCase }) }));
}

function compile(text: string, ignoreCase: boolean): RE2JS {
  try {
    return RE2JS.compile(text, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new TriageError('invalid-input', `text is no pattern of RE2's syntax: ${error.message}`, {
      cause: error,
    });
  }
}
