import { type DatasetRow, resolveProject } from '../cases/case.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { listAdviceCells, scoreAdvice, scoreAdviceByCategory } from './advice.ts';
import { scoreBuilds } from './builds/builds.ts';
import { scoreCalibration } from './calibration.ts';
import {
  scoreActions,
  scoreCategories,
  scoreClasses,
  scoreConfusions,
  scoreExperiments,
  scoreKinds,
  scoreMatrix,
} from './categories.ts';
import { scoreCosts, scoreLoop, scoreSpeed, scoreTools, scoreToolsByCategory } from './effort.ts';
import { findRank, scoreMentions, scoreOverlap, scoreSuspects } from './explanation.ts';
import {
  computeMean,
  createShareFigure,
  type Figure,
  type FigureSection,
  isRight,
  listJudgedCases,
} from './figure.ts';
import { scoreGroups } from './groups.ts';
import { computeLineRecall, scoreLines, scoreQuotes, scoreSteps, scoreTests } from './reading.ts';
import { scoreReruns } from './reruns.ts';
import { scoreToolChoice } from './tool-choice.ts';

/**
 * Scores everything that the labels of these cases allow, in sections. Figures and sections without a label
 * are left out.
 */
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
    {
      title: 'explanation, words in common with the label (overlap, not correctness)',
      figures: scoreOverlap(cases),
    },
    { title: 'advice', figures: scoreAdvice(cases) },
    { title: 'advice, by category', figures: scoreAdviceByCategory(cases) },
    { title: 'suspects', figures: scoreSuspects(cases) },
    { title: 'experiments', figures: scoreExperiments(cases) },
    { title: 'a re-run', figures: scoreReruns(cases) },
    { title: 'same failure', figures: scoreGroups(cases) },
    ...scoreBuilds(cases),
    { title: 'quotations', figures: scoreQuotes(cases) },
    { title: 'loop', figures: scoreLoop(cases) },
    { title: 'tool choice', figures: scoreToolChoice(cases) },
    { title: 'tools by category said', figures: scoreToolsByCategory(cases) },
    { title: 'tools', figures: scoreTools(cases) },
    { title: 'cost and time', figures: scoreCosts(cases) },
    { title: 'speed', figures: scoreSpeed(cases, elapsedMilliseconds) },
  ];
  return sections.filter(({ figures }) => figures.length > 0);
}

function countCases(cases: readonly ReplayedCase[]): Figure[] {
  const failed = cases.filter((replayedCase) => replayedCase.result.error !== null).length;
  return [
    { name: 'cases', value: cases.length, cases: cases.length, unit: 'count' },
    { name: 'cases that failed', value: failed, cases: cases.length, unit: 'count' },
  ];
}

const SLICES = ['project', 'owner', 'source', 'category'] as const;
export type SliceBy = (typeof SLICES)[number];

/** The maximum number of rows in a table for people. Further rows are merged into one. */
const MAX_ROWS = 30;
const OTHERS = '(others)';
const UNKNOWN = '(unknown)';

/**
 * Scores the main figures by project, source or labeled category: one row for each slice, largest first;
 * slices beyond thirty are combined. Returns null if all cases are in one slice.
 */
export function scoreSlices(cases: readonly ReplayedCase[], by: SliceBy): FigureSection | null {
  const slices = [...Map.groupBy(cases, ({ row }) => (row === null ? UNKNOWN : getSlice(row, by)))];
  if (slices.length < 2) return null;
  const sorted = slices.sort(
    ([left, ones], [right, others]) => others.length - ones.length || (left < right ? -1 : 1),
  );
  const listed = sorted.length <= MAX_ROWS ? sorted : sorted.slice(0, MAX_ROWS - 1);
  const rest = sorted.slice(listed.length).flatMap(([, members]) => members);
  const rows = rest.length === 0 ? listed : [...listed, [OTHERS, rest] as const];
  return { title: `by ${by}`, figures: rows.flatMap(([row, members]) => createRow(row, members)) };
}

function getSlice(row: DatasetRow, by: SliceBy): string {
  if (by === 'project') return resolveProject(row);
  if (by === 'owner') return resolveProject(row).split('/')[0] ?? UNKNOWN;
  return (by === 'source' ? row.source : row.category) ?? UNKNOWN;
}

function createRow(row: string, members: readonly ReplayedCase[]): Figure[] {
  const judged = listJudgedCases(members);
  const published = judged.filter(({ one }) => one.result.action === 'auto_notify');
  const suspected = members
    .filter((member) => (member.row?.faulty_files?.length ?? 0) > 0)
    .map((member) => ({ one: member }));
  const labelled = members.filter((member) => (member.row?.expected_lines?.length ?? 0) > 0);
  const cell = (column: string, figure: Figure): Figure => ({
    ...figure,
    name: `${column}, ${row}`,
    cell: { row, column },
  });
  const isFirst = ({ one }: { readonly one: ReplayedCase }) => findRank(one) === 1;
  const figures = [
    cell('cases', { name: '', value: members.length, cases: members.length, unit: 'count' }),
    cell('right', createShareFigure('', judged, isRight)),
    cell('publ. ok', createShareFigure('', published, isRight)),
    cell('suspect', createShareFigure('', suspected, isFirst)),
    cell('lines', { name: '', value: computeMean(labelled.map(computeLineRecall)), cases: labelled.length }),
  ];
  return [...figures.filter(({ cases }) => cases > 0), ...listAdviceCells(row, members)];
}
