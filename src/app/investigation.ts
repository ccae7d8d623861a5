import { compileAskGraph } from '../../graphs/ask/graph.ts';
import { compileTriageGraph } from '../../graphs/triage/graph.ts';
import type { TriageLimits } from '../../graphs/triage/state.ts';
import type { Config } from '../config/schema.ts';
import type { Build } from '../domain/build.ts';
import { CalibrationInUse, parseCalibration } from '../domain/calibration.ts';
import { RECORDING_SCHEMA, type RecordedMaker } from '../domain/recording.ts';
import { RELEASE } from '../domain/trust.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Analyst } from '../ports/analyst.ts';
import type { ConversationStore } from '../ports/stores.ts';
import type { Logger, Tracer } from '../ports/telemetry.ts';
import type { Toolbox } from '../ports/toolbox.ts';
import { type Ask, type AskDeps, createAsk } from '../service/ask/ask.ts';
import { createStoredTopics, createTopicsAtHand, type StoredTopicDeps } from '../service/ask/topic.ts';
import type { InvestigateDeps } from '../service/triage/investigate.ts';
import { createRunRecorder, type RunRecorder } from '../service/triage/recording/recorder.ts';
import { computeShortHash, packLines } from '../service/triage/recording/recording-lines.ts';
import type { TriagedSources } from '../service/triage/triage-build.ts';
import type { CalibrationStore, RecordingStore } from '../stores/measurements.ts';
import type { Stores } from '../stores/stores.ts';
import { createTools, type ToolSources } from '../tools/all-tools.ts';
import { createToolbox, type ToolboxOptions } from '../tools/toolbox.ts';
import { traceGraph, traceToolbox } from './instrumentation.ts';
import { toConnectionOptions } from './open-models.ts';

/** Creates every tool over these sources. Their results are masked. */
export function createAppToolbox(
  sources: ToolSources,
  { masker, ...options }: Omit<ToolboxOptions, 'mask'> & { masker: Masker },
): Toolbox {
  const mask = async (text: string) => (await masker.mask(text)).text;
  return createToolbox(createTools({ ...sources, mask }), { ...options, mask });
}

/** Compiles the graph with the dependencies of its nodes. With a checkpointer, a run survives its process. */
export function createInvestigation(
  config: Pick<Config, 'triage'>,
  parts: Pick<
    InvestigateDeps,
    'analyst' | 'fallbackAnalyst' | 'toolbox' | 'clock' | 'questions' | 'recorder' | 'calibrations' | 'bound'
  >,
  tracer: Tracer,
  checkpointer?: Parameters<typeof compileTriageGraph>[0],
): InvestigateDeps {
  const graph = traceGraph(compileTriageGraph(checkpointer), tracer);
  const toolbox = traceToolbox(parts.toolbox, tracer);
  return {
    ...parts,
    toolbox,
    graph,
    limits: toTriageLimits(config),
    timeLimitMs: config.triage.timeLimitMs,
    durable: checkpointer !== undefined,
  };
}

/** The maximum number of corrections that may send an answer back in `verify`. */
const MAX_CORRECTIONS = 2;

/** Creates the limits of a run. "No limit" is 0 in the configuration and null in the graph. */
export function toTriageLimits({ triage }: Pick<Config, 'triage'>): TriageLimits {
  const { maxIterations, thresholds, investigators, budget } = triage;
  const { tokens, costUsd, seconds } = budget;
  return {
    maxIterations,
    maxCorrections: MAX_CORRECTIONS,
    thresholds,
    budget: { tokens: tokens || null, costUsd: costUsd || null, seconds: seconds || null },
    investigators,
  };
}

interface RecorderParts {
  readonly clock: Clock;
  readonly masker: Masker;
  readonly logger: Logger;
}

/** Opens the recorder, which stores a recording of every run. */
export async function openRecorder(
  config: Pick<Config, 'analyst'>,
  { store, ...parts }: RecorderParts & { readonly store: Pick<RecordingStore, 'append'> },
): Promise<RunRecorder> {
  return createRunRecorder({
    ...parts,
    madeBy: await describeMaker(config),
    keep: async (triageId, lines) =>
      await store.append({ triageId, schema: RECORDING_SCHEMA, bytes: await packLines(lines) }),
  });
}

