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
  CODE_ERROR: 'build the same commit on another machine: it fails there in the same way',
  TEST_FAILURE: 'run the failing test alone, several times, on the commit before and on this one',
  INFRA_ERROR: 'run the same commit again, and see whether other builds failed at the same time',
  CONFIG_ERROR: 'compare the workflow, variables and tool versions with those of the last green build',
  DEPENDENCY_ERROR: 'compare the resolved versions with those of the last green build',
};

const SUPPOSED: Readonly<Record<Category, string>> = {
  CODE_ERROR: 'The change or the product code is broken',
  TEST_FAILURE: 'A test expects something that does not hold',
  INFRA_ERROR: 'The machine, the network or a service of others failed',
  CONFIG_ERROR: 'The build is set up wrongly',
  DEPENDENCY_ERROR: 'Something that the build rests on is missing or does not fit',
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
      return { text: `${SUPPOSED[category]}: no line says so, but nothing rules it out`, category, settledBy: SETTLED_BY[category] };
    const said = match.fact.text.replace(/\s+/g, ' ').trim().slice(0, 160);
    return { text: `${spokenKind(match.rule.kind)}: ${said}`, category, settledBy: SETTLED_BY[category] };
  });
}
