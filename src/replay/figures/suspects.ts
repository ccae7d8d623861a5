import type { ReplayedCase } from '../replay.ts';
import { type Figure, mean } from './figure.ts';

/** How often a file of the human fix is the first suspect, or among the first five. Empty where nothing was answered. */
export function scoreSuspects(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => (one.row?.faulty_files?.length ?? 0) > 0);
  if (!labelled.some((one) => one.result.action !== null)) return [];
  const top = (count: number) => mean(labelled.map((one) => Number(suspectsHit(one, count))));
  return [
    { name: 'faulty file first', value: top(1), cases: labelled.length },
    { name: 'faulty file in the first five', value: top(5), cases: labelled.length },
  ];
}

function suspectsHit({ row, result }: ReplayedCase, count: number): boolean {
  return result.suspects.slice(0, count).some(({ path }) => row?.faulty_files?.some((file) => sameFile(path, file)));
}

/** Paths in logs are rooted elsewhere: one must end with the other, segment by segment. */
function sameFile(left: string, right: string): boolean {
  return `/${left}`.endsWith(`/${right}`) || `/${right}`.endsWith(`/${left}`);
}
