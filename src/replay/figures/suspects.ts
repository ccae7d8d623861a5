import type { ReplayedCase } from '../run/replay.ts';
import { type Figure, mean } from './figure.ts';

/** How often a file of the human fix is the first suspect, among the first three or five, and how far down it is. Empty where nothing was answered. */
export function scoreSuspects(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => (one.row?.faulty_files?.length ?? 0) > 0);
  if (!labelled.some((one) => one.result.action !== null)) return [];
  const ranks = labelled.map(rankOf);
  const top = (count: number) => mean(ranks.map((rank) => Number(rank !== null && rank <= count)));
  const figure = (name: string, value: number): Figure => ({ name, value, cases: labelled.length });
  return [
    figure('faulty file first', top(1)),
    figure('faulty file in the first three', top(3)),
    figure('faulty file in the first five', top(5)),
    figure('faulty file: mean reciprocal rank', mean(ranks.map((rank) => (rank === null ? 0 : 1 / rank)))),
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
