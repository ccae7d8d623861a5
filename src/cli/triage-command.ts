import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { styleText } from 'node:util';
import { openClones } from '../app/open-adapters.ts';
import { modelOptions } from '../app/open-models.ts';
import { maskingOf } from '../config/masking.ts';
import type { Config } from '../config/schema.ts';
import type { Analysis, Step } from '../domain/analysis.ts';
import { type Build, sparseBuild } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import type { Experiment } from '../domain/experiment.ts';
import type { Reading } from '../domain/reading.ts';
import { present } from '../lib/collections.ts';
import { createMasker } from '../log/mask/mask.ts';
import { showsFailure } from '../log/recognise/failures.ts';
import { visibleLine } from '../notifications/visible-text.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { renderGithubCommands, renderPlain, renderTerminal } from '../service/answers/render.ts';
import { AnalysisTrace, renderTracePlain, renderTraceTree } from '../service/answers/trace.ts';
import { withExperiment } from '../service/experiments.ts';
import type { TriagedSources } from '../service/triage/triage-build.ts';
import { type ServerOptions, serverOf } from './command-parts.ts';
import { type LargeLog, openLargeLog, readArtifacts, readInput, readReports } from './input.ts';
import { type Progress, phaseText, startProgress } from './progress.ts';
import { askServer } from './server-client.ts';
import { EXIT, interruptSignal, jsonText, NO_FAILURE, print, reportError, tell, type Voice, voiceOf } from './terminal.ts';

export interface TriageCommandOptions {
  readonly files?: readonly string[];
  readonly junit?: string[];
  readonly repo?: string;
  readonly commit?: string;
  readonly greenCommit?: string;
  readonly green?: string;
  readonly analyst?: 'rules' | 'llm';
  readonly profile?: string;
  readonly budget?: number;
  readonly confirm?: string;
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly quiet?: boolean;
  readonly github?: boolean;
  readonly trace?: boolean;
  readonly exitCode?: boolean;
}

const LOCAL = 'local/build';
const GIT_MS = 10_000;
/** GitHub shows ten errors and ten warnings of a step; the main causes come first. */
const MAX_ANNOTATIONS = 10;

/** `faultline triage`: one answer per cause, from a log and a terminal, with no server and no key. */
export async function runTriage(path: string, options: TriageCommandOptions, config: Config): Promise<void> {
  if (options.analyst === 'llm') requireModel(config);
  const voice = voiceOf(options);
  const commits = await commitsOf(options);
  const progress = startProgress({ ...voice, quiet: voice.quiet || options.json === true });
  try {
    const { analyses: answers, reading, groups } = await answer(path, { ...options, ...commits }, config, progress);
    if (answers.length === 0) throw new TriageError('internal', 'No answer was produced. Please report this log');
    if (hasNoFailure(answers, reading)) {
      progress.stop();
      return await tellNoFailure(reading, options, voice);
    }
    // Whatever comes of it, the answer is shown.
    const { experiment, failed } = await confirmed(reading, options, progress).catch((error: unknown) => ({
      experiment: null,
      failed: error,
    }));
    const analyses = experiment === null ? answers : withExperiment(answers, groups, experiment);
    progress.stop();
    const traces = options.trace ? await tracesOf(analyses, config) : [];
    if (options.json) await print(jsonText(jsonOf(analyses, reading, traces)));
    else await print(render(path, analyses, options, voice) + (options.github ? '' : shown(traces, voice)));
    if (options.exitCode) process.exitCode = verdictCode(analyses);
    if (failed !== null) await reportError(failed, false);
  } finally {
    progress.stop();
  }
}

const CONFIRM_RUNS = 5;
const CONFIRM_MS = 15 * 60_000;

