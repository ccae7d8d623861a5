import { createMaskingOptions } from '../config/masking.ts';
import { resolveBudgetTokens } from '../config/profiles.ts';
import type { Config } from '../config/schema.ts';
import { type Build, createSparseBuild, type SourceText } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { type Clock, systemClock } from '../lib/time.ts';
import { readRecordOfText } from '../log/environment/read-record.ts';
import { createGreenTemplates } from '../log/green/green-diff.ts';
import { createMasker } from '../log/mask/mask.ts';
import type { LogInPieces } from '../log/read-log.ts';
import { createLogThreads } from '../log/worker-pool.ts';
import { type ArrangedAnswer, arrangeAnswers, pairWithFailures } from '../notifications/build-answers.ts';
import type { ConversationStore } from '../ports/stores.ts';
import { type Logger, silentLogger } from '../ports/telemetry.ts';
import type { Person } from '../ports/toolbox.ts';
import type { Experiment, InvestigateDeps } from '../service/triage/investigate.ts';
import { createOwnerFinder } from '../service/triage/owners.ts';
import { useGivenGreen } from '../service/triage/passing-builds.ts';
import { recordAtHand } from '../service/triage/recording/recorder.ts';
import { triageSources } from '../service/triage/triage-build.ts';
import { loadKnowledge, readKnowledge } from '../tools/knowledge-base.ts';
import { createMemoryToolCache } from '../tools/result-cache.ts';
import {
  createAppToolbox,
  createInvestigation,
  describeMaker,
  loadCalibrationFile,
  openAskAtHand,
} from './investigation.ts';
import {
  openAnalyst,
  openClones,
  openCodeHost,
  openFallbackAnalyst,
  openModelEmbedder,
  openWebSearch,
} from './open-adapters.ts';
import { openTracer } from './open-telemetry.ts';
import { createPersonAtHand } from './person-at-hand.ts';
import { choosePublishBound } from './publish-bound.ts';

/**
 * The maximum size of logs, in characters, that are read in this thread. Starting another thread would take
 * longer than reading them.
 */
const SMALL = 8_000_000;
/** The time for which unsent spans may delay shutdown, in milliseconds. */
const FLUSH_MS = 2_000;

export interface TerminalOptions {
  readonly greenText?: string;
  /** The commit, branch or tag at which it last worked. */
  readonly greenCommit?: string;
  readonly maxGroups?: number;
  /** The folder of a clone of the build's repository, which replaces the configured one. */
  readonly clone?: string;
  /** The number of places in the logs that were already masked when they were read. */
  readonly maskedSecrets?: number;
  readonly onStep?: InvestigateDeps['onStep'];
  /** The person at the keyboard, whom a model may ask. */
  readonly person?: Person | undefined;
  /** True to record how each answer was reached. */
  readonly record?: boolean;
}

/**
 * Creates an app that runs the same triage in memory, without a database, a server, or anything that outlives
 * the process. `config.codeHost` names the local clones that the code tools may read. `experiment` holds the
 * replacements for a measurement; there are none if it is null.
 */
