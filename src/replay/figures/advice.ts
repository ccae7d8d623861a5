import { CATEGORIES } from '../../domain/category.ts';
import { type AdviceCheck, isSilent } from '../run/check-advice.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { createShareFigure, type Figure } from './figure.ts';

/** A case with a known fix, and the names in its advice. */
interface Advised {
  readonly one: ReplayedCase;
  readonly check: AdviceCheck;
}

/**
 * Scores the names in advice: it is keyed if it contains a name of the known fix that is in logs or tree,
 * invented if it contains a name that is not, and silent if there is no advice. The shares are of all rows
 * with a fix, and of published answers. Returns none if no row has a fix, or nothing was answered.
 */
export function scoreAdvice(cases: readonly ReplayedCase[]): Figure[] {
  const advised = findAdvised(cases);
  if (advised.length === 0) return [];
  const published = advised.filter(({ one }) => one.result.action === 'auto_notify');
  return [
    ...listFiguresAmong('advice', advised),
    createShareFigure(
      'advice keyed, of fixes with a name at hand',
      advised.filter(({ check }) => check.findable > 0),
      isKeyed,
    ),
    createShareFigure(
      'advice keyed, of what is advised',
      advised.filter((entry) => !isWithout(entry)),
      isKeyed,
    ),
    ...(published.length === 0 ? [] : listFiguresAmong('published advice', published)),
  ];
}

/** Scores the same by labeled category, for published and other answers. */
export function scoreAdviceByCategory(cases: readonly ReplayedCase[]): Figure[] {
  const advised = findAdvised(cases);
  const rows = CATEGORIES.flatMap((category) =>
    [true, false].map((isPublished) => ({
      row: `${category}, ${isPublished ? 'published' : 'not published'}`,
      members: advised.filter(
        ({ one }) => one.row?.category === category && (one.result.action === 'auto_notify') === isPublished,
      ),
    })),
  );
  return rows.flatMap(({ row, members }) => (members.length === 0 ? [] : listRowFigures(row, members)));
}

/** Returns one row of a table with the shares of these cases. Returns none if no case has a fix. */
export function listAdviceCells(row: string, cases: readonly ReplayedCase[]): Figure[] {
  const advised = findAdvised(cases);
  return advised.length === 0 ? [] : listRowFigures(row, advised);
}

function findAdvised(cases: readonly ReplayedCase[]): Advised[] {
  const advised = cases.flatMap((replayedCase): Advised[] =>
    replayedCase.result.advice === null ? [] : [{ one: replayedCase, check: replayedCase.result.advice }],
  );
  return advised.some(({ one }) => one.result.action !== null) ? advised : [];
}

const isKeyed = ({ check }: Advised) => check.keyed.length > 0;
const isInvented = ({ check }: Advised) => check.invented.length > 0;
const isWithout = ({ one }: Advised) => isSilent(one.result.fixRecommendation);

function listFiguresAmong(what: string, among: readonly Advised[]): Figure[] {
  return [
    createShareFigure(`${what} keyed`, among, isKeyed),
    createShareFigure(`${what} invented`, among, isInvented, 'bad'),
    createShareFigure(`${what} silent`, among, isWithout, 'neither'),
  ];
}

function listRowFigures(row: string, among: readonly Advised[]): Figure[] {
  const cell = (column: string, figure: Figure): Figure => ({
    ...figure,
    name: `advice ${column}, ${row}`,
    cell: { row, column },
  });
  return [
    cell('keyed', createShareFigure('', among, isKeyed)),
    cell('invented', createShareFigure('', among, isInvented, 'bad')),
    cell('silent', createShareFigure('', among, isWithout, 'neither')),
  ];
}
