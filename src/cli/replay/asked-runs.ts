import type { Recording } from '../../domain/recording.ts';

/** The runs that were asked for by id, and which of them were met. */
export interface AskedRuns {
  /** Whether this one is meant: by the id of its triage or of its answer; everything is where nothing was asked for. */
  meant(recording: Pick<Recording, 'triageId'> & { readonly analysis: { readonly id: string } | null }): boolean;
  /** Which ids were not met, in a sentence; null where all were. */
  missing(): string | null;
}

export function askedRuns(runs: readonly string[] | undefined): AskedRuns {
  const left = new Set(runs);
  return {
    meant: ({ triageId, analysis }) => {
      if (runs === undefined) return true;
      const ids = [triageId, ...(analysis === null ? [] : [analysis.id])].filter((id) => runs.includes(id));
      for (const id of ids) left.delete(id);
      return ids.length > 0;
    },
    missing: () => (left.size === 0 ? null : `There is no recording of ${[...left].join(', ')}.`),
  };
}
