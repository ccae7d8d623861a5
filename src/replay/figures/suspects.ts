import type { ReplayedCase } from '../run/replay.ts';
import { meanFigure } from './clusters.ts';
import { caseShare, type Figure } from './figure.ts';

/** How often a file of the human fix is the first suspect, among the first three or five, and how far down it is. Empty where nothing was answered. */
export function scoreSuspects(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => (one.row?.faulty_files?.length ?? 0) > 0).map((one) => ({ one, rank: rankOf(one) }));
  if (!labelled.some(({ one }) => one.result.action !== null)) return [];
  const top = (name: string, count: number) => caseShare(name, labelled, ({ rank }) => rank !== null && rank <= count);
  return [
    top('faulty file first', 1),
    top('faulty file in the first three', 3),
    top('faulty file in the first five', 5),
    meanFigure('faulty file: mean reciprocal rank', labelled, ({ rank }) => (rank === null ? 0 : 1 / rank), 1),
  ];
}

/** The place of the first suspect that the fix touched, from 1; null where none is. */
export function rankOf({ row, result }: ReplayedCase): number | null {
  const at = result.suspects.findIndex(({ path }) => row?.faulty_files?.some((file) => sameFile(path, file)));
  return at === -1 ? null : at + 1;
}

/** Paths in logs are rooted elsewhere: one must end with the other, segment by segment. */
function sameFile(left: string, right: string): boolean {
  return `/${left}`.endsWith(`/${right}`) || `/${right}`.endsWith(`/${left}`);
}