/** Describes the code and the configuration with which a recording was made. */
export async function describeMaker(
  config: Pick<Config, 'analyst'>,
): Promise<Pick<RecordedMaker, 'faultline' | 'rules' | 'model'>> {
  const { ALL_RULES } = await import('../judge/rules/all.ts');
  const rules = ALL_RULES.map(({ matches, ignores, ...rule }) => ({
    ...rule,
    patterns: rule.patterns.map(String),
    when: rule.when?.toString(),
  }));
  const model =
    config.analyst.driver === 'llm' ? (toConnectionOptions(config.analyst.llm)?.model ?? null) : null;
  return { faultline: RELEASE, rules: computeShortHash(rules), model };
}

/**
 * The time for which a worker keeps the calibrations in force, in milliseconds. It uses a new version after
 * that.
 */
const KEPT_MS = 10_000;

/** Extracts the parts of a calibration that a run needs. They are kept in the state of the run. */
function pickCalibrationInUse(calibration: CalibrationInUse): CalibrationInUse {
  return CalibrationInUse.parse(calibration);
}

/**
 * Creates a reader of the calibrations in force, which keeps them for a short time. If the database does not
 * answer, the last ones stay in use.
 */
export function createCalibrationReader(
  store: Pick<CalibrationStore, 'inForce'>,
  clock: Clock,
  logger: Logger,
): () => Promise<readonly CalibrationInUse[]> {
  let known: { readonly at: number; readonly calibrations: readonly CalibrationInUse[] } | null = null;
  return async () => {
    if (known !== null && clock.now() - known.at < KEPT_MS) return known.calibrations;
    try {
      known = { at: clock.now(), calibrations: (await store.inForce()).map(pickCalibrationInUse) };
      return known.calibrations;
    } catch (error) {
      if (known === null) throw error;
      logger.warn({ error }, 'the calibrations in force could not be read; the previous ones stay in use');
      return known.calibrations;
    }
  };
}

/**
 * Reads the calibration of a process without a store from the configured file. Throws `invalid-config` if it
 * is not a calibration.
 */
export function loadCalibrationFile({
  triage,
}: Pick<Config, 'triage'>): Pick<InvestigateDeps, 'calibrations'> {
  if (triage.calibration === undefined) return {};
  const calibrations = [pickCalibrationInUse(parseCalibration(triage.calibration, 'FAULTLINE_CALIBRATION'))];
  return { calibrations: async () => calibrations };
}

/**
 * The maximum time for an answer to a waiting person, in milliseconds, even if an analysis may take longer.
 */
const MAX_MS = 120_000;

interface AskParts extends Pick<AskDeps, 'toolbox' | 'clock' | 'timeLimitMs'> {
  readonly analyst: Pick<Analyst, 'converse' | 'name'>;
  readonly masker: Masker;
}

/** Opens follow-up questions about stored analyses, with the tools and the analyst of triage. */
export function openAsk(
  parts: AskParts & StoredTopicDeps & { readonly stores: Pick<Stores, 'conversations'> },
): Ask {
  return createAsk({
    ...createSharedDeps(parts),
    topics: createStoredTopics(parts),
    conversations: parts.stores.conversations,
  });
}

/**
 * Opens follow-up questions about analyses in memory. Without a store, their threads end with the process.
 */
export async function openAskAtHand(
  build: Build,
  { analyses, reading }: TriagedSources,
  parts: AskParts,
  conversations?: ConversationStore,
): Promise<Ask> {
  const { createMemoryConversations } = await import('../stores/memory.ts');
  return createAsk({
    ...createSharedDeps(parts),
    topics: createTopicsAtHand(build, analyses, reading),
    conversations: conversations ?? createMemoryConversations(),
  });
}

function createSharedDeps({
  analyst,
  toolbox,
  clock,
  masker,
  timeLimitMs,
}: AskParts): Omit<AskDeps, 'topics' | 'conversations'> {
  return {
    graph: compileAskGraph(),
    converse: analyst.converse,
    toolbox,
    clock,
    mask: async (text) => (await masker.mask(text)).text,
    byRules: analyst.name === 'rules',
    timeLimitMs: Math.min(timeLimitMs, MAX_MS),
  };
}
