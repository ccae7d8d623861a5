import { proportion } from '../../lib/statistics.ts';
import { type Figure, type FigureSection, idsOf, shareFigure } from '../figures/figure.ts';
import type { JudgedCase, JudgeReport } from './judge.ts';
import type { Opinion } from './opinion.ts';

/** A case's opinions that came about. */
interface Heard {
  readonly one: JudgedCase['one'];
  readonly opinions: readonly Opinion[];
}

/**
 * What the judge said, in a section that cannot be taken for the others: every figure is marked `judged`. A case counts by what the judge said of it
 * most often; of opinions that are as frequent, the worse.
 */
export function scoreJudge(report: JudgeReport): FigureSection {
  const heard = report.cases.map(({ one, opinions }): Heard => ({ one, opinions: opinions.filter(isOpinion) }));
  const judged = heard.filter(({ opinions }) => opinions.length > 0);
  const mute = heard.filter(({ opinions }) => opinions.length === 0);
  const withFix = judged.filter(({ opinions }) => verdictOf(opinions, fixOf) !== 'unknown');
  const figures: Figure[] = [
    shareFigure('judge: not judged', mute.length, heard.length, idsOf(mute)),
    ...verdictShares('judge: cause', judged, causeOf),
    ...verdictShares('judge: fix', withFix, fixOf),
    ...agreement(judged),
    { name: 'judge: input tokens', value: report.inputTokens, cases: heard.length, unit: 'count' },
    { name: 'judge: output tokens', value: report.outputTokens, cases: heard.length, unit: 'count' },
    ...(report.costKnown ? [{ name: 'judge: dollars', value: report.costUsd, cases: heard.length, unit: 'dollars' as const }] : []),
  ];
  const title = `a language model's opinion (${report.model}, prompt ${report.promptHash}): not measured, never gated`;
  return { title, figures: figures.map((figure) => ({ ...figure, judged: true })) };
}

function verdictShares(name: string, judged: readonly Heard[], partOf: PartOf): Figure[] {
  if (judged.length === 0) return [];
  return ['same', 'partly', 'different'].map((verdict) => {
    const said = judged.filter(({ opinions }) => verdictOf(opinions, partOf) === verdict);
    return shareFigure(`${name} ${verdict}`, said.length, judged.length, verdict === 'same' ? [] : idsOf(said));
  });
}

/** Over all pairs of opinions on one case: how many name the same verdict on the cause. Cases that were judged once have no pair. */
function agreement(judged: readonly Heard[]): Figure[] {
  let [agreed, pairs] = [0, 0];
  const torn: Heard[] = [];
  for (const entry of judged) {
    const causes = entry.opinions.map(causeOf);
    const own = [...Map.groupBy(causes, (cause) => cause).values()].reduce((total, same) => total + pairsOf(same.length), 0);
    if (own < pairsOf(causes.length)) torn.push(entry);
    agreed += own;
    pairs += pairsOf(causes.length);
  }
  if (pairs === 0) return [];
  const { share } = proportion(agreed, pairs);
  const against = torn.length === 0 ? {} : { against: idsOf(torn) };
  return [
    {
      name: 'judge: agreement with itself on the cause',
      value: share,
      cases: judged.filter(({ opinions }) => opinions.length > 1).length,
      ...against,
    },
  ];
}

type PartOf = (opinion: Opinion) => string;

/** The worst first, so that a tie goes to it. */
const ORDER = ['different', 'partly', 'same', 'unknown'];

function verdictOf(opinions: readonly Opinion[], partOf: PartOf): string {
  const counts = ORDER.map((verdict) => ({ verdict, count: opinions.filter((opinion) => partOf(opinion) === verdict).length }));
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).verdict;
}

function causeOf({ cause }: Opinion): string {
  return cause;
}

function fixOf({ fix }: Opinion): string {
  return fix;
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}

function isOpinion(said: JudgedCase['opinions'][number]): said is Opinion {
  return !('notJudged' in said);
}
