import type { ReplayedCase } from '../run/replay.ts';
import { meanFigure } from './clusters.ts';
import { caseShare, type Figure, mean } from './figure.ts';
import { coveredShare } from './line-ranges.ts';

/** Mean recall of the labelled lines, and the mean share of the log that the excerpts keep, in tokens and in bytes. */
export function scoreLines(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => (one.row?.expected_lines?.length ?? 0) > 0).map((one) => ({ one, recall: lineRecall(one) }));
  if (labelled.length === 0) return [];
  const kept = labelled.filter(({ one }) => one.result.logBytes > 0);
  const counted = kept.filter(({ one }) => (one.logTokens ?? 0) > 0);
  const tokens = kept.map(({ one }) => one.result.tokens);
  return [
    meanFigure('recall of labelled lines', labelled, ({ recall }) => recall, 1),
    caseShare('logs with every labelled line', labelled, ({ recall }) => recall === 1),
    caseShare('logs with no labelled line', labelled, ({ recall }) => recall === 0, 'bad'),
    ...(counted.length === 0 ? [] : [meanFigure('share of the log kept, in tokens', counted, ({ one }) => tokenShare(one))]),
    meanFigure('share of the log kept, in bytes', kept, ({ one }) => byteShare(one)),
    { name: 'tokens kept (mean)', value: mean(tokens), cases: kept.length, unit: 'measure' },
  ];
}

/** The share of the labelled lines that the excerpts hold; 0 where none is labelled. */
export function lineRecall({ row, result }: ReplayedCase): number {
  return coveredShare(
    row?.expected_lines ?? [],
    result.excerpts.map(({ lineStart, lineEnd }) => [lineStart, lineEnd]),
  );
}

function tokenShare({ result, logTokens }: ReplayedCase): number {
  return Math.min(1, result.tokens / (logTokens ?? 1));
}

function byteShare({ result, keptBytes }: ReplayedCase): number {
  return (keptBytes ?? result.excerpts.reduce((total, excerpt) => total + Buffer.byteLength(excerpt.text), 0)) / result.logBytes;
}
