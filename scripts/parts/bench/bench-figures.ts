import { parseArgs } from 'node:util';
import {
  BOUND_CONFIDENCE,
  choosePublished,
  isPublishedRoute,
  type PublishBound,
  ROUTES,
} from '../../../src/domain/publish-bound.ts';
import { getHeldOutcomes, type HeldOutcome, LeftOut } from '../../../src/judge/outcomes.ts';
import { computeUpperShare } from '../../../src/lib/binomial-bound.ts';

/*
 * Prints how answers do on sources and projects that had no part in the training, with the bound on wrong
 * answers and without it: the tables of docs/evidence/bound.md, and the figures of the README's first screen.
 * They are computed from the outcomes that this release ships; scripts/train/train-judgement.ts makes those.
 * `--all --data FOLDER`: every figure with a target, next to its target (docs/evidence/aims.md); `--list`
 * names the cases that miss it.
 */
const { values: asked } = parseArgs({
  options: {
    'max-wrong': { type: 'string', default: '0.03' },
    floor: { type: 'string', default: '0.85' },
    data: { type: 'string' },
    all: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const [MAX_WRONG, FLOOR] = [Number(asked['max-wrong']), Number(asked.floor)];
/** The minimum number of failures of a source that has its own row. */
const LEAST = 20;
/** Routes that are never published, because they are based on one line or on words alone. */
const NEVER: ReadonlySet<string> = new Set(['rule', 'words']);

if (asked.all) await printAims();
else printBound();

async function printAims(): Promise<void> {
  if (asked.data === undefined)
    throw new Error('--all measures labeled cases: name their folder with --data.');
  const { measureAll } = await import('./figures/all-figures.ts');
  const options = { data: asked.data, maxWrong: MAX_WRONG, floor: FLOOR };
  console.log('| figure | left out | reached | aim | |');
  console.log('|---|---|---|---|---|');
  for await (const { figure, leftOut, reached, aim, missed } of measureAll(options)) {
    const isReached = reached !== null && ('least' in aim ? reached >= aim.least : reached <= aim.most);
    const wanted = 'least' in aim ? `≥ ${aim.least}` : `≤ ${aim.most}`;
    const cells = [figure, leftOut, reached?.toFixed(3) ?? '–', wanted, isReached ? 'reached' : ''];
    console.log(`| ${cells.join(' | ')} |`);
    if (asked.list && missed.length > 0) console.error(`${figure}: ${missed.join(' ')}`);
  }
}

function printBound(): void {
  console.log(
    `| left out | failures | category right and cause shown | published without the bound; wrong | at most ${formatPercent(MAX_WRONG)} wrong, routes chosen by all sources | by the other sources alone |`,
  );
  console.log('|---|---|---|---|---|---|');
  for (const by of LeftOut.options) {
    const outcomes = getHeldOutcomes().filter(({ leftOut }) => leftOut === by);
    printRow(`${by}: all`, outcomes, outcomes);
    for (const [source, own] of Map.groupBy(outcomes, (outcome) => outcome.source))
      if (own.length >= LEAST) printRow(`${by}: ${source}`, own, outcomes);
  }

  console.log(
    '\n| an answer rests on | outcomes, by source left out | stated from the floor on | of these wrong |',
  );
  console.log('|---|---|---|---|');
  for (const route of ROUTES) {
    const own = getHeldOutcomes().filter(
      (heldOutcome) => heldOutcome.leftOut === 'source' && heldOutcome.route === route,
    );
    const sure = own.filter(({ stated }) => stated >= FLOOR);
    if (own.length > 0) console.log(`| ${route} | ${own.length} | ${sure.length} | ${countWrong(sure)} |`);
  }
}

function printRow(name: string, own: readonly HeldOutcome[], all: readonly HeldOutcome[]): void {
  const sure = own.filter(({ stated, route }) => stated >= FLOOR && !NEVER.has(route));
  const whole = chooseBy(all);
  const withAll = sure.filter(({ route }) => isPublishedRoute(whole, route));
  const cells = [
    name,
    `${own.length}`,
    (own.filter(({ right }) => right).length / own.length).toFixed(3),
    describe(sure, own.length),
    describe(withAll, own.length),
    describe(publishByOthers(own, all, sure), own.length),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

/** Publishes the answers of each source by the routes that are chosen on the other sources. */
function publishByOthers(
  own: readonly HeldOutcome[],
  all: readonly HeldOutcome[],
  sure: readonly HeldOutcome[],
): HeldOutcome[] {
  return [...new Set(own.map(({ source }) => source))].flatMap((source) => {
    const bound = chooseBy(all.filter((heldOutcome) => heldOutcome.source !== source));
    return sure.filter(
      (heldOutcome) => heldOutcome.source === source && isPublishedRoute(bound, heldOutcome.route),
    );
  });
}

function chooseBy(outcomes: readonly HeldOutcome[]): PublishBound {
  return choosePublished(outcomes, { maxWrong: MAX_WRONG, floor: FLOOR });
}

function describe(published: readonly HeldOutcome[], of: number): string {
  const wrong = countWrong(published);
  const upper =
    published.length === 0
      ? ''
      : ` (≤ ${formatPercent(computeUpperShare(wrong, published.length, BOUND_CONFIDENCE))})`;
  return `${formatPercent(published.length / of)}; ${wrong} of ${published.length}${upper}`;
}

function countWrong(outcomes: readonly HeldOutcome[]): number {
  return outcomes.filter(({ right }) => !right).length;
}

function formatPercent(share: number): string {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}
