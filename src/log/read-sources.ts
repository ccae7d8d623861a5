import type { SourceText, TestResult } from '../domain/build.ts';
import type { ReadStage } from '../domain/calibration.ts';
import type { Diagnostic, ErrorMessage, FailingTest } from '../domain/failure.ts';
import type { PassedOnRetry, Reading } from '../domain/reading.ts';
import { takeFirstOfEach } from '../lib/collections.ts';
import { countIn } from '../lib/text.ts';
import { isEmptyEnvironment, joinEnvironments, quoteEnvironment } from './environment/read-environment.ts';
import { type Extraction, hasFindings } from './extract/extraction.ts';
import { listToolReaders } from './extract/run.ts';
import { listFailures, NOTHING_FOUND } from './fingerprint/failures.ts';
import { describeFollowers, isFollower, markFollowers } from './followers.ts';
import {
  createGreenTemplates,
  type GreenTemplates,
  hasKnownLine,
  hasNewLine,
  selectNewExits,
} from './green/green-diff.ts';
import { mergeTests } from './merge-test-results.ts';
import { placeRanked, type RankedLine, rankLines, rankMessages } from './rank/rank.ts';
import { type ReadableSource, type ReadLog, readLog } from './read-log.ts';
import { getLastLines, reduceLogs, type WeighedLog, weighBlocks } from './reduce/reduce.ts';
import { createAgreement, noteContradiction, noteDisagreements } from './reports/agreement.ts';
import { boundResults } from './reports/bound-results.ts';
import { parseReport } from './reports/report.ts';
import type { TestReport } from './reports/report-draft.ts';
import { createReportExcerpts } from './reports/report-excerpts.ts';
import { isSameTest } from './retries/retried-tests.ts';

