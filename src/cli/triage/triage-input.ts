import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openClones } from '../../app/open-adapters.ts';
import type { TerminalApp } from '../../app/terminal-app.ts';
import { createMaskingOptions } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import type { Step } from '../../domain/analysis.ts';
import { type Build, createSparseBuild, type SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { createMasker } from '../../log/mask/mask.ts';
import type { LogInPieces } from '../../log/read-log.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import type { TriagedSources } from '../../service/triage/triage-build.ts';
import { formatPhaseText, type Progress } from '../progress.ts';
import { createInterruptSignal } from '../terminal.ts';
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
  readonly green?: string;
  readonly analyst?: 'rules' | 'llm';
  readonly budget?: number;
}

/**
 * Answers what the command line names: a log, an archive or a directory, with further files of the same
 * build.
 */
export type TriageInput = (
  input: ListedInput,
  files: readonly string[],
  progress: Progress,
) => Promise<TriagedSources>;

const LOCAL = 'local/build';
const GIT_MS = 10_000;

/**
 * Opens what every input of one call is answered by, with the first of them. Throws if the clone does not
 * have the commits that were named.
 */
export async function openTriageInput(given: TriageInputOptions, config: Config): Promise<TriageInput> {
  const options = { ...given, ...(await resolveCommits(given)) };
  let opened: Promise<TerminalApp> | undefined;
  const openApp = async () => {
    const { createTerminalApp } = await import('../../app/terminal-app.ts');
    opened ??= createTerminalApp(toEffectiveConfig(config, options), silentLogger);
    return await opened;
  };
  return async (input, files, progress) => {
    const { path } = input;
    progress.phase(`reading ${path === '-' ? 'standard input' : toVisibleLine(path)}`);
    const large = await openLargeLog(path, createMasker(createMaskingOptions(config)));
    try {
      const read = await readSources(input, files, large, options, config);
      // Not before everything is read: until then Ctrl-C ends the process at once, also if a pipe has no
      // writer.
      const signal = createInterruptSignal();
      // Not before the input is known to be readable: a mistyped name is answered at once.
      const app = await openApp();
      return await triageRead(app, read, {
        ...options,
        signal,
        progress,
        maskedSecrets: large?.secrets ?? 0,
      });
    } finally {
      large?.close();
    }
  };
}

type Sources = readonly (SourceText | LogInPieces)[];

interface ReadInput {
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
  requireOneBuild([...logs, ...artifacts], { mayShareNothing: !isDirectory(path) });
  const greenText =
    green === undefined ? undefined : (await readInput(green, limit)).map((source) => source.text).join('\n');
  return { sources: [...logs, ...reports, ...artifacts], greenText };
}

interface TriageReadOptions {
  readonly commit?: string;
  readonly greenCommit?: string;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly maskedSecrets: number;
}

async function triageRead(
  app: TerminalApp,
  { sources, greenText }: ReadInput,
  options: TriageReadOptions,
): Promise<TriagedSources> {
  const { commit, greenCommit, signal, progress, maskedSecrets } = options;
  const known: string[] = [];
  const onStep = (step: Step) => {
    const text = formatPhaseText(step);
    known.push(text);
    progress.phase(text);
  };
  try {
    const around = { onStep, maskedSecrets, ...omitUndefined({ greenText, greenCommit }) };
    return await app.triage({ ...createLocalBuild(), commit: commit ?? null }, sources, signal, around);
  } catch (error) {
    if (!signal.aborted) throw error;
    const knownText = known.length === 0 ? 'No results yet.' : `Results so far: ${known.join('; ')}.`;
    throw new TriageError('cancelled', `Interrupted. ${knownText}`, {
      cause: error,
      details: { steps: known },
    });
  } finally {
    await app.flush();
  }
}

/** Creates the build for a log that comes from no CI. */
export function createLocalBuild(): Build {
  return {
    ...createSparseBuild({ repository: LOCAL, pipeline: 'terminal', number: '1' }),
    id: 'local',
    receivedAt: new Date().toISOString(),
  };
}

/**
 * Resolves the named commits to ids, or takes the commit that is checked out if none was named. Throws if the
 * clone does not contain them.
 */
async function resolveCommits({
  repo,
  commit,
  greenCommit,
}: TriageInputOptions): Promise<Pick<TriageInputOptions, 'commit' | 'greenCommit'>> {
  if (repo === undefined) {
    const named = commit === undefined ? (greenCommit === undefined ? null : '--green-commit') : '--commit';
    if (named !== null) throw new TriageError('invalid-config', `${named} needs a clone: add --repo.`);
    return {};
  }
  if (statSync(repo, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new TriageError('not-found', `--repo: ${toVisibleLine(repo)} is not a folder.`);
  const clone = await openClones({ [LOCAL]: resolve(repo) });
  const resolveId = async (option: string, name: string) => {
    const { ref, note } = await clone.resolve({ repository: LOCAL, ref: name }, AbortSignal.timeout(GIT_MS));
    if (ref !== null && note === null) return ref;
    const missing = `has no commit, branch or tag called ${toVisibleLine(name)}`;
    throw new TriageError('not-found', `${option}: the clone ${toVisibleLine(repo)} ${missing}.`);
  };
  const head =
    commit === undefined
      ? (await clone.resolve({ repository: LOCAL, ref: null }, AbortSignal.timeout(GIT_MS))).ref
      : await resolveId('--commit', commit);
  const green = greenCommit === undefined ? undefined : await resolveId('--green-commit', greenCommit);
  return omitUndefined({ commit: head ?? undefined, greenCommit: green });
}

function toEffectiveConfig(config: Config, options: TriageInputOptions): Config {
  const clones =
    options.repo === undefined
      ? config.codeHost.clones
      : { ...config.codeHost.clones, [LOCAL]: resolve(options.repo) };
  return {
    ...config,
    // Only the clone given by --repo can be the log's repository. Other clones and code hosts are not used.
    codeHost: { driver: 'local-git', clones },
    analyst: { ...config.analyst, driver: options.analyst ?? config.analyst.driver },
    triage: { ...config.triage, budgetTokens: options.budget ?? config.triage.budgetTokens },
  };
}
