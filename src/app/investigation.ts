import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileTriageGraph } from '../../graphs/triage/graph.ts';
import type { TriageLimits } from '../../graphs/triage/state.ts';
import type { Config } from '../config/schema.ts';
import { CalibrationInUse, parseCalibration } from '../domain/calibration.ts';
import { RECORDING_SCHEMA, type RecordedMaker } from '../domain/recording.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Logger, Tracer } from '../ports/telemetry.ts';
import type { Toolbox } from '../ports/toolbox.ts';
import type { InvestigateDeps } from '../service/triage/investigate.ts';
import { createRunRecorder, type RunRecorder } from '../service/triage/recording/recorder.ts';
import { packLines, shortHashOf } from '../service/triage/recording/recording-lines.ts';
import type { CalibrationStore, RecordingStore } from '../stores/measurements.ts';
import { createTools, type ToolSources } from '../tools/all-tools.ts';
import { createToolbox, type ToolboxOptions } from '../tools/toolbox.ts';
import { modelOptions } from './open-models.ts';
import { tracedGraph, tracedToolbox } from './watched.ts';

/** Every tool over these sources; what they bring is masked. */
export function createAppToolbox(sources: ToolSources, { masker, ...options }: Omit<ToolboxOptions, 'mask'> & { masker: Masker }): Toolbox {
  const mask = async (text: string) => (await masker.mask(text)).text;
  return createToolbox(createTools({ ...sources, mask }), { ...options, mask });
}

/** The compiled graph with what its nodes ask; with a checkpointer a run survives its process. */
export function investigationOf(
  config: Pick<Config, 'triage'>,
  parts: Pick<InvestigateDeps, 'analyst' | 'fallbackAnalyst' | 'toolbox' | 'clock' | 'questions' | 'recorder' | 'calibrations'>,
  tracer: Tracer,
  checkpointer?: Parameters<typeof compileTriageGraph>[0],
): InvestigateDeps {
  const graph = tracedGraph(compileTriageGraph(checkpointer), tracer);
  const toolbox = tracedToolbox(parts.toolbox, tracer);
  return {
    ...parts,
    toolbox,
    graph,
    limits: limitsOf(config),
    timeLimitMs: config.triage.timeLimitMs,
    durable: checkpointer !== undefined,
  };
}

/** How often a correction may send an answer back (DESIGN: verify). */
const MAX_CORRECTIONS = 2;

/** What bounds a run. In the configuration 0 is no limit, for the graph null. */
export function limitsOf({ triage }: Pick<Config, 'triage'>): TriageLimits {
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

/** Every run is recorded into the store. */
export async function openRecorder(
  config: Pick<Config, 'analyst'>,
  { store, ...parts }: RecorderParts & { readonly store: Pick<RecordingStore, 'append'> },
): Promise<RunRecorder> {
  return createRunRecorder({
    ...parts,
    madeBy: await makerOfToday(config),
    keep: async (triageId, lines) => await store.append({ triageId, schema: RECORDING_SCHEMA, bytes: await packLines(lines) }),
  });
}

/** What a recording says of the code and the configuration that made it. */
export async function makerOfToday(config: Pick<Config, 'analyst'>): Promise<Pick<RecordedMaker, 'faultline' | 'rules' | 'model'>> {
  const { ALL_RULES } = await import('../judge/rules/all.ts');
  const rules = ALL_RULES.map(({ meets, spares, ...rule }) => ({
    ...rule,
    patterns: rule.patterns.map(String),
    when: rule.when?.toString(),
  }));
  const model = config.analyst.driver === 'llm' ? (modelOptions(config.analyst.llm)?.model ?? null) : null;
  return { faultline: await versionOfPackage(), rules: shortHashOf(rules), model };
}

async function versionOfPackage(): Promise<string> {
  const text = await readFile(join(import.meta.dirname, '../../package.json'), 'utf8').catch(() => '{}');
  const read: unknown = JSON.parse(text);
  return typeof read === 'object' && read !== null && 'version' in read && typeof read.version === 'string' ? read.version : 'unknown';
}

/** A worker follows a new version within so many milliseconds. */
const KEPT_MS = 10_000;

/** What a run needs of a calibration, and no more: it is kept in the run's state. */
function inUse(calibration: CalibrationInUse): CalibrationInUse {
  return CalibrationInUse.parse(calibration);
}

/** Reads which calibrations are in force, and remembers it for a moment. Where the database does not answer, those known last stay. */
export function calibrationsInForce(
  store: Pick<CalibrationStore, 'inForce'>,
  clock: Clock,
  logger: Logger,
): () => Promise<readonly CalibrationInUse[]> {
  let known: { readonly at: number; readonly calibrations: readonly CalibrationInUse[] } | null = null;
  return async () => {
    if (known !== null && clock.now() - known.at < KEPT_MS) return known.calibrations;
    try {
      known = { at: clock.now(), calibrations: (await store.inForce()).map(inUse) };
      return known.calibrations;
    } catch (error) {
      if (known === null) throw error;
      logger.warn({ error }, 'the calibrations in force could not be read; the previous ones stay in use');
      return known.calibrations;
    }
  };
}

/** Of a process without a store: what the file says that the configuration names. Throws `invalid-config` where that is no calibration. */
export function calibrationAtHand({ triage }: Pick<Config, 'triage'>): Pick<InvestigateDeps, 'calibrations'> {
  if (triage.calibration === undefined) return {};
  const calibrations = [inUse(parseCalibration(triage.calibration, 'FAULTLINE_CALIBRATION'))];
  return { calibrations: async () => calibrations };
}
