import { randomBytes } from 'node:crypto';
import type { Analysis } from '../../domain/analysis.ts';
import { messageOf } from '../../domain/errors.ts';
import type { RecordedMaker } from '../../domain/recording.ts';
import { append } from '../../lib/lists.ts';
import type { Clock } from '../../lib/time.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { RunRecorder, RunRecording } from '../../ports/measurements.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { fullHashOf } from './canonical.ts';
import { createSubjectHash } from './fields.ts';
import type { RecordingLine } from './lines.ts';
import { maskStrings } from './mask-strings.ts';
import { recordedAnalyst } from './record-analyst.ts';
import { recordedToolbox } from './record-toolbox.ts';

export interface RecorderOptions {
  readonly clock: Clock;
  readonly masker: Pick<Masker, 'mask'>;
  readonly logger: Logger;
  readonly madeBy: Pick<RecordedMaker, 'faultline' | 'rules' | 'model'>;
  /** Keeps lines of the recording of a triage, behind those that were kept before. */
  readonly keep: (triageId: string, lines: readonly RecordingLine[]) => Promise<void>;
  /** After so many milliseconds without one, the end of a judgement is a moment to keep what there is. Default 1,000. */
  readonly keepEveryMs?: number;
  /** Most characters of JSON of one process's turn at a run. Default 32 Mi. */
  readonly maxChars?: number;
}

const KEEP_EVERY_MS = 1_000;
const MAX_CHARS = 32 * 1024 * 1024;

type Entry = RecordingLine extends infer Line
  ? Line extends { readonly what: 'begun' | 'ended' | 'capped' }
    ? never
    : Omit<Line, 'run'>
  : never;
type Run = Parameters<RunRecorder['begin']>[0];

/**
 * Records runs: in memory until the run ends or waits, and now and then before, since what a model said is dear. What cannot be kept is
 * logged; no run ever fails, or waits, for it before its end.
 */
export function createRunRecorder(options: RecorderOptions): RunRecorder {
  return { begin: (run) => beginRecording(run, options) };
}

function beginRecording(run: Run, options: RecorderOptions): RunRecording {
  const { clock } = options;
  const startedAt = clock.now();
  const notebook = openNotebook(run, startedAt, options);
  const hashSubject = createSubjectHash();
  const judged: Parameters<typeof recordedAnalyst>[2]['judged'] = (judgement) => {
    notebook.add({ what: 'judged', judgement });
    notebook.keepIfDue();
  };
  const listener = { clock, startedAt, hashSubject, judged };
  const toolbox = recordedToolbox(run.toolbox, {
    clock,
    startedAt,
    called: (call) => notebook.add({ what: 'called', call }),
    offered: (tools) => notebook.add({ what: 'offered', tools }),
  });
  const fallbackAnalyst = run.fallbackAnalyst === undefined ? undefined : recordedAnalyst(run.fallbackAnalyst, 'spare', listener);
  return {
    asked: { analyst: recordedAnalyst(run.analyst, 'analyst', listener), fallbackAnalyst, toolbox },
    answered: (answer) => notebook.add({ what: 'answered', answer }),
    end: (analysis) => notebook.close(analysis),
  };
}

/** What one process writes of one run. */
function openNotebook({ subject, limits, analyst, fallbackAnalyst }: Run, startedAt: number, options: RecorderOptions) {
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
      logger.warn({ triageId, error: messageOf(error) }, 'a part of a recording could not be kept');
    }
  };
  const keepNow = () => {
    if (waiting.length === 0) return writing;
    const lines = waiting;
    waiting = [];
    kept = clock.now();
    // One after the other: parts stand in the order of what they tell.
    writing = writing.then(() => write(lines));
    return writing;
  };
  return {
    add: (entry: Entry) => {
      if (room < 0) return;
      room -= sizeOf(entry);
      waiting.push(room < 0 ? { what: 'capped', run } : { ...entry, run });
    },
    keepIfDue: () => {
      if (clock.now() - kept >= (options.keepEveryMs ?? KEEP_EVERY_MS)) void keepNow();
    },
    close: async (analysis: Analysis | null) => {
      if (analysis !== null) append(waiting, endingOf(analysis, run));
      await keepNow();
    },
  };
}

/** Nothing where the answer cannot be hashed, such as one nested deeper than JSON goes. */
function endingOf(analysis: Analysis, run: string): RecordingLine[] {
  try {
    return [{ what: 'ended', run, analysisId: analysis.id, analysisHash: fullHashOf(analysis) }];
  } catch {
    return [];
  }
}

/** Only what can be large is measured; what cannot be written as JSON is too large for any recording. */
function sizeOf(entry: Entry): number {
  try {
    if (entry.what === 'judged') return JSON.stringify(entry.judgement.reply?.value ?? null).length + 500;
    return entry.what === 'called' ? JSON.stringify(entry.call).length : 500;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
