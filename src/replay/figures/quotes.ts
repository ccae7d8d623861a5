import type { ReplayedCase } from '../run/replay.ts';
import { meanFigure, ratioInterval } from './clusters.ts';
import { caseShare, type Figure, idsOf, shareFigure, withInterval } from './figure.ts';
import { coveredShare, holdsLine, type LineRange } from './line-ranges.ts';

/** A case whose claims quote, or might have. `quoted`: the lines they name, each as a range of its own. */
interface Quoting {
  readonly one: ReplayedCase;
  readonly quoted: readonly LineRange[];
}

/**
 * How many of the quotations that the claims make stand on their line of the log, how many answers quote nothing, and, where lines are labelled, how
 * well the quotations meet them. Empty where nothing was answered.
 */
export function scoreQuotes(cases: readonly ReplayedCase[]): Figure[] {
  const answered = cases
    .filter((one) => one.result.action !== null || one.quotes.made > 0)
    .map((one) => ({ one, quoted: quotedLines(one) }));
  if (answered.length === 0) return [];
  const labelled = answered.filter(({ one }) => (one.row?.expected_lines?.length ?? 0) > 0);
  return [
    ...literalFigure(answered),
    caseShare('answers without a quotation', answered, ({ one }) => one.quotes.made === 0, 'bad'),
    ...(labelled.length === 0 ? [] : metFigures(labelled)),
  ];
}

function literalFigure(answered: readonly Quoting[]): Figure[] {
  const made = answered.reduce((total, { one }) => total + one.quotes.made, 0);
  if (made === 0) return [];
  const literal = answered.reduce((total, { one }) => total + one.quotes.literal, 0);
  const wrong = answered.filter(({ one }) => one.quotes.literal < one.quotes.made);
  const figure = shareFigure('quotations literally in the log', literal, made, idsOf(wrong));
  return [
    withInterval(
      figure,
      ratioInterval(answered, ({ one }) => [one.quotes.literal, one.quotes.made]),
    ),
  ];
}

function metFigures(labelled: readonly Quoting[]): Figure[] {
  const quotes = (entry: Quoting) => entry.quoted.length;
  const met = ({ one, quoted }: Quoting) => quoted.filter(([line]) => holdsLine(one.row?.expected_lines ?? [], line)).length;
  const sum = (countOf: (entry: Quoting) => number) => labelled.reduce((total, entry) => total + countOf(entry), 0);
  const aside = labelled.filter((entry) => met(entry) < quotes(entry));
  const precision = shareFigure('quotations on a labelled line', sum(met), sum(quotes), idsOf(aside));
  return [
    meanFigure(
      'recall of labelled lines, by quotations',
      labelled,
      ({ one, quoted }) => coveredShare(one.row?.expected_lines ?? [], quoted),
      1,
    ),
    caseShare('answers that quote a labelled line', labelled, (entry) => met(entry) > 0),
    ...(sum(quotes) === 0
      ? []
      : [
          withInterval(
            precision,
            ratioInterval(labelled, (entry) => [met(entry), quotes(entry)]),
          ),
        ]),
  ];
}

/** Each line that is quoted, once. Only quotations of logs count; what a tool brought has no line in them. */
function quotedLines({ result }: ReplayedCase): LineRange[] {
  const logs = new Set(result.excerpts.map(({ source }) => source));
  const quotes = result.claims.flatMap((claim) => claim.quotes).filter(({ source }) => logs.has(source));
  return [...new Set(quotes.map(({ line }) => line))].map((line) => [line, line]);
}