export async function createTerminalApp(
  config: Pick<Config, 'analyst' | 'triage' | 'knowledge' | 'codeHost'> & Partial<Config>,
  logger: Logger,
  clock: Clock = systemClock,
  experiment: Experiment | null = null,
) {
  const bound = choosePublishBound(config);
  const calibrated = { ...loadCalibrationFile(config), bound: async () => bound };
  const { createHashingEmbedder } = await import('../models/embedder/hashing.ts');
  const { createMemoryIndex } = await import('../stores/vectors/memory.ts');
  const { createMemoryArchive } = await import('../stores/archive/memory.ts');
  const { createEmptyHistory } = await import('../stores/memory.ts');
  const vectorIndex = createMemoryIndex(createHashingEmbedder());
  await loadKnowledge(vectorIndex, await readKnowledge(config.knowledge.folder));
  const codeHost = await openCodeHost(config, logger);
  const tracer = await openTracer(config, logger);
  const [analyst, fallbackAnalyst] = [await openAnalyst(config, logger, tracer), await openFallbackAnalyst()];
  const masker = createMasker(createMaskingOptions(config));
  const maskText = async (text: string) => (await masker.mask(text)).text;
  const threads = createLogThreads({ small: SMALL });
  const outside = { webSearch: await openWebSearch(config), ...(await openMeaning(config, logger)) };
  const cache = createMemoryToolCache();
  // Created once, and only if something is recorded.
  let madeBy: ReturnType<typeof describeMaker> | undefined;
  return {
    /** Sends pending spans to the configured receivers, within a short time limit. */
    flush: () => tracer.flush(FLUSH_MS),
    /**
     * Triages a build from its sources. If recordings were requested, `recordings` has one for each answer,
     * in the order of the answers. Threads of `ask` end with the process.
     */
    triage: async (
      build: Build,
      sources: readonly (SourceText | LogInPieces)[],
      signal: AbortSignal,
      how: TerminalOptions = {},
    ) => {
      const { onStep, person, greenText, greenCommit, clone, record = false, ...options } = how;
      const atHand = createPersonAtHand({ person, mask: maskText, clock, signal });
      const archive = createMemoryArchive();
      const green = greenText === undefined ? null : await readGreen(greenText, greenCommit, maskText);
      const code = clone === undefined ? codeHost : await openClones({ [build.repository]: clone });
      const history = createEmptyHistory(
        greenCommit === undefined ? null : { ...build, id: 'green', commit: greenCommit, status: 'passed' },
      );
      const asked = {
        vectorIndex,
        archive,
        history,
        passingBuilds: useGivenGreen(green?.green ?? null),
        codeHost: code,
        reviewers: atHand.reviewers,
        ...outside,
      };
      const toolbox = createAppToolbox(asked, {
        masker,
        logger,
        cache,
        concurrency: config.triage.toolConcurrency,
      });
      if (record) madeBy ??= describeMaker(config);
      const recorded =
        madeBy !== undefined && record ? recordAtHand({ clock, masker, logger, madeBy: await madeBy }) : null;
      const recorder = recorded === null ? {} : { recorder: recorded.recorder };
      const whole = {
        ...createInvestigation(
          config,
          { toolbox, clock, analyst, fallbackAnalyst, ...recorder, ...calibrated, ...atHand.parts },
          tracer,
          atHand.checkpointer,
        ),
        onStep,
        timeLimitMs: config.triage.timeLimitMs + atHand.waitMs,
      };
      const investigation = experiment?.change(whole) ?? whole;
      const deps = {
        archive,
        masker,
        threads,
        investigation,
        owners: createOwnerFinder(code, logger),
        budgetTokens: resolveBudgetTokens(config),
      };
      const more = {
        ...options,
        ...green,
        ...(experiment !== null && { without: experiment.without }),
      };
      const triaged = await triageSources(build, sources, deps, signal, more);
      const recordings = recorded?.takeRecordings(triaged.analyses) ?? [];
      return {
        ...triaged,
        recordings,
        ask: (kept?: ConversationStore) => openAskAtHand(build, triaged, { ...investigation, masker }, kept),
      };
    },
  };
}

/** Reads the log of a passed build: its templates, and what it records of its environment. */
async function readGreen(text: string, commit: string | undefined, mask: (text: string) => Promise<string>) {
  const record = readRecordOfText('green', await mask(text));
  return { green: createGreenTemplates(text), greenRecord: { record, commit: commit ?? null } };
}

/** Opens the embedder by which code is found by meaning; none if only words are compared. */
async function openMeaning(config: Pick<Config, 'analyst'> & Partial<Config>, logger: Logger) {
  const { analyst, embedder } = config;
  const opened = embedder === undefined ? null : await openModelEmbedder({ analyst, embedder }, logger);
  return opened === null ? {} : { embedder: opened };
}

export type TerminalApp = Awaited<ReturnType<typeof createTerminalApp>>;

/**
 * The maximum number of logs that one process explains concurrently. Reading a log needs the processor, which
 * all requests share.
 */
const AT_ONCE = 2;
const RETRY_MS = 3_000;
const SOURCE = 'log';

/**
 * Explains pasted logs with rules alone: one answer per cause, in the order in which to fix them. It stores
 * nothing, and uses no model, code host or web search. Its dependencies are opened with the first log. Throws
 * `rate-limited` if two logs are being read already.
 */
export function openLogExplainer(config: Config) {
  let opened: Promise<TerminalApp> | undefined;
  let running = 0;
  const open = async () => await createTerminalApp(withRulesAlone(config), silentLogger);
  return async (log: string, signal: AbortSignal): Promise<ArrangedAnswer[]> => {
    if (running >= AT_ONCE) {
      const message = `${running} logs are already being explained. Try again in ${RETRY_MS / 1000} s.`;
      throw new TriageError('rate-limited', message, { retryable: true, retryAfterMs: RETRY_MS });
    }
    running += 1;
    try {
      opened ??= open();
      const app = await opened.catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      const { analyses, groups } = await app.triage(
        createPastedBuild(),
        [{ name: SOURCE, kind: 'log', text: log, notes: [] }],
        signal,
      );
      return arrangeAnswers(pairWithFailures(analyses, groups));
    } finally {
      running -= 1;
    }
  };
}

/** Keeps the secrets to mask, but disables the model, the code host, the web search, and tracing. */
function withRulesAlone({ analyst, tracing, webSearch, ...config }: Config): Config {
  return {
    ...config,
    analyst: { ...analyst, driver: 'rules' },
    codeHost: { driver: 'local-git', clones: {} },
    webSearch: { ...webSearch, driver: 'none' },
    tracing: { ...tracing, endpoint: null },
  };
}

function createPastedBuild() {
  return {
    ...createSparseBuild({ repository: 'local/pasted', pipeline: 'pasted', number: '1' }),
    id: 'pasted',
    receivedAt: new Date().toISOString(),
  };
}
