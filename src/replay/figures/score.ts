import type { ReplayedCase } from '../run/replay.ts';
import { scoreActions } from './actions.ts';
import { scoreCalibration } from './calibration.ts';
import { scoreCategories, scoreClasses, scoreConfusions, scoreMatrix } from './categories.ts';
import { scoreCosts } from './costs.ts';
import type { Figure, FigureSection } from './figure.ts';
import { scoreGroups } from './groups.ts';
import { scoreKinds } from './kinds.ts';
import { scoreLines } from './lines.ts';
import { scoreLoop, scoreTools, scoreToolsByCategory } from './loop.ts';
import { scoreMentions } from './mentions.ts';
import { scoreOverlap } from './overlap.ts';
import { scoreQuotes } from './quotes.ts';
import { scoreSpeed } from './speed.ts';
import { scoreSteps } from './steps.ts';
import { scoreSuspects } from './suspects.ts';
import { scoreTests } from './tests.ts';

/** Whatever the labels of these cases allow, in sections; figures and sections without a label are left out. */
export function scoreCases(cases: readonly ReplayedCase[], elapsedMilliseconds: number): FigureSection[] {
  const sections = [
    { title: 'cases', figures: countCases(cases) },
    { title: 'lines', figures: scoreLines(cases) },
    { title: 'failing step', figures: scoreSteps(cases) },
    { title: 'failing tests', figures: scoreTests(cases) },
    { title: 'category', figures: scoreCategories(cases) },
    { title: 'category, by class', figures: scoreClasses(cases) },
    { title: 'category, whole matrix (rows are true)', figures: scoreMatrix(cases) },
    { title: 'categories confused', figures: scoreConfusions(cases) },
    { title: 'kind', figures: scoreKinds(cases) },
    { title: 'probability of the category', figures: scoreCalibration(cases) },
    { title: 'probability of the answer', figures: scoreCalibration(cases, 'answer') },
    { title: 'action taken', figures: scoreActions(cases) },
    { title: 'explanation, mentions', figures: scoreMentions(cases) },
    { title: 'explanation, words in common with the label (overlap, not correctness)', figures: scoreOverlap(cases) },
    { title: 'suspects', figures: scoreSuspects(cases) },
    { title: 'same failure', figures: scoreGroups(cases) },
    { title: 'quotations', figures: scoreQuotes(cases) },
    { title: 'loop', figures: scoreLoop(cases) },
    { title: 'tools by category said', figures: scoreToolsByCategory(cases) },
    { title: 'tools', figures: scoreTools(cases) },
    { title: 'cost and time', figures: scoreCosts(cases) },
    { title: 'speed', figures: scoreSpeed(cases, elapsedMilliseconds) },
  ];
  return sections.filter(({ figures }) => figures.length > 0);
}

function countCases(cases: readonly ReplayedCase[]): Figure[] {
  const failed = cases.filter((one) => one.result.error !== null).length;
  return [
    { name: 'cases', value: cases.length, cases: cases.length, unit: 'count' },
    { name: 'cases that failed', value: failed, cases: cases.length, unit: 'count' },
  ];
}
