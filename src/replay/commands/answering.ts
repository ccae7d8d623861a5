import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withModel } from '../../config/model-providers.ts';
import type { Config } from '../../config/schema.ts';
import type { Analysis } from '../../domain/analysis.ts';
import type { AblationStage } from '../../domain/calibration.ts';
import { TriageError } from '../../domain/errors.ts';
import { createGit } from '../../git/command.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { systemClock } from '../../lib/time.ts';
import { arrangeAnswers, pairWithFailures } from '../../notifications/build-answers.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import { createExperiment, describeExperiment, parseStages } from '../ablation.ts';
import type { Answerer } from '../run/replay.ts';
import type { ReplayCommandOptions } from './case-sources.ts';
import type { KeptRecordings } from './recordings-command.ts';

/** Creates the configuration of a replay. The options override the configured values. */
export function replayConfig(options: ReplayCommandOptions, config: Config): Config {
  const { codeHost, analyst, triage } = config;
  return {
    ...config,
    // Cases name repositories of other organizations, so the code host is not contacted unless that is
    // configured explicitly.
    codeHost:
      codeHost.driver === 'auto'
        ? ({ ...codeHost, driver: 'local-git' } satisfies Config['codeHost'])
        : codeHost,
    analyst: {
      ...analyst,
      driver: options.analyst ?? analyst.driver,
      llm: withModel(analyst.llm, options.model ?? analyst.llm.model),
    },
    triage: { ...triage, budgetTokens: options.budget ?? triage.budgetTokens },
  };
}

/**
 * Opens the analyst that answers the cases. Returns null if cases are only read. `config` is the
 * configuration of the replay; `kept` receives a recording of each answer.
 */
export async function openAnswerer(
  options: ReplayCommandOptions,
  config: Config,
  kept: KeptRecordings | null = null,
): Promise<Answerer | null> {
  if (options.only === 'read') return null;
  const { createTerminalApp } = await import('../../app/terminal-app.ts');
  const experiment = await createExperiment(listStagesLeftOut(options), options.design);
  const app = await createTerminalApp(config, silentLogger, systemClock, experiment);
  return async (build, { sources, greenText, repository }, signal, onStep, everyCause) => {
    const clone = repository === undefined ? null : await openClone(repository, signal);
    try {
      const at = clone === null ? {} : { clone: clone.folder };
      // Each cause costs model calls, but rules are free.
      const most = everyCause || options.analyst !== 'llm' ? {} : { maxGroups: 1 };
      const how = { ...most, onStep, record: kept !== null, ...omitUndefined({ greenText }), ...at };
      const answered = await app.triage(build, sources, signal, how);
      await kept?.keep(answered.recordings);
      const arranged = arrangeAnswers(pairWithFailures(answered.analyses, answered.groups));
      const tree = clone === null ? '' : await listTree(clone.folder, build.commit ?? 'HEAD', signal);
      return { ...answered, analyses: sortSureFirst(arranged.map(({ analysis }) => analysis)), tree };
    } finally {
      await clone?.close();
    }
  };
}

/** Sorts abstained answers last, so that a clear cause represents the build. */
function sortSureFirst(analyses: readonly Analysis[]): Analysis[] {
  return analyses.toSorted(
    (left, right) => Number(left.classification.abstained) - Number(right.classification.abstained),
  );
}

/** Lists the stages that are disabled. Throws if a name is not a stage. */
export function listStagesLeftOut({ without = [], green }: ReplayCommandOptions): AblationStage[] {
  return parseStages(green ? without : [...without, 'green']);
}

/**
 * Describes the analyst in a few words: "analyst rules", "analyst llm (gpt-4o-mini)", "analyst rules, without
 * web, linear baseline".
 */
export function describeWhoAnswers(options: ReplayCommandOptions, config: Config): string {
  const experiment = describeExperiment(listStagesLeftOut(options), options.design ?? 'loop');
  if (options.only === 'read') return `reading alone${experiment}`;
  const { driver, llm } = config.analyst;
  return `${driver === 'llm' ? `analyst llm (${llm.model})` : `analyst ${driver}`}${experiment}`;
}

const TIME_LIMIT_MS = 60_000;
const MAX_TREE_BYTES = 16 * 1024 * 1024;

/**
 * Lists the paths of a commit's files, one on each line. Returns an empty string if the clone does not
 * contain the commit.
 */
async function listTree(folder: string, commit: string, signal: AbortSignal): Promise<string> {
  const git = createGit({ timeoutMs: TIME_LIMIT_MS, maxOutputBytes: MAX_TREE_BYTES });
  const answer = await git(
    folder,
    ['ls-tree', '-r', '-z', '--full-tree', '--name-only', '--end-of-options', commit],
    signal,
  );
  return answer.exitCode === 0 || answer.cut ? answer.output.replaceAll('\0', '\n') : '';
}

/**
 * Opens the clone of a case: a folder, or a tar archive (plain or compressed) of one, which is unpacked into
 * a temporary folder until it is closed. Throws `not-found`, and `invalid-input` if the file is not an
 * archive of one folder.
 */
async function openClone(path: string, signal: AbortSignal) {
  const found = await stat(path).catch((cause: unknown) => {
    throw new TriageError('not-found', `${path} is missing or cannot be read.`, { cause });
  });
  if (found.isDirectory()) return { folder: path, close: async () => undefined };
  const folder = await mkdtemp(join(tmpdir(), 'faultline-clone-'));
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    await promisify(execFile)('tar', ['-xf', path, '-C', folder, '--no-same-owner'], {
      timeout: TIME_LIMIT_MS,
      signal,
    });
    const names = await readdir(folder);
    // An archive made with `tar -C clone.git .` has no top-level folder.
    const inside = names.length === 1 && names[0] !== undefined ? join(folder, names[0]) : folder;
    return { folder: inside, close };
  } catch (cause) {
    await close();
    if (signal.aborted) throw cause;
    throw new TriageError('invalid-input', `${path} is not a tar archive of a clone.`, { cause });
  }
}
