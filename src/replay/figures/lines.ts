import type { ReplayedCase } from '../run/replay.ts';
import { type Figure, mean } from './figure.ts';

/** Mean recall of the labelled lines, and the mean share of the log that the excerpts keep, in tokens and in bytes. */
export function scoreLines(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => (one.row?.expected_lines?.length ?? 0) > 0);
  if (labelled.length === 0) return [];
  const kept = labelled.filter((one) => one.result.logBytes > 0);
  const counted = kept.filter((one) => (one.logTokens ?? 0) > 0);
  const recalls = labelled.map(lineRecall);
  const share = (one: ReplayedCase) =>
    one.result.excerpts.reduce((total, excerpt) => total + Buffer.byteLength(excerpt.text), 0) / one.result.logBytes;
  return [
    { name: 'recall of labelled lines', value: mean(recalls), cases: labelled.length },
    { name: 'logs with every labelled line', value: mean(recalls.map((recall) => Number(recall === 1))), cases: labelled.length },
    { name: 'logs with no labelled line', value: mean(recalls.map((recall) => Number(recall === 0))), cases: labelled.length },
    ...(counted.length === 0 ? [] : [tokenShare(counted)]),
    { name: 'share of the log kept, in bytes', value: mean(kept.map(share)), cases: kept.length },
    { name: 'tokens kept (mean)', value: mean(kept.map((one) => one.result.tokens)), cases: kept.length, unit: 'measure' },
  ];
}

function tokenShare(counted: readonly ReplayedCase[]): Figure {
  const shares = counted.map(({ result, logTokens }) => Math.min(1, result.tokens / (logTokens ?? 1)));
  return { name: 'share of the log kept, in tokens', value: mean(shares), cases: counted.length };
}

/** The share of the labelled lines that the excerpts hold; 0 where none is labelled. */
export function lineRecall({ row, result }: ReplayedCase): number {
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
