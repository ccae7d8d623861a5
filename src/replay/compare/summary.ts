import { maxOf } from '../../lib/lists.ts';
import type { Comparison, CostDifference, Difference } from './comparison.ts';
import { amount, dollars, points, probability, shareOf } from './words.ts';

const NO_FIGURE = 'These cases have no labels to score; only costs are compared.';

/** What a comparison means, a sentence at a time: the main figure, what else is beyond noise, the cost, and what to be careful about. */
export function summaryOf(comparison: Omit<Comparison, 'summary'>): string[] {
  const main = comparison.differences.find(({ name }) => name === comparison.wonBy) ?? comparison.differences[0];
  if (main === undefined) return [NO_FIGURE, ...costSentences(comparison)];
  return [mainSentence(main), ...othersSentences(comparison, main), ...costSentences(comparison), ...careSentences(comparison, main)];
}

function mainSentence(main: Difference): string {
  const { name, difference, won, lost, verdict } = main;
  const counts = `${won} won, ${lost} lost`;
  const by = `${points(Math.abs(difference))} of ${name}`;
  switch (verdict) {
    case 'same':
      return `A and B agree in all ${main.cases} cases: ${name} is ${shareOf(main.a)} on both sides.`;
    case 'b-better':
      return `B is better by ${by} (${evidenceOf(main)}); ${counts}.`;
    case 'a-better':
      return `B is worse by ${by} (${evidenceOf(main)}); ${counts}.`;
    default: {
      const way = difference === 0 ? 'as high as A' : `${difference > 0 ? 'higher' : 'lower'} than A by ${points(Math.abs(difference))}`;
      return `No difference beyond noise: in ${name} B is ${way} (${evidenceOf(main)}); ${counts}.`;
    }
  }
}

/** What the verdict rests on, the interval in points. */
function evidenceOf({ interval, mcNemar }: Difference): string {
  const range = interval === null ? 'too few projects for an interval' : `95 % interval ${rangeOf(interval)}`;
  if (mcNemar === null) return range;
  const p = probability(mcNemar.midP);
  return `${range}, McNemar p ${p.startsWith('<') ? p : `= ${p}`}`;
}

function rangeOf([low, high]: readonly [number, number]): string {
  return `${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)}`;
}

function othersSentences({ differences }: Omit<Comparison, 'summary'>, main: Difference): string[] {
  const others = differences.filter((one) => one !== main);
  const named = (verdicts: readonly string[]) =>
    others.filter(({ verdict }) => verdicts.includes(verdict)).map(({ name, difference }) => `${name} ${signed(difference)}`);
  const list = (lead: string, names: readonly string[]) => (names.length === 0 ? [] : [`${lead}: ${names.join('; ')}.`]);
  return [
    ...list('Beyond noise, B is better in', named(['b-better'])),
    ...list('Beyond noise, B is worse in', named(['a-better'])),
    ...list('Changed beyond noise, for better or worse', named(['higher', 'lower'])),
  ];
}

function signed(difference: number): string {
  return `${difference > 0 ? '+' : '−'}${points(Math.abs(difference))}`;
}

function costSentences({ costs }: Omit<Comparison, 'summary'>): string[] {
  const paid = costs.find(({ unit }) => unit === 'dollars');
  return paid === undefined ? [] : [costSentence(paid)];
}

function costSentence({ difference, interval, totals }: CostDifference): string {
  const all = `${dollars(totals.a)} against ${dollars(totals.b)} for all of them`;
  if (difference === 0) return `A case costs the same at the median (${all}).`;
  const noise = interval !== null && interval[0] <= 0 && interval[1] >= 0 ? ', within noise' : '';
  const range = interval === null ? '' : `95 % interval ${dollars(interval[0])} to ${dollars(interval[1])}${noise}; `;
  return `A case of B costs ${dollars(Math.abs(difference))} ${difference > 0 ? 'more' : 'less'} at the median (${range}${all}).`;
}

function careSentences({ cases, sides, differences }: Omit<Comparison, 'summary'>, main: Difference): string[] {
  const half = cases.onlyA.length + cases.onlyB.length;
  const failed = new Set([...cases.failed.a, ...cases.failed.b]).size;
  const spreads = [sides.a.spread, sides.b.spread].flatMap(
    (spread) => spread?.figures.find(({ name }) => name === main.name)?.deviation ?? [],
  );
  const widest = maxOf(spreads, 0);
  return [
    ...(widest > 0 && Math.abs(main.difference) < 2 * widest
      ? [`Repeats of one side differ by ${points(widest)} (standard deviation): a difference of this size may be random.`]
      : []),
    ...(half > 0 ? [`${amount(half, 'case is', 'cases are')} on one side only and left out.`] : []),
    ...(failed > 0 ? [`${amount(failed, 'case', 'cases')} failed on a side and ${failed === 1 ? 'counts' : 'count'} as wrong there.`] : []),
    ...(cases.unreadable.length > 0 ? [`${amount(cases.unreadable.length, 'row', 'rows')} of the data set could not be read.`] : []),
    ...(differences.some(({ interval }) => interval === null) ? ['A single case allows no intervals.'] : []),
  ];
}
