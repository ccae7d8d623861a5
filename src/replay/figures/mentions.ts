import type { DatasetRow } from '../cases/row.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { meanFigure } from './clusters.ts';
import { caseShare, type Figure, mean } from './figure.ts';
import { isRight, type Judged, judgedCases } from './judged.ts';
import { mentionFinder } from './words.ts';

/** Of the words that any good explanation holds: with fewer an answer has missed the cause, and with so many it is useful. */
const [CAUSE_FROM, USEFUL_FROM] = [0.2, 0.5];
/** Characters of an answer that a reader is thought to read. */
const MAX_ANSWER = 4_000;

/**
 * Whether the explanation, root cause and advice together, says the words that its label requires, and none that only a wrong one would say; and
 * whether the answer as a whole is useful. An answer that failed says nothing. Empty where no case names such words, or nothing was answered.
 */
export function scoreMentions(cases: readonly ReplayedCase[]): Figure[] {
  return [...scoreRequired(cases), ...scoreForbidden(cases), ...scoreUseful(cases)];
}

function scoreRequired(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = saidShares(cases, requiredOf, explanationOf);
  if (labelled.length === 0) return [];
  return [
    meanFigure('required mentions said', labelled, ({ share }) => share, 1),
    caseShare('answers with every required mention', labelled, ({ share }) => share === 1),
    caseShare('answers with a required mention', labelled, ({ share }) => share > 0),
  ];
}

function scoreForbidden(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = saidShares(cases, (row) => (row?.forbidden_mentions ?? []).map((mention) => [mention]), explanationOf);
  return labelled.length === 0 ? [] : [caseShare('answers with a forbidden mention', labelled, ({ share }) => share > 0, 'bad')];
}

/** The answer as a reader has it: with its quotations, tests and suspects. */
function scoreUseful(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = saidShares(cases, requiredOf, answerOf);
  const shares = new Map(labelled.map(({ one, share }) => [one, share]));
  const judged = judgedCases(labelled.map(({ one }) => one)).map((entry) => ({ ...entry, share: shares.get(entry.one) ?? 0 }));
  if (judged.length === 0) return [];
  const published = judged.filter(({ one }) => one.result.action === 'auto_notify');
  const isWrong = (entry: Judged & Said) => !isRight(entry) || entry.share < CAUSE_FROM;
  return [
    caseShare('useful answers', judged, (entry) => isRight(entry) && entry.share >= USEFUL_FROM),
    ...(published.length === 0 ? [] : [caseShare('published: wrong, or without the cause', published, isWrong, 'bad')]),
  ];
}

interface Said {
  readonly one: ReplayedCase;
  /** Of the mentions that the label names. */
  readonly share: number;
}

/** The share of its mentions that each text says. A mention is said by any of its spellings. */
function saidShares(
  cases: readonly ReplayedCase[],
  mentionsOf: (row: DatasetRow | null) => readonly (readonly string[])[],
  textOf: (one: ReplayedCase) => string,
): Said[] {
  const labelled = cases.filter((one) => mentionsOf(one.row).length > 0);
  if (!labelled.some((one) => one.result.action !== null)) return [];
  return labelled.map((one) => {
    const isSaid = mentionFinder(textOf(one));
    return { one, share: mean(mentionsOf(one.row).map((spellings) => Number(spellings.some(isSaid)))) };
  });
}

function requiredOf(row: DatasetRow | null): readonly (readonly string[])[] {
  return row?.required_mentions_any ?? row?.required_mentions?.map((mention) => [mention]) ?? [];
}

function explanationOf({ result }: ReplayedCase): string {
  return `${result.rootCause ?? ''}\n${result.fixRecommendation ?? ''}`;
}

function answerOf({ result }: ReplayedCase): string {
  const { rootCause, claims, fixRecommendation, failingTests, suspects } = result;
  const said = claims.flatMap(({ text, quotes }) => [text, ...quotes.map((quote) => quote.text)]);
  const tests = failingTests.flatMap(({ name, file }) => [name, file ?? '']);
  const parts = [rootCause ?? '', ...said, fixRecommendation ?? '', ...tests, ...suspects.map(({ path }) => path)];
  return parts.join('\n').slice(0, MAX_ANSWER);
}