/** What running the failing command again shows, also where it is interrupted; null where that was not asked for. */
async function confirmed(
  { failingTests }: Reading,
  { confirm, repo }: TriageCommandOptions,
  progress: Progress,
): Promise<{ readonly experiment: Experiment | null; readonly failed: unknown }> {
  if (confirm === undefined) return { experiment: null, failed: null };
  const { confirm: runAgain } = await import('../experiments/confirm.ts');
  const { outputReader, progressLine } = await import('../experiments/outcome.ts');
  const { argumentsOf } = await import('../experiments/run-command.ts');
  const command = { argv: argumentsOf(confirm), cwd: resolve(repo ?? '.'), env: process.env, tests: failingTests };
  const options = { ...command, base: undefined, runs: CONFIRM_RUNS, limitMs: CONFIRM_MS, conditions: true, keepsPart: true };
  const deps = { read: outputReader(), onRun: (...run: Parameters<typeof progressLine>) => progress.phase(progressLine(...run)) };
  return { experiment: await runAgain(options, deps, interruptSignal()), failed: null };
}

/** Whoever names the model wants no answer of the rules. Throws `invalid-config` where none is configured. */
function requireModel({ analyst }: Config): void {
  if (modelOptions(analyst.llm) !== null) return;
  const message =
    'No model is configured for --analyst llm. Set OPENAI_API_KEY, AZURE_OPENAI_ENDPOINT, or OPENAI_BASE_URL for a server that needs no key; or use --analyst rules';
  throw new TriageError('invalid-config', message);
}

/** Nothing that was read says that something failed, and whoever judged found no cause either. */
function hasNoFailure(analyses: readonly Analysis[], reading: Reading): boolean {
  return !showsFailure(reading) && analyses.every(({ classification, kind }) => classification.abstained && kind === 'unknown');
}

async function tellNoFailure(reading: Reading, { json, github }: TriageCommandOptions, { color }: Voice): Promise<void> {
  process.exitCode = EXIT.noFailure;
  if (json) return print(jsonText(noFailureJson(reading, NO_FAILURE)));
  if (github) return print(`::notice title=Faultline::${NO_FAILURE}\n`);
  const advice = 'If the build failed, pass the log of the failed step, or the whole log.';
  const notes = reading.notes.map((note) => `Note\t${visibleLine(note)}\n`).join('');
  return print(color ? `${NO_FAILURE}\n${advice}\n` : `Result\t${NO_FAILURE}\nAdvice\t${advice}\n${notes}`);
}

async function answer(path: string, options: TriageCommandOptions, config: Config, progress: Progress): Promise<TriagedSources> {
  progress.phase(`reading ${path === '-' ? 'standard input' : visibleLine(path)}`);
  const large = await openLargeLog(path, createMasker(maskingOf(config)));
  try {
    return await answerFrom(path, large, options, config, progress);
  } finally {
    large?.close();
  }
}

async function answerFrom(
  path: string,
  large: LargeLog | null,
  options: TriageCommandOptions,
  config: Config,
  progress: Progress,
): Promise<TriagedSources> {
  const limit = config.http.maxLogBytes;
  const log = large === null ? await readInput(path, limit) : [large.source];
  const sources = [...log, ...(await readReports(options.junit ?? [], limit)), ...(await readArtifacts(options.files ?? [], limit))];
  const green = options.green === undefined ? undefined : (await readInput(options.green, limit)).map((source) => source.text).join('\n');
  // Not before everything is read: until then Ctrl-C ends the process at once, also where a pipe has no writer.
  const signal = interruptSignal();
  // Not before the input is known to be readable: a mistyped name is answered at once.
  const { createTerminalApp } = await import('../app/terminal-app.ts');
  const app = await createTerminalApp(effective(config, options), silentLogger);
  const known: string[] = [];
  const onStep = (step: Step) => {
    const text = phaseText(step);
    known.push(text);
    progress.phase(text);
  };
  const around = { onStep, maskedSecrets: large?.secrets ?? 0, ...present({ greenText: green, greenCommit: options.greenCommit }) };
  try {
    return await app.triage({ ...localBuild(), commit: options.commit ?? null }, sources, signal, around);
  } catch (error) {
    if (!signal.aborted) throw error;
    const knownText = known.length === 0 ? 'No results yet.' : `Results so far: ${known.join('; ')}.`;
    throw new TriageError('cancelled', `Interrupted. ${knownText}`, { cause: error, details: { steps: known } });
  } finally {
    await app.flush();
  }
}

