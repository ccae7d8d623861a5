import { parseArgs } from 'node:util';
import { choosePublished, isPublishedRoute } from '../../src/domain/publish-bound.ts';
import { getHeldOutcomes, type HeldOutcome, type LeftOut } from '../../src/judge/outcomes.ts';
import { createRandomNumbers } from '../../src/lib/statistics.ts';

/*
 * Checks the bound on published answers: routes are chosen on some of the shipped outcomes, and what is published by them of the others is
 * counted. A split holds where no more of that is wrong than was stated. Prints a table for docs/evidence; exit code 1 where the default bound
 * holds in fewer than 90 % of the splits.
 */
const { values: asked } = parseArgs({
  options: { splits: { type: 'string', default: '200' }, floor: { type: 'string', default: '0.85' } },
});
const SPLITS = Number(asked.splits);
const FLOOR = Number(asked.floor);
const SEED = 20_261_127;
const STATED = [0.02, 0.03, 0.05, 0.1];
/** The share of the outcomes on which routes are chosen. The rest is for the check. */
const FOR_CHOICE = 0.7;
const AIM = 0.9;
const DEFAULT = 0.03;

interface Split {
  readonly published: number;
  readonly wrong: number;
  readonly all: number;
}

let isReached = true;
console.log(
  '| stated | left out | splits that hold | splits that publish | published | wrong of it, all splits together |',
);
console.log('|---|---|---|---|---|---|');
for (const maxWrong of STATED) {
  for (const by of ['source', 'project'] as const) {
    const splits = createSplits(by, maxWrong);
    const holding = splits.filter(({ published, wrong }) => wrong <= maxWrong * published).length;
    const publishing = splits.filter(({ published }) => published > 0);
    if (maxWrong === DEFAULT) isReached &&= holding >= AIM * splits.length;
    const sum = (count: (split: Split) => number) =>
      publishing.reduce((total, split) => total + count(split), 0);
    const [published, wrong, all] = [
      sum((split) => split.published),
      sum((split) => split.wrong),
      sum((split) => split.all),
    ];
    console.log(
      `| ${formatPercent(maxWrong)} | ${by} | ${holding} of ${splits.length} | ${publishing.length} | ${formatPercent(published / Math.max(1, all))} | ${formatPercent(wrong / Math.max(1, published))} |`,
    );
  }
}
if (!isReached) process.exitCode = 1;

/**
 * Creates splits of the sources, or of the projects, into those on which routes are chosen and those for the
 * check.
 */
function createSplits(by: LeftOut, maxWrong: number): Split[] {
  const next = createRandomNumbers(SEED);
  const outcomes = getHeldOutcomes().filter(({ leftOut }) => leftOut === by);
  const findUnit = (heldOutcome: HeldOutcome) =>
    by === 'source' ? heldOutcome.source : `${heldOutcome.project}`;
  const units = [...new Set(outcomes.map(findUnit))];
  return Array.from({ length: SPLITS }, () => {
    const chosen = new Set(units.filter(() => next() < FOR_CHOICE));
    const bound = choosePublished(
      outcomes.filter((outcome) => chosen.has(findUnit(outcome))),
      { maxWrong, floor: FLOOR },
    );
    const others = outcomes.filter((outcome) => !chosen.has(findUnit(outcome)));
    const published = others.filter(({ stated, route }) => stated >= FLOOR && isPublishedRoute(bound, route));
    return {
      published: published.length,
      wrong: published.filter(({ right }) => !right).length,
      all: others.length,
    };
  });
}

function formatPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
