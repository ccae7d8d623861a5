import { resolve } from 'node:path';
import { toConnectionOptions } from '../../app/open-models.ts';
import { createMaskingOptions } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import type { Analysis } from '../../domain/analysis.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Experiment } from '../../domain/experiment.ts';
import type { Reading } from '../../domain/reading.ts';
import { showsFailure } from '../../log/fingerprint/failures.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { type ArrangedAnswer, arrangeAnswers, pairWithFailures } from '../../notifications/build-answers.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import type { Person } from '../../ports/toolbox.ts';
import { AnalysisTrace, renderTracePlain, renderTraceTree } from '../../service/answers/trace.ts';
import { withExperiment } from '../../service/experiments.ts';
import { resolveService, type ServerOptions } from '../command-parts.ts';
import { openKeyboard } from '../keyboard.ts';
import { type Progress, startProgress } from '../progress.ts';
import { askServer } from '../server-client.ts';
import {
  createInterruptSignal,
  createOutputStyle,
  EXIT,
  formatJson,
  NO_FAILURE,
  type OutputStyle,
  print,
  printResult,
  reportError,
} from '../terminal.ts';
import type { ListedInput } from './input.ts';
import { openTriageInput, type TriageInput, type TriageInputOptions } from './triage-input.ts';
import { formatNoFailure, formatTriage } from './triage-json.ts';
import { renderAnnotations, renderAnswers, renderFileHead, renderHints } from './triage-text.ts';

export interface TriageCommandOptions extends TriageInputOptions {
  readonly files?: readonly string[];
  readonly profile?: string;
  readonly confirm?: string;
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly quiet?: boolean;
  readonly github?: boolean;
  readonly trace?: boolean;
  readonly exitCode?: boolean;
  readonly each?: boolean;
}

/** Runs `faultline triage`: answers each cause in a log, on a terminal, without a server or a key. */
export async function runTriage(path: string, options: TriageCommandOptions, config: Config): Promise<void> {
  const run = await openTriageRun(options, config);
  const { analyses, failed } = await answerInput(
    { path, isFound: false, files: options.files ?? [], name: null },
    run,
  );
  setExitCode(computeExitCode([analyses], options));
  if (failed !== null) await reportError(failed, false);
}

/**
 * Opens the resources that all inputs of a call share. Throws `invalid-config` and `not-found` if an option
 * names something that does not exist.
 */
export async function openTriageRun(options: TriageCommandOptions, config: Config): Promise<TriageRun> {
  if (options.analyst === 'llm') requireModel(config);
  return {
    options,
    config,
    style: createOutputStyle(options),
    triage: await openTriageInput(options, config),
  };
}

/** One call of the command. */
export interface TriageRun {
  readonly options: TriageCommandOptions;
  readonly config: Config;
  readonly style: OutputStyle;
  readonly triage: TriageInput;
}

interface NamedInput extends ListedInput {
  readonly files: readonly string[];
  /** The name of the input among several; null if it is the only one. */
  readonly name: string | null;
}

interface AnsweredInput {
  /** The answers; none if nothing failed. */
  readonly analyses: readonly Analysis[];
  /** The error that prevented a rerun of the failing command; null if it ran or was not requested. */
  readonly failed: unknown;
}

/** Answers one input and prints the answers. */
export async function answerInput(input: NamedInput, run: TriageRun): Promise<AnsweredInput> {
  const { options, style, triage } = run;
  const progress = startProgress({ ...style, quiet: style.quiet || options.json === true });
  try {
    const {
      analyses: found,
      reading,
      groups,
    } = await triage(input, input.files, progress, openPerson(run, progress));
    if (found.length === 0)
      throw new TriageError('internal', 'No answer was produced. Please report this log');
    if (hasNoFailure(found, reading)) {
      progress.stop();
      await tellNoFailure(reading, input.name, options, style);
      return { analyses: [], failed: null };
    }
    // The answer is shown whatever the result.
    const tried = await confirmFailure(reading, options, progress).catch((failed: unknown) => ({
      experiment: null,
      failed,
    }));
    const analyses = tried.experiment === null ? found : withExperiment(found, groups, tried.experiment);
    progress.stop();
    await printAnswers(arrangeAnswers(pairWithFailures(analyses, groups)), reading, input, run);
    return { analyses, failed: tried.failed };
  } finally {
    progress.stop();
  }
}

/** Opens the person whom a model may ask: only on a terminal, and not where a program reads the output. */
function openPerson({ options, style, config }: TriageRun, progress: Progress): Person | undefined {
  const isModel = (options.analyst ?? config.analyst.driver) === 'llm';
  const isRead = options.json === true || options.github === true || style.quiet;
  return isModel && !isRead ? openKeyboard(progress) : undefined;
}

async function printAnswers(
  answers: readonly ArrangedAnswer[],
  reading: Reading,
  { path, name }: NamedInput,
  { options, config, style }: TriageRun,
): Promise<void> {
  const traces = options.trace ? await buildTraces(answers, config) : [];
  if (options.json) return await print(formatJson(formatTriage(answers, reading, traces, name)));
  if (options.github) return await print(renderAnnotations(answers));
  const hasHints = style.color && !style.quiet && path !== '-' && name === null && options.run === undefined;
  const hints = hasHints ? renderHints(path, options.repo) : '';
  await print(
    `${renderHead(name, style)}${renderAnswers(answers, style)}${hints}${renderTraces(traces, style)}`,
  );
}

