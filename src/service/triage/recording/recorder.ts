import { randomBytes } from 'node:crypto';
import type { Analysis } from '../../../domain/analysis.ts';
import { getErrorMessage } from '../../../domain/errors.ts';
import type {
  JudgmentName,
  RecordedAnswer,
  RecordedJudgment,
  RecordedMaker,
  Recording,
} from '../../../domain/recording.ts';
import type { TriageSubject } from '../../../domain/triage.ts';
import { append } from '../../../lib/collections.ts';
import type { Clock } from '../../../lib/time.ts';
import type { Masker } from '../../../log/mask/mask.ts';
import type { Analyst, Judgment } from '../../../ports/analyst.ts';
import type { Logger } from '../../../ports/telemetry.ts';
import type { Toolbox } from '../../../ports/toolbox.ts';
import { maskStrings } from './mask-strings.ts';
import { wrapRecordedToolbox } from './recorded-toolbox.ts';
import {
  computeFieldHashes,
  computeFullHash,
  createSubjectHash,
  type HashSubject,
  joinLines,
  type RecordingLine,
} from './recording-lines.ts';
import { listenForShown } from './shown-texts.ts';

/** The components that a run calls. */
interface Asked {
  readonly analyst: Analyst;
  readonly fallbackAnalyst?: Analyst | undefined;
  readonly toolbox: Toolbox;
}

export interface RecorderOptions {
  readonly clock: Clock;
  readonly masker: Pick<Masker, 'mask'>;
  readonly logger: Logger;
  readonly madeBy: Pick<RecordedMaker, 'faultline' | 'rules' | 'model'>;
  /** Appends lines to the stored recording of a triage. */
  readonly keep: (triageId: string, lines: readonly RecordingLine[]) => Promise<void>;
  /**
   * The minimum time in milliseconds between two saves; 1,000 by default. A save happens at the end of a
   * judgment.
   */
  readonly keepEveryMs?: number;
  /** The maximum number of characters of JSON that one process records of a run; 32 Mi by default. */
  readonly maxChars?: number;
}

const KEEP_EVERY_MS = 1_000;
const MAX_CHARS = 32 * 1024 * 1024;

type Entry = RecordingLine extends infer Line
  ? Line extends { readonly what: 'begun' | 'ended' | 'capped' }
    ? never
    : Omit<Line, 'run'>
  : never;
type Run = Asked & { readonly subject: TriageSubject; readonly limits: object };

export type RunRecorder = ReturnType<typeof createRunRecorder>;

/**
 * Creates a recorder, which keeps recordings in memory until the run ends or waits. It also saves
 * occasionally before that, because replies of models are expensive. A failed save is logged; no run fails
 * because of it.
 */
export function createRunRecorder(options: RecorderOptions) {
  /** Starts recording a run, or the rest of an interrupted one. */
  return { begin: (run: Run) => beginRecording(run, options) };
}

/** The recording of one run. The run must use the components in `asked`, which call the original ones. */
export type RunRecording = ReturnType<typeof beginRecording>;

function beginRecording(run: Run, options: RecorderOptions) {
  const { clock } = options;
  const startedAt = clock.now();
  const notebook = openNotebook(run, startedAt, options);
  const hashSubject = createSubjectHash();
  const judged: Parameters<typeof wrapRecordedAnalyst>[2]['judged'] = (judgment) => {
    notebook.add({ what: 'judged', judgement: judgment });
    notebook.keepIfDue();
  };
  const listener = { clock, startedAt, hashSubject, judged };
  const toolbox = wrapRecordedToolbox(run.toolbox, {
    clock,
    startedAt,
    called: (call) => notebook.add({ what: 'called', call }),
    offered: (tools) => notebook.add({ what: 'offered', tools }),
  });
  const fallbackAnalyst =
    run.fallbackAnalyst === undefined
      ? undefined
      : wrapRecordedAnalyst(run.fallbackAnalyst, 'spare', listener);
  const asked: Asked = {
    analyst: wrapRecordedAnalyst(run.analyst, 'analyst', listener),
    fallbackAnalyst,
    toolbox,
  };
  return {
    asked,
    /** Records a person's answer to the waiting run. */
    answered: (answer: RecordedAnswer) => notebook.add({ what: 'answered', answer }),
    /**
     * Saves everything that is not saved yet. `analysis` is null if the run waits, failed or was canceled.
     * Never throws.
     */
    end: (analysis: Analysis | null) => notebook.close(analysis),
  };
}

/** Collects the lines that one process records of one run. */
function openNotebook(
  { subject, limits, analyst, fallbackAnalyst }: Run,
  startedAt: number,
  options: RecorderOptions,
) {
  const { clock, masker, logger, keep } = options;
  const { triageId } = subject;
  const run = randomBytes(6).toString('hex');
  const madeBy = { ...options.madeBy, analyst: analyst.name, spare: fallbackAnalyst?.name ?? null };
  const head = { startedAt: new Date(startedAt).toISOString(), madeBy, subject, limits: { ...limits } };
  let waiting: RecordingLine[] = [{ what: 'begun', run, head }];
  let room = options.maxChars ?? MAX_CHARS;
  let kept = startedAt;
  let writing: Promise<void> = Promise.resolve();

  const write = async (lines: readonly RecordingLine[]) => {
    try {
      await keep(triageId, await maskStrings(lines, masker));
    } catch (error) {
      logger.warn({ triageId, error: getErrorMessage(error) }, 'a part of a recording could not be kept');
    }
  };
  const keepNow = () => {
    if (waiting.length === 0) return writing;
    const lines = waiting;
    waiting = [];
    kept = clock.now();
    // Writes are sequential, so that the parts are in order.
    writing = writing.then(() => write(lines));
    return writing;
  };
  return {
    add: (entry: Entry) => {
      if (room < 0) return;
      room -= estimateSize(entry);
      waiting.push(room < 0 ? { what: 'capped', run } : { ...entry, run });
    },
    keepIfDue: () => {
      if (clock.now() - kept >= (options.keepEveryMs ?? KEEP_EVERY_MS)) void keepNow();
    },
    close: async (analysis: Analysis | null) => {
      if (analysis !== null) append(waiting, createEnding(analysis, run));
      await keepNow();
    },
  };
}

