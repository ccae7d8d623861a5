import type { Analysis } from '../../domain/analysis.ts';
import type { Recording } from '../../domain/recording.ts';
import type { RunRecorder } from '../../ports/measurements.ts';
import { joinLines } from './join.ts';
import type { RecordingLine } from './lines.ts';
import { createRunRecorder, type RecorderOptions } from './recorder.ts';

/** Records runs of this process in memory, for the terminal. */
export interface RecordingAtHand {
  readonly recorder: RunRecorder;
  /** The recordings of these answers, in their order; those that could not be made are left out. */
  recordingsOf(analyses: readonly Analysis[]): Recording[];
}

export function recordAtHand(options: Omit<RecorderOptions, 'keep'>): RecordingAtHand {
  const kept = new Map<string, RecordingLine[]>();
  const recorder = createRunRecorder({
    ...options,
    keep: async (triageId, lines) => {
      kept.set(triageId, [...(kept.get(triageId) ?? []), ...lines]);
    },
  });
  return {
    recorder,
    recordingsOf: (analyses) =>
      analyses.flatMap((analysis) => {
        const lines = kept.get(analysis.triageId);
        kept.delete(analysis.triageId);
        return lines === undefined ? [] : [joinLines(analysis.triageId, lines, analysis)];
      }),
  };
}
