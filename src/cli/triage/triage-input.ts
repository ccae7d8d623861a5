import { resolve } from 'node:path';
import { openClones } from '../../app/open-adapters.ts';
import type { TerminalApp } from '../../app/terminal-app.ts';
import { createMaskingOptions } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import type { Step } from '../../domain/analysis.ts';
import { type Build, createSparseBuild, type SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { createGit, getTrustedPath, isSuccess } from '../../git/command.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { createMasker } from '../../log/mask/mask.ts';
import type { LogInPieces } from '../../log/read-log.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import type { Person } from '../../ports/toolbox.ts';
import type { TriagedSources } from '../../service/triage/triage-build.ts';
import { formatPhaseText, type Progress } from '../progress.ts';
import { createInterruptSignal, say } from '../terminal.ts';
import {
  isDirectory,
  type LargeLog,
  type ListedInput,
  openLargeLog,
  readArtifacts,
  readInput,
  readReports,
} from './input.ts';
import { requireOneBuild } from './one-build.ts';

export interface TriageInputOptions {
  readonly junit?: string[];
  readonly repo?: string;
  readonly commit?: string;
  readonly greenCommit?: string;
  /** The path of the log of a passed build. */
  readonly green?: string;
  readonly analyst?: 'rules' | 'llm';
  readonly budget?: number;
  /** The failed run to fetch and triage instead of a file. */
  readonly run?: string;
}

/**
 * A function that triages one log, archive or directory, with further files of the same build.
 */
export type TriageInput = (
  input: ListedInput,
  files: readonly string[],
  progress: Progress,
  person?: Person,
) => Promise<TriagedSources>;

/** The repository of a log that names none. */
const LOCAL_REPOSITORY = 'local/build';
/** Time limit of one call of git, in milliseconds. */
const GIT_TIME_LIMIT_MS = 10_000;

/**
 * Returns a function that triages inputs. The application is opened at the first input and shared by the
 * others. Throws if the clone does not have the commits that were named.
 */
export async function openTriageInput(requested: TriageInputOptions, config: Config): Promise<TriageInput> {
  const options = { ...requested, ...(await resolveCommits(requested)) };
  let opened: Promise<TerminalApp> | undefined;
  const openApp = async () => {
    const { createTerminalApp } = await import('../../app/terminal-app.ts');
    opened ??= createTerminalApp(toEffectiveConfig(config, options), silentLogger);
    return await opened;
  };
  return async (input, files, progress, person) => {
    if (options.run !== undefined) {
      const signal = createInterruptSignal();
      progress.phase(`fetching ${toVisibleLine(options.run)}`);
      const read = await readRun(options.run, files, { options, config, signal });
      return await triageSources(await openApp(), read, {
        ...options,
        signal,
        progress,
        person,
        maskedSecrets: 0,
      });
    }
    const { path } = input;
    progress.phase(`reading ${path === '-' ? 'standard input' : toVisibleLine(path)}`);
    const large = await openLargeLog(path, createMasker(createMaskingOptions(config)));
    try {
      const read = await readSources(input, files, large, options, config);
      // Install the interrupt handler only after reading. Until then Ctrl-C ends the process at once, even
      // while a pipe has no writer.
      const signal = createInterruptSignal();
      // Open the application only after reading, so that a mistyped path fails at once.
      const app = await openApp();
      return await triageSources(app, read, {
        ...options,
        signal,
        progress,
        person,
        maskedSecrets: large?.secrets ?? 0,
      });
    } finally {
      large?.close();
    }
  };
}

type Sources = readonly (SourceText | LogInPieces)[];

interface ReadInput {
  readonly build: Build;
  readonly sources: Sources;
  readonly greenText: string | undefined;
}

async function readSources(
  { path, isFound }: ListedInput,
  files: readonly string[],
  large: LargeLog | null,
  { junit = [], green }: TriageInputOptions,
  config: Config,
): Promise<ReadInput> {
  const limit = config.http.maxLogBytes;
  const logs: Sources = large === null ? await readInput(path, limit, isFound) : [large.source];
  const reports = await readReports(junit, limit);
  const artifacts = await readArtifacts(files, limit);
  requireOneBuild([...logs, ...artifacts], { allowUnrelated: !isDirectory(path) });
  const greenText = green === undefined ? undefined : await readGreen(green, limit);
  return { build: createLocalBuild(), sources: [...logs, ...reports, ...artifacts], greenText };
}

/** Fetches a run from its CI, and reads the further files that were named. */
async function readRun(
  run: string,
  files: readonly string[],
  {
    options: { junit = [], green, repo },
    config,
    signal,
  }: { readonly options: TriageInputOptions; readonly config: Config; readonly signal: AbortSignal },
): Promise<ReadInput> {
  const { fetchNamedRun } = await import('../../app/named-run.ts');
  const folder = resolve(repo ?? '.');
  const remote = async () => await findRemote(folder, signal);
  const { build, fetched } = await fetchNamedRun(config, run, { remote, logger: silentLogger, signal });
  for (const note of fetched.notes) say(`faultline triage: ${toVisibleLine(note)}`);
  const limit = config.http.maxLogBytes;
  const further = [...(await readReports(junit, limit)), ...(await readArtifacts(files, limit))];
  return {
    build: { ...build, id: 'local', receivedAt: new Date().toISOString() },
    sources: [...fetched.sources, ...further],
    greenText: green === undefined ? undefined : await readGreen(green, limit),
  };
}

/** Returns the URL of a clone's remote `origin`. Null if the folder is no clone, or has none. */
async function findRemote(folder: string, signal: AbortSignal): Promise<string | null> {
  const ask = createGit({
    path: getTrustedPath(process.env.PATH, folder),
    timeoutMs: GIT_TIME_LIMIT_MS,
    searchesUpward: true,
  });
  const answer = await ask(folder, ['config', '--get', 'remote.origin.url'], signal);
  return isSuccess(answer) ? answer.output.trim() : null;
}

async function readGreen(path: string, limit: number): Promise<string> {
  return (await readInput(path, limit)).map((source) => source.text).join('\n');
}

interface TriageRun {
  readonly repo?: string;
  readonly commit?: string;
  readonly greenCommit?: string;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly maskedSecrets: number;
  readonly person?: Person | undefined;
}

async function triageSources(
  app: TerminalApp,
  { build, sources, greenText }: ReadInput,
  options: TriageRun,
): Promise<TriagedSources> {
  const { repo, commit, greenCommit, signal, progress, maskedSecrets, person } = options;
  const finishedSteps: string[] = [];
  const onStep = (step: Step) => {
    const text = formatPhaseText(step);
    finishedSteps.push(text);
    progress.phase(text);
  };
  try {
    const isLocal = build.repository === LOCAL_REPOSITORY;
    const clone = repo === undefined || isLocal ? undefined : resolve(repo);
    const given = omitUndefined({ greenText, greenCommit, clone, person });
    const triageOptions = { onStep, maskedSecrets, ...given };
    return await app.triage({ ...build, commit: commit ?? build.commit }, sources, signal, triageOptions);
  } catch (error) {
    if (!signal.aborted) throw error;
    const progressText =
      finishedSteps.length === 0 ? 'No results yet.' : `Results so far: ${finishedSteps.join('; ')}.`;
    throw new TriageError('cancelled', `Interrupted. ${progressText}`, {
      cause: error,
      details: { steps: finishedSteps },
    });
  } finally {
    await app.flush();
  }
}

/** Creates a placeholder build for a log that was not received from a CI system. */
export function createLocalBuild(): Build {
  return {
    ...createSparseBuild({ repository: LOCAL_REPOSITORY, pipeline: 'terminal', number: '1' }),
    id: 'local',
    receivedAt: new Date().toISOString(),
  };
}

/**
 * Resolves `--commit` and `--green-commit` to ids. Without `--commit`, uses the commit that is checked out.
 * Throws `not-found` if the clone does not contain one of them, and `invalid-config` if an option needs a
 * clone.
 */
async function resolveCommits({
  run,
  repo,
  commit,
  greenCommit,
}: TriageInputOptions): Promise<Pick<TriageInputOptions, 'commit' | 'greenCommit'>> {
  if (repo === undefined) {
    const options = { '--commit': commit, '--green-commit': greenCommit };
    const [option] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
    if (option !== undefined) throw new TriageError('invalid-config', `${option} needs a clone: add --repo.`);
    return {};
  }
  if (!isDirectory(repo))
    throw new TriageError('not-found', `--repo: ${toVisibleLine(repo)} is not a directory.`);
  const clone = await openClones({ [LOCAL_REPOSITORY]: resolve(repo) });
  const resolveId = async (option: string, name: string) => {
    const { ref, note } = await clone.resolve(
      { repository: LOCAL_REPOSITORY, ref: name },
      AbortSignal.timeout(GIT_TIME_LIMIT_MS),
    );
    if (ref !== null && note === null) return ref;
    const missing = `has no commit, branch or tag called ${toVisibleLine(name)}`;
    throw new TriageError('not-found', `${option}: the clone ${toVisibleLine(repo)} ${missing}.`);
  };
  const readHead = async () =>
    (await clone.resolve({ repository: LOCAL_REPOSITORY, ref: null }, AbortSignal.timeout(GIT_TIME_LIMIT_MS)))
      .ref;
  // A run says itself which commit was built.
  const checkedOut = async () => (run === undefined ? await readHead() : null);
  const head = commit === undefined ? await checkedOut() : await resolveId('--commit', commit);
  const green = greenCommit === undefined ? undefined : await resolveId('--green-commit', greenCommit);
  return omitUndefined({ commit: head ?? undefined, greenCommit: green });
}

function toEffectiveConfig(config: Config, options: TriageInputOptions): Config {
  const clones =
    options.repo === undefined
      ? config.codeHost.clones
      : { ...config.codeHost.clones, [LOCAL_REPOSITORY]: resolve(options.repo) };
  return {
    ...config,
    // Only the clone given by --repo can be the log's repository. Other clones and code hosts are not used.
    codeHost: { driver: 'local-git', clones },
    analyst: { ...config.analyst, driver: options.analyst ?? config.analyst.driver },
    triage: { ...config.triage, budgetTokens: options.budget ?? config.triage.budgetTokens },
  };
}
