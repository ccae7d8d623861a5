import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { Finding } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { determineNewLines, findRuns, type GreenDiff, hasKnownLine } from '../log/green/green-diff.ts';
import { type LogText, openText } from '../log/lines/lines.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { PassingBasis, PassingLogs } from '../ports/stores.ts';
import { chooseSource, cleanText, listWindowPieces, MAX_FINDINGS } from './findings.ts';
import { withOwnLines } from './own-lines.ts';
import { ANY_CATEGORY, defineTool, type Tool } from './tool.ts';

/** The maximum number of lines of one answer, including known ones between new ones. */
const MAX_LINES = 80;
/** The maximum number of characters of one line. */
const MAX_WIDTH = 200;
/** The maximum number of lines that are compared, from the end of each part. */
const MAX_COMPARED = 400_000;
/** The maximum number of parts that a title names. */
const MAX_NAMED = 3;
/** The number of lines between two pauses, so that comparing a large log does not block other work. */
const TURN = 2_000;

const Parameters = z
  .strictObject({
    source: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Name of the log; by default the one in which the build failed'),
    from: z
      .int()
      .min(1)
      .optional()
      .describe('First line, 1-based; without from and to: the failed step, else the whole log'),
    to: z.int().min(1).optional().describe('Last line, inclusive; by default the last one of the log'),
  })
  .refine(({ from, to }) => to === undefined || to >= (from ?? 1), {
    error: 'from must not be after to',
  });

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/**
 * Creates the tool that shows the lines of the log that no passing build prints. It returns their last
 * stretches, each from its beginning: at most 10, with at most 80 lines in total.
 * Up to two known lines between new ones are included, and every line keeps its number. Without a passing
 * build, or if nothing is
 * new, the outcome is empty and its summary gives the reason.
 */
export function diffWithGreen(archive: BuildArchive, passingBuilds: PassingLogs): Tool {
  return defineTool({
    name: 'diff_with_green',
    question: 'Which lines of the log are new since the last green build of the same job?',
    serves: ANY_CATEGORY,
    investigator: 'history',
    asks: 'log',
    costClass: 'low',
    usualLatencyMs: 300,
    provider: 'green-logs',
    isEmptyFinal: true,
    parameters: Parameters,
    argumentsFrom: () => ({}),
    async run({ source: named, from, to }, { subject, signal }) {
      const source = await chooseSource(archive, subject, named);
      if (source === null) return [];
      const green = await passingBuilds.of(subject.build, await archive.list(subject.build.id), source.name);
      if (green === null)
        return throwNothing(
          `No known green build has ${source.name}, so its new lines cannot be determined.`,
        );
      const stored = await withOwnLines(archive, subject).read(subject.build.id, source.name);
      if (stored === null) return [];
      const log = openText(stored);
      if (from !== undefined && from > log.lineCount) return [];
      const places =
        from === undefined && to === undefined
          ? listFailedPlaces(subject, source.name)
          : [{ start: from ?? 1, end: to ?? Infinity }];
      return await compare(log, { name: source.name, places, green }, signal);
    },
  });
}

interface Comparison {
  readonly name: string;
  readonly green: PassingBasis;
  /** The parts that are searched for new lines. Empty for the whole log. */
  readonly places: readonly Stretch[];
}

async function compare(
  log: LogText,
  { name, green, places }: Comparison,
  signal: AbortSignal,
): Promise<Finding[]> {
  const diff = determineNewLines(log, green);
  const clipped = (places.length === 0 ? [{ start: 1, end: log.lineCount }] : places).map((place) =>
    clip(place, log),
  );
  const total = await countNew(diff, clipped, signal);
  if (!hasKnownLine(log, diff))
    return throwNothing(
      `The log of ${green.name} has no line in common with ${name}, so it is no use for comparison.`,
    );
  const where = describePlaced(clipped, places.length === 0);
  if (total === 0) return throwNothing(`Nothing in ${name}${where} is new since ${green.name}.`);
  const title = `New since ${green.name} in ${name}: ${total} ${total === 1 ? 'line' : 'lines'} in all${where}`;
  const runs = clipped.flatMap(({ start, end }) => findRuns(start, end, diff.isNew));
  const pieces = limitWithinBounds(runs).flatMap((run) =>
    listWindowPieces(name, title, { lineStart: run.start, lines: readTexts(log, run) }),
  );
  const data = {
    newLines: total,
    ...(green.build === null ? {} : { greenBuildId: green.build.buildId, greenNumber: green.build.number }),
  };
  return pieces.slice(-MAX_FINDINGS).map((finding) => ({ ...finding, data }));
}

/** Throws the error for an empty outcome with a reason. */
function throwNothing(reason: string): never {
  throw new TriageError('not-found', reason);
}

/** Lists the lines of the failed steps in a log. Overlapping and nested steps are merged. */
function listFailedPlaces(subject: TriageSubject, source: string): Stretch[] {
  const failed = subject.failedSections.filter((section) => section.source === source);
  const places: { start: number; end: number }[] = [];
  for (const { lineStart, lineEnd } of failed.toSorted((left, right) => left.lineStart - right.lineStart)) {
    const last = places.at(-1);
    if (last !== undefined && lineStart <= last.end) last.end = Math.max(last.end, lineEnd);
    else places.push({ start: lineStart, end: lineEnd });
  }
  return places;
}

/** Describes the searched parts for people. Returns an empty text if the whole log was searched. */
function describePlaced(places: readonly Stretch[], all: boolean): string {
  if (all) return '';
  if (places.length > MAX_NAMED) return ` (${places.length} failed steps)`;
  return ` (lines ${places.map(({ start, end }) => `${start}–${end}`).join(', ')})`;
}

function clip({ start, end }: Stretch, { lineCount }: LogText): Stretch {
  const last = Math.min(end, lineCount);
  return { start: Math.max(start, last - MAX_COMPARED + 1), end: last };
}

/**
 * Counts the new lines. The comparison caches the result for each line, so only this first pass takes time.
 */
async function countNew(
  diff: Pick<GreenDiff, 'isNew'>,
  places: readonly Stretch[],
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  for (const { start, end } of places) {
    for (let line = start; line <= end; line++) {
      if (diff.isNew(line)) total += 1;
      if (line % TURN !== 0) continue;
      await nextTurn();
      signal.throwIfAborted();
    }
  }
  return total;
}

/**
 * Limits the runs to the last ones that fit into an answer. Short runs stay complete; the others share the
 * remaining lines, each from its beginning.
 */
function limitWithinBounds(runs: readonly Stretch[]): Stretch[] {
  const last = runs.slice(-MAX_FINDINGS);
  const lengths = new Map<Stretch, number>();
  let room = MAX_LINES;
  for (const run of last.toSorted((left, right) => left.end - left.start - (right.end - right.start))) {
    const length = Math.min(run.end - run.start + 1, Math.floor(room / (last.length - lengths.size)));
    lengths.set(run, length);
    room -= length;
  }
  return last.map((run) => ({ start: run.start, end: run.start + (lengths.get(run) ?? 1) - 1 }));
}

function readTexts(log: LogText, { start, end }: Stretch): string[] {
  return Array.from({ length: end - start + 1 }, (_, i) =>
    cleanText(log.raw(start + i))
      .slice(0, MAX_WIDTH)
      .toWellFormed(),
  );
}