/**
 * Creates the last line. Returns none if the answer cannot be hashed, for example because it is nested too
 * deeply for JSON.
 */
function createEnding(analysis: Analysis, run: string): RecordingLine[] {
  try {
    return [{ what: 'ended', run, analysisId: analysis.id, analysisHash: computeFullHash(analysis) }];
  } catch {
    return [];
  }
}

/**
 * Estimates the size of an entry by the parts that may be large. An entry that cannot be serialized as JSON
 * counts as too large.
 */
function estimateSize(entry: Entry): number {
  try {
    if (entry.what === 'judged') return JSON.stringify(entry.judgement.reply?.value ?? null).length + 500;
    return entry.what === 'called' ? JSON.stringify(entry.call).length : 500;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

interface JudgmentListener {
  readonly clock: Clock;
  /** The time at which the run started. */
  readonly startedAt: number;
  readonly hashSubject: HashSubject;
  readonly judged: (judgment: RecordedJudgment) => void;
}

/** Wraps an analyst to record each judgment when it is finished or given up. */
function wrapRecordedAnalyst(
  analyst: Analyst,
  role: RecordedJudgment['role'],
  listener: JudgmentListener,
): Analyst {
  const judge = <Value>(
    name: JudgmentName,
    input: object,
    signal: AbortSignal,
    ask: () => Promise<Judgment<Value>>,
  ): Promise<Judgment<Value>> => recordJudgment({ role, name, input }, signal, listener, ask);
  return {
    name: analyst.name,
    converse: analyst.converse,
    classify: (input, signal) => judge('classify', input, signal, () => analyst.classify(input, signal)),
    plan: (input, signal) => judge('plan', input, signal, () => analyst.plan(input, signal)),
    chooseTools: (input, signal) =>
      judge('chooseTools', input, signal, () => analyst.chooseTools(input, signal)),
    correctCall: (input, signal) =>
      judge('correctCall', input, signal, () => analyst.correctCall(input, signal)),
    answer: (input, signal) => judge('answer', input, signal, () => analyst.answer(input, signal)),
    verify: (input, signal) => judge('verify', input, signal, () => analyst.verify(input, signal)),
  };
}

async function recordJudgment<Value>(
  { role, name, input }: { role: RecordedJudgment['role']; name: JudgmentName; input: object },
  signal: AbortSignal,
  { clock, startedAt, hashSubject, judged }: JudgmentListener,
  ask: () => Promise<Judgment<Value>>,
): Promise<Judgment<Value>> {
  const began = clock.now();
  const fields = computeHashes(input, hashSubject);
  let isRecorded = false;
  // An analyst that is no longer awaited may still answer. Only the first outcome is recorded.
  const record = (end: Pick<RecordedJudgment, 'reply' | 'failed'>) => {
    if (isRecorded) return;
    isRecorded = true;
    const milliseconds = Math.max(0, clock.now() - began);
    judged({
      role,
      name,
      ...readPlace(input),
      fields,
      at: Math.max(0, began - startedAt),
      milliseconds,
      ...end,
    });
  };
  const giveUp = () => record({ reply: null, failed: 'cut off' });
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await listenForShown(async (readShown) => {
      const judgment = await ask();
      const { value, by, usage, model, promptHash, note } = judgment;
      record({
        reply: { by, model, promptHash, shown: by === 'rules' ? null : readShown(), value, usage, note },
        failed: null,
      });
      return judgment;
    });
  } catch (error) {
    record({ reply: null, failed: getErrorMessage(error) });
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/**
 * Computes the hashes of an input. Returns none if it cannot be hashed, for example because its nesting is
 * too deep for JSON, because recording must not make a judgment fail.
 */
function computeHashes(input: object, hashSubject: HashSubject): Record<string, string> {
  try {
    return computeFieldHashes(input, hashSubject);
  } catch {
    return {};
  }
}

/** Reads the round and the investigator from an input, if it has them. */
export function readPlace(input: object): { readonly round: number; readonly investigator: string | null } {
  const round = 'round' in input && typeof input.round === 'number' ? input.round : 0;
  const investigator =
    'investigator' in input && typeof input.investigator === 'string' ? input.investigator : null;
  return { round, investigator };
}

/** Creates a recorder that keeps the recordings of this process in memory, for the terminal. */
export function recordAtHand(options: Omit<RecorderOptions, 'keep'>) {
  const kept = new Map<string, RecordingLine[]>();
  const recorder = createRunRecorder({
    ...options,
    keep: async (triageId, lines) => {
      kept.set(triageId, [...(kept.get(triageId) ?? []), ...lines]);
    },
  });
  return {
    recorder,
    /**
     * Returns the recordings of these answers, in the same order, and removes them from memory. Recordings
     * that could not be made are left out.
     */
    takeRecordings: (analyses: readonly Analysis[]): Recording[] =>
      analyses.flatMap((analysis) => {
        const lines = kept.get(analysis.triageId);
        kept.delete(analysis.triageId);
        return lines === undefined ? [] : [joinLines(analysis.triageId, lines, analysis)];
      }),
  };
}
