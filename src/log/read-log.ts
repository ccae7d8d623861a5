import type { SourceText } from '../domain/build.ts';
import type { ReadStage } from '../domain/calibration.ts';
import type { PassedOnRetry } from '../domain/reading.ts';
import { withSpansInSections, withWholeSpans } from './causes/spans.ts';
import { splitSteps } from './commands/split-steps.ts';
import { RECORD_GROUP, readEnvironment } from './environment/read-environment.ts';
import { readRecord } from './environment/read-record.ts';
import { type Extraction, withLists } from './extract/extraction.ts';
import {
  extractAll,
  filterFailedSteps,
  keepLines,
  openScanned,
  readCiStructure,
  splitHits,
} from './extract/run.ts';
import { diffWithGreen, filterNewFindings, type GreenTemplates } from './green/green-diff.ts';
import { findLeftOut, withoutLines } from './left-out.ts';
import { type LogBytes, toLogBytes, withReturnsAsLineEnds } from './lines/bytes.ts';
import type { LogText } from './lines/lines.ts';
import { hasPassed, withoutErrors } from './passed.ts';
import type { LineIndex, Scan } from './scan/scan-log.ts';
import { withoutSections } from './sections.ts';

/** A masked log whose bytes need not be in memory. */
export interface LogInPieces {
  readonly name: string;
  readonly kind: 'log';
  readonly bytes: LogBytes;
  readonly notes: readonly string[];
  /** The descriptor of its file, if it has one. Another thread can read from it. */
  readonly file?: number;
  /** The scan, if the log was already scanned for {@link READER_GROUPS}. */
  readonly scan?: Scan;
}

/** A source that can be read: a masked text, or the bytes of a masked log. */
export type ReadableSource = SourceText | LogInPieces;

/** The settings for reading the logs of one build. */
export interface Reader {
  readonly green: GreenTemplates | null;
  readonly without: ReadonlySet<ReadStage>;
  readonly leftOut: ReadonlySet<string>;
  /** Tests that a report lists as passed on a rerun. */
  readonly passedInReports: readonly PassedOnRetry[];
}

/** The data read from one log, before its lines are ranked. */
export type ReadLog = ReturnType<typeof readLines>;

/** Reads one log: its structure, and what the readers of tools find in it. */
export function readLog(source: ReadableSource, reader: Reader): ReadLog {
  const bytes = 'bytes' in source ? source.bytes : toLogBytes(source.text);
  const read = readLines(source.name, bytes, 'bytes' in source ? source.scan : undefined, reader);
  if (!isOverwritten(bytes, read.log.lineCount)) return read;
  const split = readLines(source.name, withReturnsAsLineEnds(bytes), undefined, reader);
  const fold = (found: Extraction) => foldReturns(found, split.index, read.index);
  return { ...read, all: fold(split.all), found: fold(split.found), fresh: fold(split.fresh) };
}

function readLines(name: string, bytes: LogBytes, known: Scan | undefined, reader: Reader) {
  const { green, without, leftOut, passedInReports } = reader;
  const opened = openScanned(name, bytes, known);
  const { log: whole, scan } = opened;
  const { ofReaders, ofLeftOut, ofEnvironment } = splitHits(scan);
  const readMarks = (of: LogText) => {
    const marked = readCiStructure({ log: of, scan });
    return without.has('sections') ? withoutSections(marked) : marked;
  };
  const extracted = withWholeSpans(whole, extractAll(opened, leftOut));
  const marked = readMarks(whole);
  const { ranges, passedOnRetry, failingTests } = findLeftOut(
    whole,
    ofLeftOut,
    extracted,
    marked,
    passedInReports,
  );
  const log = withoutLines(whole, ranges);
  const isKept = (line: number) => log.hides?.(line) !== true;
  const kept = { ...keepLines(extracted, isKept), failingTests };
  const steps = ranges.length === 0 ? marked : readMarks(log);
  const structure = splitSteps(log, kept, steps);
  const all = withSpansInSections(kept, structure.failedSections);
  const isPassed = hasPassed(log, all, structure, passedOnRetry.length > 0);
  const found = isPassed ? withoutErrors(all) : filterFailedSteps(log, all, structure);
  const diff = green === null ? null : diffWithGreen(log, green, found, structure);
  /** The findings that a green build does not have. If there is no green build, all findings. */
  const fresh = diff === null ? found : filterNewFindings(found, diff);
  const read = {
    log,
    index: scan.index,
    size: bytes.size,
    all,
    found,
    fresh,
    structure,
    diff,
    isPassed,
    passedOnRetry,
  };
  /** True if the findings of the green build were removed from `found`. */
  const isOnlyNew: boolean = false;
  /**
   * Reads the versions that findings may be about, from the whole log, because they are often printed outside
   * the failed step.
   */
  const environmentFor = (some: Extraction) => readEnvironment(whole, ofEnvironment, some, structure);
  /** Reads the record of the job's environment from the whole log. */
  const readEnvironmentRecord = () => readRecord(whole, ofEnvironment[RECORD_GROUP] ?? []);
  const hits = ofReaders.map((lines) => lines.filter(isKept));
  return { ...read, isOnlyNew, proposed: found.blocks, hits, environmentFor, readEnvironmentRecord };
}

/** The ratio of lone carriage returns to line feeds above which carriage returns are treated as line ends. */
const MANY = 20;
const SAMPLE = 1_000_000;
/**
 * The average length of lines below which the check is skipped: such lines have no room for {@link MANY}
 * carriage returns with text in between.
 */
const SHORT_LINE = 60;
const RETURN = 13;
const FEED = 10;

/** Checks whether a log uses lone carriage returns as line ends, as some CI systems do in downloads. */
function isOverwritten(bytes: LogBytes, lineCount: number): boolean {
  if (bytes.size < lineCount * SHORT_LINE) return false;
  const sample = bytes.slice(0, SAMPLE);
  let lone = 0;
  for (let at = sample.indexOf(RETURN); at !== -1; at = sample.indexOf(RETURN, at + 1))
    if (sample[at + 1] !== FEED) lone++;
  if (lone <= MANY) return false;
  let feeds = 0;
  for (let at = sample.indexOf(FEED); at !== -1; at = sample.indexOf(FEED, at + 1)) feeds++;
  return lone > MANY * (feeds + 1);
}

/**
 * Moves findings from the lines between carriage returns (`split`) to the stored lines (`stored`). Byte
 * offsets are the same in both. Blocks are dropped, because they would not consist of whole lines.
 */
function foldReturns(found: Extraction, split: LineIndex, stored: LineIndex): Extraction {
  const toStoredLine = (line: number) => stored.findLineAt(split.getLineStart(line));
  const moved = withLists(found, (all) =>
    all.map((span) =>
      span.at === null ? span : { ...span, at: { source: span.at.source, line: toStoredLine(span.at.line) } },
    ),
  );
  const failingTests = moved.failingTests.map((test) => {
    const spans = test.spans?.map((span) => ({
      ...span,
      lineStart: toStoredLine(span.lineStart),
      lineEnd: toStoredLine(span.lineEnd),
    }));
    return spans === undefined ? test : { ...test, spans };
  });
  return { ...moved, failingTests, blocks: [] };
}
