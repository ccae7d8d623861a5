import { setTimeout as sleep } from 'node:timers/promises';
import { type App, createApp, createLogger } from '../../app.ts';
import { createMaskingOptions } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import { nameCodeHosts } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { GRADE } from '../../domain/work.ts';
import { computeProportion } from '../../lib/statistics.ts';
import { formatCount } from '../../lib/text.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import { type Logger, silentLogger } from '../../ports/telemetry.ts';
import type { Provider } from '../../providers/provider.ts';
import { createProviders } from '../../providers/registry.ts';
import {
  type AnswerReport,
  type ImportEvent,
  type ImportOutcome,
  importRuns,
  readAnswerReport,
} from '../../service/import.ts';
import { createPassingBuildHandler } from '../../service/triage/passing-builds.ts';
import { drainWork } from '../../work/process-items.ts';
import { type DataOptions, getDataDirectory, readStoreConfig } from '../settings.ts';
import { createInterruptSignal, printResult, say } from '../terminal.ts';
import { withApp } from './store-commands.ts';

export interface ImportOptions extends DataOptions {
  readonly repository: string;
  /** The age of the oldest run to import, in days. */
  readonly since: number;
  readonly provider?: string;
  readonly limit: number;
}

const DAY_MS = 24 * 60 * 60_000;
/** Time limit of one call to the provider, in milliseconds. */
const CALL_MS = 60_000;
const LOOK_MS = 250;

/**
 * Runs `faultline import`: imports past runs of a repository as builds, with their logs and, on an embedded
 * installation, their answers.
 */
export async function runImport(options: ImportOptions): Promise<void> {
  const config = readStoreConfig(getDataDirectory(options.data));
  const provider = chooseProvider(config, options.provider);
  // Users of an import want to see the runs, not the service log between them.
  const level = process.env.FAULTLINE_LOG_LEVEL ?? 'error';
  const logger =
    level === 'silent' ? silentLogger : await createLogger(level, createMaskingOptions(config).known);
  const signal = createInterruptSignal();
  signal.addEventListener('abort', () => say('stopping after the current step …'));
  const app = await createApp(config, logger);
  try {
    const answersHere = config.database.driver === 'pglite';
    const { counts, failed, source } = await takeIn(app, { provider, options, logger }, signal);
    if (answersHere) await answer(app, { failed, source }, signal);
    const { repository } = options;
    const grades = await app.stores.grades.newest(repository, NEWEST_FAILURES);
    const text = [formatSummary(counts, answersHere ? 0 : counts.failed, repository), describePast(grades)];
    await printResult(options, { repository, provider: provider.name, ...counts, grades }, text.join('\n'));
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new TriageError(
      'cancelled',
      'Stopped. Everything read so far is stored; run the same command again to continue.',
      {
        cause: error,
      },
    );
  } finally {
    await app.close({ drainMs: 5_000 });
  }
}

/**
 * Returns the named provider, or the only one whose past runs can be read. Throws `invalid-config` with the
 * available ones.
 */
function chooseProvider(
  config: Config,
  name: string | undefined,
): Provider & { readonly openPastRuns: NonNullable<Provider['openPastRuns']> } {
  const readable = createProviders(config.providers).flatMap((provider) => {
    const { openPastRuns, code } = provider;
    return openPastRuns === null || code?.configured !== true ? [] : [{ ...provider, openPastRuns }];
  });
  const found =
    name === undefined
      ? readable.length === 1
        ? readable[0]
        : undefined
      : readable.find((provider) => provider.name === name);
  if (found !== undefined) return found;
  const names = readable.map((provider) => provider.name).join(', ');
  const says =
    name === undefined
      ? 'Choose with --provider where to import runs from'
      : `Runs of ${name} cannot be imported`;
  const there =
    names === ''
      ? `set ${nameCodeHosts((host) => `FAULTLINE_${host.toUpperCase()}_TOKEN`)}, ` +
        'and for your own server its _URL'
      : `configured: ${names}`;
  throw new TriageError('invalid-config', `${says} (${there}).`);
}

/**
 * Answers the pending builds in this process, because an embedded database allows one process at a time.
 * Passed builds are processed first.
 */
async function answer(
  app: App,
  { failed, source }: { failed: readonly string[]; source: BuildSource },
  signal: AbortSignal,
): Promise<void> {
  const { greenBuilds } = app.config.triage;
  if (greenBuilds > 0) {
    say('learning from the newest passed builds');
    const handler = createPassingBuildHandler({
      ...app,
      buildSources: { [source.provider]: source },
      greenBuilds,
    });
    await drainWork(handler, { ...app, work: app.stores.work }, signal);
  }
  await app.runAtStartup('knowledge', () => app.loadKnowledge());
  await app.work();
  await waitUntilAnswered(app, failed, signal);
  await waitUntilGraded(app, signal);
}

interface Taking {
  readonly provider: Pick<Provider, 'name' | 'openBuildSource'> & {
    readonly openPastRuns: NonNullable<Provider['openPastRuns']>;
  };
  readonly options: ImportOptions;
  readonly logger: Logger;
}

type Counts = Record<ImportOutcome, number>;

async function takeIn(app: App, { provider, options, logger }: Taking, signal: AbortSignal) {
  const { repository, since, limit: maxRuns } = options;
  const { maxLogBytes } = app.config.http;
  const request = {
    provider: provider.name,
    repository,
    maxRuns,
    since: new Date(Date.now() - since * DAY_MS),
    runs: await provider.openPastRuns({ logger, timeoutMs: CALL_MS }),
    source: await provider.openBuildSource({
      logger,
      timeoutMs: app.config.buildSource.timeoutMs,
      maxLogBytes,
    }),
  };
  const counts: Counts = { failed: 0, passed: 0, known: 0, withoutLog: 0, leftOut: 0 };
  const failed: string[] = [];
  for await (const event of importRuns(app, request, signal)) {
    say(formatEvent(event));
    if (event.type !== 'run') continue;
    counts[event.outcome] += 1;
    if (event.buildId !== null) failed.push(event.buildId);
  }
  return { counts, failed, source: request.source };
}