/** The options for reading a build's sources. */
export interface ReadOptions {
  /** The maximum number of tokens of all excerpts together. */
  readonly budgetTokens: number;
  /** The log of a green build of the same job. Lines that it also contains are no evidence. */
  readonly greenText?: string;
  /** The templates of green builds. They take precedence over `greenText`. */
  readonly green?: GreenTemplates;
  /** The number of secrets that were hidden in the sources. It is only passed on to the reading. */
  readonly maskedSecrets?: number;
  /** Stages to skip, to measure how much each contributes. If absent, none. */
  readonly without?: ReadonlySet<ReadStage>;
  /** Tools whose readers are skipped, to measure how output of an unknown tool is read. */
  readonly leftOut?: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<ReadStage> = new Set();
const MAX_MESSAGES = 50;
/**
 * The maximum share of the budget for reports if there are logs, and the maximum number of notes about tests
 * on which report and log disagree.
 */
const REPORT_SHARE = 0.5;
const MAX_CONTRADICTIONS = 5;
const NOT_ALIKE = (green: string) =>
  `The log of ${green} has no line in common with this build: it was left aside.`;
const NOTHING_NEW = (green: string) => `Nothing is new since ${green}: its log was left aside.`;
const PASSED = 'failed first and passed on a rerun.';
/** The maximum numbers of tests passed on a rerun that are kept, and that are named in notes. */
const [MAX_PASSED, MAX_NAMED] = [100, 20];
const ONLY_KNOWN = (green: string) => `All errors found are in the log of ${green} too; other lines are new.`;

/** The sources of one build, each read separately. */
export interface OpenedSources {
  readonly sources: readonly ReadableSource[];
  readonly reports: readonly TestReport[];
  readonly logs: readonly ReadLog[];
  readonly notes: readonly string[];
}

/** Reads all masked logs and reports of one build. Deterministic; never throws on any text. */
export function readSources(sources: readonly ReadableSource[], options: ReadOptions): Reading {
  return composeReading(openSources(sources, options), options);
}

/** Reads each log and report separately, and reduces logs to what is new since the green build. */
export function openSources(sources: readonly ReadableSource[], options: ReadOptions): OpenedSources {
  const green =
    options.green ?? (options.greenText === undefined ? null : createGreenTemplates(options.greenText));
  const reports = sources.flatMap((source) =>
    isReport(source) ? [parseReport(source.name, source.text)] : [],
  );
  const disagreements = noteDisagreements(reports);
  const without = options.without ?? NOTHING;
  const leftOut = without.has('extractors') ? listToolReaders() : (options.leftOut ?? new Set<string>());
  const passedInReports = reports.flatMap(({ passedOnRetry }) => passedOnRetry);
  const read = selectLogs(sources).map((source) =>
    readLog(source, { green: source.kind === 'log' ? green : null, without, leftOut, passedInReports }),
  );
  const isReported = reports.some(({ failingTests }) => failingTests.length > 0);
  const { logs, notes } = reduceToNew(markFollowers(read), isReported);
  return { sources, reports, logs, notes: [...disagreements, ...notes, ...describeFollowers(logs)] };
}

/** Ranks the lines of all logs, cuts them to the budget, and combines all findings. */
export function composeReading(
  { sources, reports, logs, notes }: OpenedSources,
  options: ReadOptions,
): Reading {
  const areFollowers = logs.every(isFollower);
  const results = boundResults(reports.flatMap(({ testResults }): readonly TestResult[] => testResults));
  const weighed = logs.map((log) => weigh(log, options.without ?? NOTHING));
  const texts = logs.map(({ log }) => log);
  const contradicted: string[] = [];
  const isAgreed = createAgreement(reports, texts);
  const { failingTests, passedOnRetry } = joinTests(reports, logs, (reported, logged) => {
    const agree = isAgreed(reported, logged);
    if (!agree) contradicted.push(noteContradiction(reported, logged));
    return agree;
  });
  const room = options.budgetTokens * (logs.length > 0 ? REPORT_SHARE : 1);
  const reported = createReportExcerpts(reports, failingTests, texts, room);
  const logged = reduceLogs(weighed, options.budgetTokens - reported.tokens);
  const environment = joinEnvironments(logs.map((log) => log.environmentFor(log.found)));
  const excerpts = [...logged.excerpts, ...reported.excerpts];
  const all = <K extends 'diagnostics' | 'exceptions'>(key: K) =>
    logs.flatMap(({ found }) => found[key] as Extraction[K][number][]);
  const partial: Omit<Reading, 'fingerprint' | 'generic'> = {
    excerpts: [...excerpts, ...quoteEnvironment(environment, texts, excerpts)],
    ...(isEmptyEnvironment(environment) ? {} : { environment }),
    tokens: logged.tokens + reported.tokens,
    failingTests,
    ...(passedOnRetry.length > 0 ? { passedOnRetry } : {}),
    testResults: [...results.kept],
    diagnostics: keepOnePerLine([
      ...reports.flatMap(({ diagnostics }) => diagnostics),
      ...all('diagnostics'),
    ]),
    exceptions: all('exceptions'),
    messages: sortInformativeFirst(
      logs.flatMap((log, i) =>
        isFollower(log) && !areFollowers ? [] : rankMessages(log, weighed[i]?.ranked ?? []),
      ),
    ),
    exits: logs.flatMap(({ structure }) => structure.exits),
    failedSections: logs.flatMap(({ structure }) => structure.failedSections),
    toolchains: [...new Set(logs.flatMap(({ found }) => [...found.toolchains]))].sort(),
    sources: sources.map((source) => measureSource(source, logs)),
    ...(logs.length > 0 && logs.every(({ isPassed }) => isPassed) ? { hasPassed: true } : {}),
    maskedSecrets: options.maskedSecrets ?? 0,
    notes: [
      ...sources.flatMap(({ notes }) => notes),
      ...retryNotes(passedOnRetry),
      ...reports.flatMap((report) => report.notes),
      ...(results.note === null ? [] : [results.note]),
      ...notes,
      ...contradicted.slice(0, MAX_CONTRADICTIONS),
    ],
  };
  if (!hasFindings(partial)) partial.notes.push(NOTHING_FOUND);
  return withFingerprint(partial);
}

/**
 * Merges the tests of reports and logs: those that failed on every attempt, and those that passed on a rerun
 * according to either.
 */
function joinTests(
  reports: readonly TestReport[],
  logs: readonly ReadLog[],
  agree: (reported: FailingTest, logged: FailingTest) => boolean,
): { failingTests: FailingTest[]; passedOnRetry: PassedOnRetry[] } {
  const inLogs = logs.flatMap((log) => log.passedOnRetry);
  const reported = reports
    .flatMap((report) => report.failingTests)
    .filter((test) => !inLogs.some((inLog) => isSameTest(inLog, test)));
  const failingTests = mergeTests(
    reported,
    logs.flatMap(({ found }) => found.failingTests),
    agree,
  );
  const passed = [...reports.flatMap((report) => report.passedOnRetry), ...inLogs];
  return { failingTests, passedOnRetry: keepOnce(passed.slice(0, MAX_PASSED)) };
}

/**
 * Keeps one entry of each test that a report and a log, or two lines of a log, name: the entry with the
 * longest name.
 */
function keepOnce(tests: readonly PassedOnRetry[]): PassedOnRetry[] {
  const once: PassedOnRetry[] = [];
  for (const test of tests.toSorted((left, right) => nameInFull(right).length - nameInFull(left).length))
    if (!once.some((known) => isSameTest(known, test) || isSameTest(test, known))) once.push(test);
  return tests.filter((test) => once.includes(test));
}

/** Creates notes on tests that passed on a rerun. At most a few are named. */
function retryNotes(passed: readonly PassedOnRetry[]): string[] {
  const named = passed.slice(0, MAX_NAMED).map((test) => `${nameInFull(test)} ${PASSED}`.slice(0, 500));
  return passed.length > MAX_NAMED ? [...named, `${passed.length - MAX_NAMED} more tests ${PASSED}`] : named;
}

function nameInFull({ suite, name }: PassedOnRetry): string {
  return `${suite ? `${suite}.` : ''}${name}`;
}

/** Returns the sources that are read as logs. Artifacts come after logs, because they only add details. */
function selectLogs(sources: readonly ReadableSource[]): ReadableSource[] {
  return [
    ...sources.filter(({ kind }) => kind === 'log'),
    ...sources.filter(({ kind }) => kind === 'artifact'),
  ];
}

function isReport(source: ReadableSource): source is SourceText {
  return source.kind === 'report';
}

function measureSource(source: ReadableSource, read: readonly ReadLog[]): Reading['sources'][number] {
  const { name } = source;
  if (isReport(source))
    return { name, lines: countIn(source.text, '\n') + 1, bytes: Buffer.byteLength(source.text) };
  const log = read.find((reading) => reading.log.name === name);
  return { name, lines: log?.log.lineCount ?? 0, bytes: log?.size ?? 0 };
}

function withFingerprint(partial: Omit<Reading, 'fingerprint' | 'generic'>): Reading {
  const unknown = { algorithm: '', version: 0, value: '' };
  const [first] = listFailures({ ...partial, fingerprint: unknown, generic: true });
  return { ...partial, fingerprint: first?.fingerprint ?? unknown, generic: first?.generic ?? true };
}

/** Weighs the proposed blocks by their position, and combines them with the learned ranking of lines. */
function weigh(
  read: ReadLog,
  without: ReadonlySet<ReadStage>,
): WeighedLog & { readonly ranked: readonly RankedLine[] } {
  const { log, proposed, structure, diff } = read;
  const placed = without.has('reducer') ? getLastLines(log) : weighBlocks(log, proposed, structure, diff);
  const ranked = rankLines(read, placed, diff);
  const isRanked = !without.has('ranking') && !without.has('reducer');
  return { log, blocks: isRanked ? placeRanked(ranked, placed) : placed, ranked };
}

/**
 * Reduces the findings to those that are new since the green build. If none are new, keeps all, because a
 * failure must have some evidence.
 */
function reduceToNew(
  logs: readonly ReadLog[],
  isReported: boolean,
): { logs: readonly ReadLog[]; notes: readonly string[] } {
  const green = describeComparison(logs);
  if (green === '') return { logs, notes: [] };
  if (!logs.some(({ log, diff }) => diff !== null && hasKnownLine(log, diff)))
    return setAside(logs, NOT_ALIKE(green));
  if (!logs.some(({ log, diff, structure }) => diff !== null && hasNewLine(log, diff, structure)))
    return setAside(logs, NOTHING_NEW(green));
  if (isReported || logs.some(({ fresh }) => hasFindings(fresh)))
    return { logs: logs.map(keepOnlyNew), notes: [] };
  if (!logs.some(({ found }) => hasFindings(found))) return { logs, notes: [] };
  return { logs, notes: [ONLY_KNOWN(green)] };
}

/**
 * Returns the names of the green builds that the logs were compared with, for people. Returns an empty string
 * if there was none.
 */
function describeComparison(logs: readonly ReadLog[]): string {
  return [...new Set(logs.flatMap(({ diff }) => (diff === null ? [] : [diff.name])))].join(' and ');
}

function setAside(
  logs: readonly ReadLog[],
  note: string,
): { logs: readonly ReadLog[]; notes: readonly string[] } {
  return { logs: logs.map((log) => ({ ...log, diff: null })), notes: [note] };
}

function keepOnlyNew(read: ReadLog): ReadLog {
  const { diff, structure } = read;
  return {
    ...read,
    found: read.fresh,
    isOnlyNew: true,
    structure: diff === null ? structure : { ...structure, exits: selectNewExits(structure, diff) },
  };
}

function sortInformativeFirst(messages: readonly ErrorMessage[]): ErrorMessage[] {
  const unique = takeFirstOfEach(messages, ({ text }) => text);
  return unique.sort((a, b) => b.weight - a.weight).slice(0, MAX_MESSAGES);
}

/** Keeps one diagnostic for each line. The first one is that of the most specific reader. */
function keepOnePerLine(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return takeFirstOfEach(diagnostics, (diagnostic) =>
    diagnostic.at === null ? diagnostic : `${diagnostic.at.source}:${diagnostic.at.line}`,
  );
}
