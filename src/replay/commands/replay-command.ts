import { access, constants, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { getDataDirectory } from '../../cli/settings.ts';
import {
  createInterruptSignal,
  createOutputStyle,
  EXIT,
  formatJson,
  print,
  say,
  writeOutput,
} from '../../cli/terminal.ts';
import { getRunsFolder } from '../../config/load.ts';
import { createMaskingOptions } from '../../config/masking.ts';
import { resolveBudgetTokens } from '../../config/profiles.ts';
import type { Config } from '../../config/schema.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { toVisibleLines } from '../../notifications/visible-text.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import { toReadStages } from '../ablation.ts';
import { keepLabels, makeRoom } from '../compare/kept-runs.ts';
import type { FigureSection } from '../figures/figure.ts';
import { scoreCases, scoreSlices } from '../figures/score.ts';
import { type GateResult, judgeGate } from '../gate.ts';
import { type Gate, openGate } from '../gate-bars.ts';
import { renderGate, toJunit } from '../gate-report.ts';
import { judgeCases, scoreJudge } from '../judge.ts';
import {
  createCasesSuite,
  listSpreads,
  listUnsteadyCases,
  renderFigures,
  renderJunit,
  renderSpread,
  toFigureList,
} from '../report.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { describeWhoAnswers, listStagesLeftOut, openAnswerer, replayConfig } from './answering.ts';
import { type CaseSource, openCaseSources, type ReplayCommandOptions } from './case-sources.ts';
import { type KeptRecordings, openKeptRecordings } from './recordings-command.ts';
import {
  createSpending,
  type Going,
  type ReportedRun,
  replaySource,
  type SourceOptions,
  type SourceRun,
  type Spending,
  startReplayProgress,
} from './replay-source.ts';
import {
  checkOutputs,
  createManifest,
  getRepeatPath,
  type Measured,
  openPassingFiles,
  openRunFiles,
  type Places,
  type RunFiles,
} from './run-files.ts';

/**
 * Runs `faultline replay`: runs every case of each source through the same triage and writes the results as
 * JSONL and the figures as tables and reports.
 */
export async function runReplay(given: ReplayCommandOptions, configured: Config): Promise<void> {
  const { keep } = given;
  const folder = getRunsFolder(getDataDirectory(given.data));
  const options =
    keep === undefined ? given : { ...given, out: await makeRoom(folder, keep, given.resume === true) };
  if (options.resume && options.out === undefined)
    throw new TriageError(
      'invalid-config',
      '--resume continues a results file: name it with --out, or the run with --keep.',
    );
  await checkReportPaths(options);
  const gate = options.gate === undefined ? null : await openGate(options.gate);
  const config = replayConfig(options, configured);
  const { sources, close } = await openCaseSources(options);
  try {
    if (keep !== undefined)
      await keepLabels(
        folder,
        keep,
        sources.map(({ cases }) => cases()),
      );
    await replaySources(sources, gate, options, config);
  } finally {
    await close();
  }
}

async function replaySources(
  sources: readonly CaseSource[],
  gate: Gate | null,
  options: ReplayCommandOptions,
  config: Config,
): Promise<void> {
  const signal = createInterruptSignal();
  const measured = await Promise.all(
    sources.map(async (source) => ({ source, ...(await source.measure()) })),
  );
  const judge = await openJudging(options, config);
  const limits = omitUndefined({ usd: options.maxUsd, minutes: options.maxMinutes });
  const shared = { spending: createSpending(limits), progress: startReplayProgress(createOutputStyle({})) };
  const files: RunFiles[] = [];
  const reported: ReportedRun[] = [];
  let judged: GateResult | null = null;
  const recordings = await openKeptRecordings(options);
  try {
    const how = await describeHowToAnswer(options, config, recordings);
    for (let repeat = 1; repeat <= (options.repeat ?? 1); repeat++) {
      const opened = await openFiles(options, config, measured, repeat);
      if (opened !== null) files.push(opened);
      const going = { ...shared, results: opened?.results ?? null };
      await replayAll(measured, how, going, { options, config, repeat, reported, judge }, signal);
      if (signal.aborted || reported.at(-1)?.run.stopped != null) break;
    }
    await tellSpread(reported, options);
    judged = await judgeReported(gate, reported);
    await writeReports(reported, options, config, judged);
  } finally {
    for (const file of files) await file.close();
    await recordings?.close();
  }
  settleExitCode(reported, config, signal);
  await tellGate(judged, options, signal);
}

interface ReplayReport {
  readonly options: ReplayCommandOptions;
  readonly config: Config;
  readonly repeat: number;
  readonly reported: ReportedRun[];
  readonly judge: Judging | null;
}

/**
 * Replays the sources one after another, and reports the figures of each when it is finished. A source that
 * was stopped ends the replay.
 */
async function replayAll(
  measured: readonly Measured[],
  how: SourceOptions,
  going: Going,
  report: ReplayReport,
  signal: AbortSignal,
): Promise<void> {
  const { options, config, repeat, reported, judge } = report;
  for (const result of measured) {
    const run = await replaySource(result, how, going, signal).catch((error: unknown) => {
      // If the replay is interrupted before the first case of a source, the reports on earlier sources are
      // kept.
      if (signal.aborted && reported.length > 0) return null;
      throw error;
    });
    if (run === null) return;
    const heading = `${run.source.name}: ${describeWhoAnswers(options, config)}, budget ${resolveBudgetTokens(config)} tokens`;
    const opinions = (await judge?.(run, going.spending, signal)) ?? [];
    const sections = [
      ...scoreCases(run.cases, run.milliseconds),
      ...scoreRequestedSlices(run.cases, options),
      ...opinions,
    ];
    const done = {
      run,
      sections,
      repeat,
      heading: (options.repeat ?? 1) === 1 ? heading : `${heading}, repeat ${repeat} of ${options.repeat}`,
      results: going.results,
    };
    reported.push(done);
    await tell(done, reported.length === 1, options, config);
    if (run.stopped !== null) return;
  }
}

/** Scores the slices that `--by` requests. Returns none, with a message, if all cases are in one slice. */
function scoreRequestedSlices(cases: readonly ReplayedCase[], { by }: ReplayCommandOptions): FigureSection[] {
  if (by === undefined) return [];
  const section = scoreSlices(cases, by);
  if (section === null) say(`--by ${by}: all cases have the same ${by}.`);
  return section === null ? [] : [section];
}

async function describeHowToAnswer(
  options: ReplayCommandOptions,
  config: Config,
  recordings: KeptRecordings | null,
): Promise<SourceOptions> {
  const stages = listStagesLeftOut(options);
  return {
    concurrency: options.concurrency,
    green: !stages.includes('green'),
    without: toReadStages(stages),
    budgetTokens: resolveBudgetTokens(config),
    maxLogBytes: config.http.maxLogBytes,
    masker: createMasker(createMaskingOptions(config)),
    answer: await openAnswerer(options, config, recordings),
  };
}

async function openFiles(
  options: ReplayCommandOptions,
  config: Config,
  measured: readonly Measured[],
  repeat: number,
): Promise<RunFiles | null> {
  if (options.out === undefined) return options.html === undefined ? null : openPassingFiles();
  return openRunFiles(
    getRepeatPath(options.out, repeat, options.repeat ?? 1),
    options.resume === true,
    createManifest(options, config, measured),
  );
}

/**
 * Sets the exit code if not all cases were replayed, or if rules answered in place of the model. Neither is a
 * success, even if all figures are good.
 */
function settleExitCode(reported: readonly ReportedRun[], { analyst }: Config, signal: AbortSignal): void {
  if (signal.aborted) return;
  const answered = reported.flatMap(({ run }) => run.cases.flatMap(({ result }) => result.analyst ?? []));
  const byRules = answered.filter((name) => name === 'rules').length;
  if (analyst.driver === 'llm' && byRules > 0) {
    say(
      `The model ${analyst.llm.model} did not answer ${byRules} of ${answered.length} cases; ` +
        'the rules did. `faultline doctor` says whether the model can be used.',
    );
    process.exitCode = EXIT.refused;
  }
  const stopped = reported.find(({ run }) => run.stopped !== null);
  if (stopped === undefined) return;
  say(
    `Not all cases were replayed: ${stopped.run.stopped}. With --out, --resume continues where it stopped.`,
  );
  process.exitCode = EXIT.limitReached;
}

/**
 * Asks the judge about the explanations of a run, and returns a separate section, because its figures are
 * opinions. Returns none if the run was stopped or the judge is interrupted; the figures of the replay are
 * kept.
 */
type Judging = (run: SourceRun, spending: Spending, signal: AbortSignal) => Promise<FigureSection[]>;

/**
 * Opens the judge before the replay, so that a missing model is reported early. Returns null if none was
 * requested.
 */
export async function openJudging(options: ReplayCommandOptions, config: Config): Promise<Judging | null> {
  if (options.judge === undefined) return null;
  const { openJudge } = await import('./open-judge.ts');
  const opened = await openJudge(config, silentLogger);
  const repeats = options.judge === true ? 1 : options.judge;
  return async ({ cases, stopped }, spending, signal) => {
    if (stopped !== null) return [];
    const limit =
      options.maxUsd === undefined ? {} : { maxCostUsd: Math.max(0, options.maxUsd - spending.usd) };
    const asked = { ...opened, ...limit, repeats, concurrency: options.concurrency };
    const report = await judgeCases(cases, asked, signal).catch((error: unknown) => {
      if (signal.aborted) return null;
      throw error;
    });
    if (report === null) return [];
    spending.add(report.costUsd);
    return [scoreJudge(report)];
  };
}

/**
 * Checks before a long replay that each report can be written and that none overwrites the cases. Throws if a
 * path is unusable.
 */
async function checkReportPaths(options: Places): Promise<void> {
  await checkOutputs(options);
  const { junit, html } = options;
  for (const [option, path] of Object.entries({ '--junit': junit, '--html': html })) {
    if (path === undefined) continue;
    const folder = dirname(path);
    const isFolder = (await stat(path).catch(() => null))?.isDirectory() === true;
    const refusal = await access(folder, constants.W_OK).catch((error: unknown) => getErrorMessage(error));
    if (isFolder || refusal !== undefined)
      throw new TriageError(
        'not-found',
        `${option}: ${path} cannot be written${isFolder ? ': it is a folder' : ''}.`,
      );
  }
}

/** Prints the figures of one run of one source, as a table or a line of JSON. */
async function tell(
  { heading, run, sections }: ReportedRun,
  isFirst: boolean,
  options: ReplayCommandOptions,
  config: Config,
): Promise<void> {
  if (!options.json)
    return print(`${isFirst ? '' : '\n'}${toVisibleLines(renderFigures(heading, sections)).join('\n')}`);
  const budgetTokens = resolveBudgetTokens(config);
  const stopped = run.stopped === null ? {} : { stopped: run.stopped };
  return print(
    formatJson({
      ok: true,
      dataset: run.source.path,
      budgetTokens,
      ...stopped,
      figures: toFigureList(sections),
    }),
  );
}

/** Prints the differences between repeats of the same cases, if there are repeats. */
async function tellSpread(reported: readonly ReportedRun[], options: ReplayCommandOptions): Promise<void> {
  if ((options.repeat ?? 1) === 1) return;
  const bySource = Map.groupBy(reported, ({ run }) => run.source);
  for (const [source, repeats] of bySource) {
    if (repeats.length < 2) continue;
    const spread = listSpreads(repeats.map(({ sections }) => sections));
    const unsteady = listUnsteadyCases(repeats.map(({ run }) => run.cases));
    if (options.json)
      await print(formatJson({ ok: true, dataset: source.path, repeats: repeats.length, spread, unsteady }));
    else
      await print(
        `\n${toVisibleLines(renderSpread(`${source.name}, ${repeats.length} repeats`, spread, unsteady)).join('\n')}`,
      );
  }
}

/** Writes the reports that were requested, from all that was replayed. */
async function writeReports(
  reported: readonly ReportedRun[],
  options: ReplayCommandOptions,
  config: Config,
  gate: GateResult | null,
): Promise<void> {
  const suites = reported.map(({ heading, run }) => createCasesSuite(heading, run.cases));
  if (options.junit !== undefined)
    await writeOutput(
      options.junit,
      renderJunit([...suites, ...(gate === null ? [] : toJunit(gate))]),
      '--junit',
    );
  if (options.html !== undefined) {
    const { reportPage } = await import('./report-page.ts');
    await writeOutput(options.html, await reportPage(reported, options, config), '--html');
  }
}

/** Checks all runs against the bars. Every repeat must pass. */
async function judgeReported(
  gate: Gate | null,
  reported: readonly ReportedRun[],
): Promise<GateResult | null> {
  if (gate === null) return null;
  const repeats = new Set(reported.map(({ repeat }) => repeat)).size;
  const runs = reported.map(({ run, sections, repeat }) => ({
    name: basename(run.source.path),
    label: repeats === 1 ? run.source.name : `${run.source.name}, repeat ${repeat} of ${repeats}`,
    sections,
    cases: run.cases,
    isAll: run.stopped === null,
  }));
  return judgeGate(gate, runs);
}

/**
 * Prints the result of the gate, as lines for people or one line of JSON, and sets the exit code if it
 * failed.
 */
async function tellGate(
  result: GateResult | null,
  options: ReplayCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  if (result === null) return;
  if (options.json) await print(formatJson({ ok: result.ok, schema: 1, gate: result }));
  else await print(`\n${toVisibleLines(renderGate(result)).join('\n')}`);
  // A missed bar is more important than an unfinished run. After an interruption, the exit code is that of
  // the interruption.
  if (!result.ok && !signal.aborted) process.exitCode = EXIT.belowBar;
}