const WORDS: Readonly<Record<ImportOutcome, string>> = {
  failed: 'failed',
  passed: 'passed',
  known: 'known',
  withoutLog: 'no log',
  leftOut: 'left out',
};

function formatEvent(event: ImportEvent): string {
  if (event.type === 'listed')
    return `${formatCount(event.runs, 'run')}${event.isCut ? '; older ones are not imported (--limit)' : ''}`;
  if (event.type === 'waiting')
    return `waiting ${Math.ceil(event.ms / 1000)} s: ${toVisibleLine(event.because)}`;
  const width = String(event.of).length;
  return `${String(event.place).padStart(width)}/${event.of}  ${WORDS[event.outcome].padEnd(8)}  ${toVisibleLine(event.says)}`;
}

async function waitUntilAnswered(app: App, buildIds: readonly string[], signal: AbortSignal): Promise<void> {
  for (const [index, buildId] of buildIds.entries()) {
    for (;;) {
      signal.throwIfAborted();
      const job = await app.stores.triages.findByBuild(buildId);
      if (job === null || job.state === 'done' || job.state === 'failed') break;
      await sleep(LOOK_MS, undefined, { signal });
    }
    if ((index + 1) % 10 === 0 || index + 1 === buildIds.length)
      say(`${index + 1} of ${buildIds.length} failed builds analyzed`);
  }
}

/** The maximum time in milliseconds to wait for the code host. The service grades the rest later. */
const MAX_GRADING_MS = 300_000;

/** Waits until the builds after the answered failures are read and graded, or the time is over. */
async function waitUntilGraded({ stores }: App, signal: AbortSignal): Promise<void> {
  say('reading what happened after each failure');
  const until = performance.now() + MAX_GRADING_MS;
  while ((await stores.work.waiting(GRADE)).count > 0 && performance.now() < until)
    await sleep(LOOK_MS, undefined, { signal });
}

/**
 * The maximum number of past failures for which an import reports the accuracy of the answers, newest first.
 */
const NEWEST_FAILURES = 500;

type Grades = Awaited<ReturnType<App['stores']['grades']['newest']>>;

/** Describes the accuracy of the answers to the newest failures, as later builds graded them. */
function describePast({ right, wrong, doubtful, ungraded }: Grades): string {
  const known = right + wrong;
  const rest = `${doubtful} doubtful, ${ungraded} not graded`;
  if (known === 0) return `What happened next does not show whether answers were right: ${rest}.`;
  const { share, low, high } = computeProportion(right, known);
  const percent = (value: number) => `${Math.round(100 * value)} %`;
  return (
    `By what happened next, the category was right in ${right} of ${known} answers (${percent(share)}; ` +
    `${percent(low)} to ${percent(high)}); ${rest}. The page /insights/trust lists them.`
  );
}

function formatSummary(counts: Counts, waiting: number, repository: string): string {
  const { failed, passed, known } = counts;
  const rest = `${counts.withoutLog} failed without a log, ${known} known before, ${counts.leftOut} left out`;
  const next =
    waiting === 0 ? '' : ` ${waiting} ${waiting === 1 ? 'waits' : 'wait'} for the workers of the service.`;
  return (
    `Imported ${failed} failed and ${formatCount(passed, 'passed build')} ` +
    `of ${repository}; ${rest}.${next}\nNext: faultline report --repository ${repository}`
  );
}

export interface ReportOptions extends DataOptions {
  readonly repository: string;
  /** The age of the oldest build to report, in days. */
  readonly since: number;
}

/** Runs `faultline report`: shows the answers since a date, also those that were not published. */
export async function runReport(options: ReportOptions): Promise<void> {
  const since = new Date(Date.now() - options.since * DAY_MS);
  const report = await withApp(options, ({ stores }) =>
    readAnswerReport(stores, { repository: options.repository, since }),
  );
  await printResult(options, report, reportText(report, options));
}

function reportText(
  { answers, builds, causes, guesses }: AnswerReport,
  { repository, since }: ReportOptions,
): string {
  const published = answers.filter((reportedAnswer) => reportedAnswer.isPublished).length;
  const rows = answers.map(
    ({ build, category, title, isPublished }) =>
      `  ${build.at.slice(0, 10)}  ${toVisibleLine(`${build.pipeline} #${build.number}`)}  ${(category ?? 'unknown').padEnd(14)}  ${isPublished ? 'published ' : 'for review'}  ${toVisibleLine(title)}`,
  );
  return [
    `${repository}, the last ${formatCount(since, 'day')}: ${builds.failed} failed ` +
      `and ${formatCount(builds.passed, 'passed build')}`,
    `${formatCount(answers.length, 'answer')}: ${published} published, ${answers.length - published} for ` +
      `review; ${formatCount(builds.unanswered, 'failed build')} without an answer`,
    ...guesses.map(
      ({ said, right, of }) =>
        `"${said}" by the text: right in ${right} of ${of} failures that were tried (faultline confirm)`,
    ),
    ...(causes.length === 0 ? [] : ['', 'Most frequent causes']),
    ...causes.map(
      ({ category, title, count }) =>
        `  ${String(count).padStart(4)}×  ${(category ?? 'unknown').padEnd(14)}  ${toVisibleLine(title)}`,
    ),
    ...(rows.length === 0 ? [] : ['', 'Answers, newest first']),
    ...rows,
  ].join('\n');
}