async function tracesOf(analyses: readonly Analysis[], config: Config): Promise<AnalysisTrace[]> {
  const { traceOf } = await import('../service/answers/trace.ts');
  const masker = createMasker(maskingOf(config));
  return await Promise.all(analyses.map((analysis) => traceOf(analysis, async (text) => (await masker.mask(text)).text)));
}

function shown(traces: readonly AnalysisTrace[], voice: Voice): string {
  return traces.map((trace) => `\n${renderTrace(trace, voice)}`).join('');
}

/** The commits that were named, as ids, and the one that is checked out where none was. Throws where the clone does not have them. */
async function commitsOf({
  repo,
  commit,
  greenCommit,
}: TriageCommandOptions): Promise<Pick<TriageCommandOptions, 'commit' | 'greenCommit'>> {
  if (repo === undefined) {
    const named = commit === undefined ? (greenCommit === undefined ? null : '--green-commit') : '--commit';
    if (named !== null) throw new TriageError('invalid-config', `${named} needs a clone: add --repo.`);
    return {};
  }
  if (statSync(repo, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new TriageError('not-found', `--repo: ${visibleLine(repo)} is not a folder.`);
  const clone = await openClones({ [LOCAL]: resolve(repo) });
  const idOf = async (option: string, name: string) => {
    const { ref, note } = await clone.resolve({ repository: LOCAL, ref: name }, AbortSignal.timeout(GIT_MS));
    if (ref !== null && note === null) return ref;
    const missing = `has no commit, branch or tag called ${visibleLine(name)}`;
    throw new TriageError('not-found', `${option}: the clone ${visibleLine(repo)} ${missing}.`);
  };
  const head =
    commit === undefined
      ? (await clone.resolve({ repository: LOCAL, ref: null }, AbortSignal.timeout(GIT_MS))).ref
      : await idOf('--commit', commit);
  const green = greenCommit === undefined ? undefined : await idOf('--green-commit', greenCommit);
  return present({ commit: head ?? undefined, greenCommit: green });
}

function effective(config: Config, options: TriageCommandOptions): Config {
  const clones = options.repo === undefined ? config.codeHost.clones : { ...config.codeHost.clones, [LOCAL]: resolve(options.repo) };
  return {
    ...config,
    // A log names no repository: only the clone that was named here can be its.
    codeHost: { driver: 'local-git', clones },
    analyst: { ...config.analyst, driver: options.analyst ?? config.analyst.driver },
    triage: { ...config.triage, budgetTokens: options.budget ?? config.triage.budgetTokens },
  };
}

function render(path: string, analyses: readonly Analysis[], options: TriageCommandOptions, voice: Voice): string {
  if (options.github)
    return analyses
      .slice(0, MAX_ANNOTATIONS)
      .map((analysis) => renderGithubCommands(analysis))
      .join('');
  if (!voice.color) return analyses.map((analysis) => renderPlain(analysis)).join('\n');
  return terminalBlocks(analyses, voice) + (voice.quiet || path === '-' ? '' : `\n${hints(path, options)}\n`);
}

/** What a terminal shows of the causes: a block each, under a rule with its title. */
export function terminalBlocks(analyses: readonly Analysis[], voice: Pick<Voice, 'color' | 'width'>): string {
  const rule = (title: string) => `── ${title} ${'─'.repeat(Math.max(0, voice.width - title.length - 4))}\n`;
  const titles = analyses.map((_, index) => (analyses.length === 1 ? 'result' : `cause ${index + 1} of ${analyses.length}`));
  return analyses.map((analysis, index) => `${rule(titles[index] ?? 'result')}${renderTerminal(analysis, voice)}`).join('\n');
}

/** What a person may want next; each is a command that works as it is here. */
function hints(path: string, options: TriageCommandOptions): string {
  const input = /^[\w./@:+-]+$/.test(path) ? path : `'${visibleLine(path).replaceAll("'", "'\\''")}'`;
  const all = [
    `Ask more:  faultline ask ${input} "why now?"`,
    `Show excerpts:  faultline read ${input}`,
    options.repo === undefined ? `Find suspects:  faultline triage ${input} --repo .` : `All evidence:  faultline triage ${input} --json`,
  ];
  return styleText('dim', all.join('     '), { validateStream: false });
}

function verdictCode(analyses: readonly Analysis[]): number {
  if (analyses.some((analysis) => analysis.verdict.action !== 'auto_notify')) return EXIT.needsPerson;
  return analyses.every((analysis) => analysis.category === 'INFRA_ERROR') ? EXIT.infrastructure : EXIT.ok;
}

/** The build that a log from nowhere belongs to. */
export function localBuild(): Build {
  return { ...sparseBuild({ repository: LOCAL, pipeline: 'terminal', number: '1' }), id: 'local', receivedAt: new Date().toISOString() };
}

/** The terminal's JSON: one object, the main cause on top, further ones in `otherCauses`, the names of all failing tests in `tests`. `traces` are in the same order, where asked for. `schema` rises when a field changes meaning. */
function jsonOf(analyses: readonly Analysis[], reading: Reading, traces: readonly AnalysisTrace[] = []): object {
  const [main, ...rest] = analyses.map((analysis) => causeOf(analysis));
  return {
    ok: true,
    schema: 1,
    failureFound: true,
    ...main,
    otherCauses: rest,
    tests: [...new Set(reading.failingTests.map(({ name }) => name))],
    ...(traces.length === 0 ? {} : { traces }),
    log: logOf(reading),
  };
}

/** The same shape for a log in which nothing failed: no category, no cause, and a sentence that says so. */
function noFailureJson(reading: Reading, message: string): object {
  const { notes } = reading;
  const nothing = { category: null, kind: null, message, otherCauses: [], tests: [] };
  return { ok: true, schema: 1, failureFound: false, ...nothing, notes, log: logOf(reading) };
}

function logOf({ sources, tokens, maskedSecrets }: Reading): object {
  return { lines: sources.reduce((total, source) => total + source.lines, 0), tokens, maskedSecrets };
}

function causeOf(analysis: Analysis): object {
  const { answer, verdict, usage } = analysis;
  return {
    id: analysis.id,
    category: analysis.category,
    kind: analysis.kind,
    confidence: verdict.confidence,
    calibrated: verdict.calibration !== undefined,
    abstained: analysis.classification.abstained,
    probabilities: analysis.classification.probabilities,
    because: analysis.classification.because,
    record: analysis.classification.record ?? null,
    action: verdict.action,
    title: answer.title,
    rootCause: answer.rootCause,
    fix: answer.fixRecommendation,
    claims: answer.claims,
    evidence: analysis.evidence.map(({ id, tool, title, source, lineStart, lineEnd, text, url, score }) => {
      return { id, tool, title, source, lineStart, lineEnd, text, url, score };
    }),
    suspects: answer.suspects,
    hypotheses: answer.hypotheses,
    reasons: verdict.reasons,
    notes: analysis.notes,
    fingerprint: analysis.fingerprint,
    usage: { seconds: analysis.milliseconds / 1000, ...usage },
    analyst: analysis.analyst,
    model: analysis.model,
    terminationReason: analysis.terminationReason,
    experiment: analysis.experiment ?? null,
  };
}

/** `faultline trace ID`: what an analysis did, from a running service. */
export async function runTrace(id: string, options: ServerOptions): Promise<void> {
  const trace = await askServer(await serverOf(options), 'GET', `/api/analyses/${encodeURIComponent(id)}/trace`, AnalysisTrace);
  return tell(options, { trace }, renderTrace(trace, voiceOf({})));
}

/** A tree on a terminal, `Key<tab>value` lines in a pipe. */
function renderTrace(trace: AnalysisTrace, voice: Voice): string {
  return voice.color ? renderTraceTree(trace, voice) : renderTracePlain(trace);
}