/** Sets the exit code unless it is 0. An interruption has set its own code. */
export function setExitCode(code: number): void {
  if (code !== EXIT.ok) process.exitCode = code;
}

const CONFIRM_RUNS = 5;
const CONFIRM_MS = 15 * 60_000;

/**
 * Runs the failing command again and returns the result, even if interrupted; null if that was not requested.
 */
async function confirmFailure(
  { failingTests }: Reading,
  { confirm, repo }: TriageCommandOptions,
  progress: Progress,
): Promise<{ readonly experiment: Experiment | null; readonly failed: unknown }> {
  if (confirm === undefined) return { experiment: null, failed: null };
  const { confirm: runAgain } = await import('../../experiments/confirm.ts');
  const { outputReader, formatProgressLine } = await import('../../experiments/outcome.ts');
  const { splitArguments } = await import('../../experiments/run-command.ts');
  const command = {
    argv: splitArguments(confirm),
    cwd: resolve(repo ?? '.'),
    env: process.env,
    tests: failingTests,
  };
  const options = {
    ...command,
    base: undefined,
    runs: CONFIRM_RUNS,
    limitMs: CONFIRM_MS,
    conditions: true,
    keepsPart: true,
  };
  const deps = {
    read: outputReader(),
    onRun: (...run: Parameters<typeof formatProgressLine>) => progress.phase(formatProgressLine(...run)),
  };
  return { experiment: await runAgain(options, deps, createInterruptSignal()), failed: null };
}

/**
 * Throws `invalid-config` if no model is configured. A user who requests the model does not want an answer by
 * rules.
 */
function requireModel({ analyst }: Config): void {
  if (toConnectionOptions(analyst.llm) !== null) return;
  const message =
    'No model is configured for --analyst llm. Set OPENAI_API_KEY, AZURE_OPENAI_ENDPOINT, or ' +
    'OPENAI_BASE_URL for a server that needs no key; or use --analyst rules';
  throw new TriageError('invalid-config', message);
}

/** Checks whether nothing in the reading indicates a failure and the analyst found no cause either. */
function hasNoFailure(analyses: readonly Analysis[], reading: Reading): boolean {
  return (
    !showsFailure(reading) &&
    analyses.every(({ classification, kind }) => classification.abstained && kind === 'unknown')
  );
}

async function tellNoFailure(
  reading: Reading,
  file: string | null,
  { json, github }: TriageCommandOptions,
  style: OutputStyle,
): Promise<void> {
  if (json) return print(formatJson(formatNoFailure(reading, NO_FAILURE, file)));
  if (github) return print(`::notice title=Faultline::${NO_FAILURE}\n`);
  const advice = 'If the build failed, pass the log of the failed step, or the whole log.';
  const notes = reading.notes.map((note) => `Note\t${toVisibleLine(note)}\n`).join('');
  const headline = style.color
    ? `${NO_FAILURE}\n${advice}\n`
    : `Result\t${NO_FAILURE}\nAdvice\t${advice}\n${notes}`;
  return print(`${renderHead(file, style)}${headline}`);
}

function renderHead(file: string | null, style: OutputStyle): string {
  return file === null ? '' : renderFileHead(file, style);
}

async function buildTraces(answers: readonly ArrangedAnswer[], config: Config): Promise<AnalysisTrace[]> {
  const { buildTrace } = await import('../../service/answers/trace.ts');
  const masker = createMasker(createMaskingOptions(config));
  return await Promise.all(
    answers.map(({ analysis }) => buildTrace(analysis, async (text) => (await masker.mask(text)).text)),
  );
}

function renderTraces(traces: readonly AnalysisTrace[], style: OutputStyle): string {
  return traces.map((trace) => `\n${renderTrace(trace, style)}`).join('');
}

/** Returns the exit code for the answers of all inputs: 5 only if nothing failed in any of them. */
export function computeExitCode(
  inputs: readonly (readonly Analysis[])[],
  { exitCode }: TriageCommandOptions,
): number {
  const analyses = inputs.flat();
  if (analyses.length === 0) return EXIT.noFailure;
  if (!exitCode) return EXIT.ok;
  if (analyses.some(({ verdict }) => verdict.action !== 'auto_notify')) return EXIT.needsPerson;
  return analyses.every(({ category }) => category === 'INFRA_ERROR') ? EXIT.infrastructure : EXIT.ok;
}

/** Runs `faultline trace ID`: shows the steps of an analysis from a running service. */
export async function runTrace(id: string, options: ServerOptions): Promise<void> {
  const trace = await askServer(
    await resolveService(options),
    'GET',
    `/api/analyses/${encodeURIComponent(id)}/trace`,
    AnalysisTrace,
  );
  return printResult(options, { trace }, renderTrace(trace, createOutputStyle({})));
}

/** Renders a tree on a terminal, and `Key<tab>value` lines in a pipe. */
function renderTrace(trace: AnalysisTrace, style: OutputStyle): string {
  return style.color ? renderTraceTree(trace, style) : renderTracePlain(trace);
}
