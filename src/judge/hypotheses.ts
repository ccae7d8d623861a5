import type { Classification, Hypothesis } from '../domain/analysis.ts';
import type { Category } from '../domain/category.ts';
import { bestOf, type Ruling } from './classify.ts';
import { hasCloseRunnerUp } from './confidence.ts';
import { ranked } from './judgement.ts';
import { spokenKind } from './words.ts';

const UNSURE = 0.65;
const MOST = 3;

/** What would tell each category from the others. */
const SETTLED_BY: Readonly<Record<Category, string>> = {
  CODE_ERROR: 'build the same commit on another machine and see whether it fails the same way',
  TEST_FAILURE: 'run the failing test alone several times, on this commit and the one before',
  INFRA_ERROR: 'rerun the same commit and check whether other builds failed at the same time',
  CONFIG_ERROR: 'compare the workflow, variables and tool versions with the last green build',
  DEPENDENCY_ERROR: 'compare the resolved versions with the last green build',
};

const SUPPOSED: Readonly<Record<Category, string>> = {
  CODE_ERROR: 'The change or the product code is broken',
  TEST_FAILURE: 'A test assertion is wrong or outdated',
  INFRA_ERROR: 'The machine, the network or an external service failed',
  CONFIG_ERROR: 'The build is misconfigured',
  DEPENDENCY_ERROR: 'A dependency of the build is missing or incompatible',
};

/** Two or three explanations where one is not sure enough; none where it is. */
export function hypothesesOf(ruling: Ruling, classification: Classification, confidence: number): Hypothesis[] {
  if (confidence >= UNSURE && !hasCloseRunnerUp(classification)) return [];
  const order = ranked(classification.probabilities);
  const first = [classification.category, ...order.filter((category) => category !== classification.category)];
  const likely = first.filter((category, rank) => rank < 2 || classification.probabilities[category] >= 0.12).slice(0, MOST);
  return likely.map((category) => {
    const match = bestOf(ruling.matches, category);
    if (match === null)
      return { text: `${SUPPOSED[category]}: no log line shows this, but nothing rules it out`, category, settledBy: SETTLED_BY[category] };
    const said = match.fact.text.replace(/\s+/g, ' ').trim().slice(0, 160);
    return { text: `${spokenKind(match.rule.kind)}: ${said}`, category, settledBy: SETTLED_BY[category] };
  });
}
