import type { ReplayedCase } from '../../replay/run/replay.ts';

/**
 * A case as figures need it: a hundred thousand of them must fit in memory. Logs, whole answers and the texts of excerpts go; these stay
 * where the likeness of failures is measured by them.
 */
export function stripForMetrics(done: ReplayedCase): ReplayedCase {
  const { row, result } = done;
  const keptBytes = result.excerpts.reduce((total, { text }) => total + Buffer.byteLength(text), 0);
  return {
    ...done,
    keptBytes,
    analysis: null,
    row: row === null ? null : { ...row, log: null, stack_trace: null, snippets: null },
    result:
      row?.group == null ? { ...result, messages: [], excerpts: result.excerpts.map((excerpt) => ({ ...excerpt, text: '' })) } : result,
  };
}
