import type { ReplayedCase } from '../replay.ts';
import { type Figure, mean } from './figure.ts';

/** Mean recall of the labelled lines, and the mean share of the log's bytes that the excerpts keep. */
export function scoreLines(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => (one.row?.expected_lines?.length ?? 0) > 0);
  if (labelled.length === 0) return [];
  const kept = labelled.filter((one) => one.result.logBytes > 0);
  const share = (one: ReplayedCase) =>
    one.result.excerpts.reduce((total, excerpt) => total + Buffer.byteLength(excerpt.text), 0) / one.result.logBytes;
  return [
    { name: 'recall of labelled lines', value: mean(labelled.map(lineRecall)), cases: labelled.length },
    { name: 'share of the log kept', value: mean(kept.map(share)), cases: kept.length },
    { name: 'tokens kept (mean)', value: mean(kept.map((one) => one.result.tokens)), cases: kept.length },
  ];
}

function lineRecall({ row, result }: ReplayedCase): number {
  let wanted = 0;
  let found = 0;
  for (const [start, end] of row?.expected_lines ?? []) {
    for (let line = start; line <= end; line++) {
      wanted++;
      if (result.excerpts.some((excerpt) => excerpt.lineStart <= line && line <= excerpt.lineEnd)) found++;
    }
  }
  return wanted === 0 ? 0 : found / wanted;
}
