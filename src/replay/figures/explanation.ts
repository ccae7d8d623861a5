import type { DatasetRow } from '../cases/case.ts';
import { listContentWords, mentionFinder } from '../run/check-case.ts';
import type { ReplayedCase } from '../run/replay.ts';
import {
  computeF1,
  computeMean,
  computeRatio,
  createMeanFigure,
  createShareFigure,
  type Figure,
  isRight,
  type Judged,
  listJudgedCases,
} from './figure.ts';

/**
 * The thresholds for the share of required words in an answer: below the first, the answer missed the cause;
 * from the second on, it is useful.
 */
const [CAUSE_FROM, USEFUL_FROM] = [0.2, 0.5];
/** The maximum number of characters of an answer that are compared, assuming that readers read no more. */
const MAX_ANSWER = 4_000;

/**
 * Scores whether the explanation (root cause and advice together) contains the words that its label requires,
 * and none that only a wrong one contains, and whether the whole answer is useful. A failed answer contains
 * none. Returns none if no label has such words, or nothing was answered.
 */
export function scoreMentions(cases: readonly ReplayedCase[]): Figure[] {
  return [...scoreRequired(cases), ...scoreForbidden(cases), ...scoreUseful(cases)];
}

function scoreRequired(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = computeMentionShares(cases, getRequiredMentions, getExplanation);
  if (labelled.length === 0) return [];
  return [
    createMeanFigure('required mentions said', labelled, ({ share }) => share, 1),
    createShareFigure('answers with every required mention', labelled, ({ share }) => share === 1),
    createShareFigure('answers with a required mention', labelled, ({ share }) => share > 0),
  ];
}

function scoreForbidden(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = computeMentionShares(
    cases,
    (row) => (row?.forbidden_mentions ?? []).map((mention) => [mention]),
    getExplanation,
  );
  return labelled.length === 0
    ? []
    : [createShareFigure('answers with a forbidden mention', labelled, ({ share }) => share > 0, 'bad')];
}

/** Scores the whole answer as readers see it: with its quotations, tests and suspects. */
function scoreUseful(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = computeMentionShares(cases, getRequiredMentions, getAnswer);
  const shares = new Map(labelled.map(({ one, share }) => [one, share]));
  const judged = listJudgedCases(labelled.map(({ one }) => one)).map((entry) => ({
    ...entry,
    share: shares.get(entry.one) ?? 0,
  }));
  if (judged.length === 0) return [];
  const published = judged.filter(({ one }) => one.result.action === 'auto_notify');
  const isWrong = (entry: Judged & Said) => !isRight(entry) || entry.share < CAUSE_FROM;
  return [
    createShareFigure('useful answers', judged, (entry) => isRight(entry) && entry.share >= USEFUL_FROM),
    ...(published.length === 0
      ? []
      : [createShareFigure('published: wrong, or without the cause', published, isWrong, 'bad')]),
  ];
}

interface Said {
  readonly one: ReplayedCase;
  /** The share of the labeled mentions that the text contains. */
  readonly share: number;
}

/**
 * Computes for each text the share of its required mentions that it contains. Any spelling of a mention
 * counts.
 */
function computeMentionShares(
  cases: readonly ReplayedCase[],
  mentionsOf: (row: DatasetRow | null) => readonly (readonly string[])[],
  textOf: (replayedCase: ReplayedCase) => string,
): Said[] {
  const labelled = cases.filter((replayedCase) => mentionsOf(replayedCase.row).length > 0);
  if (!labelled.some((replayedCase) => replayedCase.result.action !== null)) return [];
  return labelled.map((replayedCase) => {
    const isSaid = mentionFinder(textOf(replayedCase));
    return {
      one: replayedCase,
      share: computeMean(mentionsOf(replayedCase.row).map((spellings) => Number(spellings.some(isSaid)))),
    };
  });
}

function getRequiredMentions(row: DatasetRow | null): readonly (readonly string[])[] {
  return row?.required_mentions_any ?? row?.required_mentions?.map((mention) => [mention]) ?? [];
}

function getExplanation({ result }: ReplayedCase): string {
  return `${result.rootCause ?? ''}\n${result.fixRecommendation ?? ''}`;
}

function getAnswer({ result }: ReplayedCase): string {
  const { rootCause, claims, fixRecommendation, failingTests, suspects } = result;
  const texts = claims.flatMap(({ text, quotes }) => [text, ...quotes.map((quote) => quote.text)]);
  const tests = failingTests.flatMap(({ name, file }) => [name, file ?? '']);
  const parts = [
    rootCause ?? '',
    ...texts,
    fixRecommendation ?? '',
    ...tests,
    ...suspects.map(({ path }) => path),
  ];
  return parts.join('\n').slice(0, MAX_ANSWER);
}

/** The maximum number of words that are compared, because the time grows with the square of their number. */
const MAX_WORDS = 300;

interface Explained {
  readonly one: ReplayedCase;
  readonly said: readonly string[];
  readonly label: readonly string[];
}

/**
 * Scores the overlap of the root cause and the advice with the words of the label. Overlap is not
 * correctness: a right cause in other words scores low, and a wrong one about the same file scores high. The
 * floor is the score of the same answers against the labels of other cases. Returns none if no label is in
 * words, or nothing was answered.
 */
export function scoreOverlap(cases: readonly ReplayedCase[]): Figure[] {
  const causes = listExplained(cases, ({ row, result }) => [row?.root_cause, result.rootCause]);
  const fixes = listExplained(cases, ({ row, result }) => [row?.fix, result.fixRecommendation]);
  return [...createFigures('root cause', causes), ...createFigures('fix', fixes)];
}

/**
 * Computes ROUGE-L (Lin 2004, "ROUGE: a package for automatic evaluation of summaries"): the longest common
 * subsequence of words, as a share of the label's words (recall) and of the answer's (precision). If either
 * has no words, all values are 0.
 */
export function computeRougeL(
  words: readonly string[],
  label: readonly string[],
): { precision: number; recall: number; f1: number } {
  const common = computeLongestCommon(words.slice(0, MAX_WORDS), label.slice(0, MAX_WORDS));
  const precision = computeRatio(common, Math.min(MAX_WORDS, words.length));
  const recall = computeRatio(common, Math.min(MAX_WORDS, label.length));
  return { precision, recall, f1: computeF1(precision, recall) };
}

function createFigures(what: string, entries: readonly Explained[]): Figure[] {
  if (entries.length === 0) return [];
  const name = (part: string) => `${what}: word overlap, ${part}`;
  const overlaps = entries.map(({ one, said, label }) => ({ one, ...computeRougeL(said, label) }));
  const figures = [
    createMeanFigure(name('recall (ROUGE-L)'), overlaps, ({ recall }) => recall),
    createMeanFigure(name('precision (ROUGE-L)'), overlaps, ({ precision }) => precision),
    createMeanFigure(name('F1 (ROUGE-L)'), overlaps, (overlap) => overlap.f1),
  ];
  if (entries.length < 2) return figures;
  const strangers = entries.map(({ one, said }, at) => ({
    one,
    ...computeRougeL(said, entries[(at + 1) % entries.length]?.label ?? []),
  }));
  return [
    ...figures,
    createMeanFigure(name('F1 against another case (floor)'), strangers, (overlap) => overlap.f1),
  ];
}

/**
 * Returns the cases with a label and an answer in words, sorted by id, so that the pairs for the floor do not
 * depend on the order of the file.
 */
function listExplained(
  cases: readonly ReplayedCase[],
  textsOf: (replayedCase: ReplayedCase) => readonly [label: string | null | undefined, said: string | null],
): Explained[] {
  const entries = cases.flatMap((replayedCase): Explained[] => {
    const [label, said] = textsOf(replayedCase).map((text) => listContentWords(text ?? ''));
    return label === undefined || said === undefined || label.length === 0
      ? []
      : [{ one: replayedCase, label, said }];
  });
  if (!entries.some(({ one }) => one.result.action !== null)) return [];
  return entries.sort((left, right) => (left.one.result.id < right.one.result.id ? -1 : 1));
}

function computeLongestCommon(left: readonly string[], right: readonly string[]): number {
  let above = new Uint32Array(right.length + 1);
  for (const word of left) {
    const row = new Uint32Array(right.length + 1);
    for (const [at, other] of right.entries()) {
      row[at + 1] = word === other ? (above[at] ?? 0) + 1 : Math.max(row[at] ?? 0, above[at + 1] ?? 0);
    }
    above = row;
  }
  return above[right.length] ?? 0;
}

/**
 * Scores the suspects: how often a file of the human fix is the first suspect, how often it is among the
 * first three or five, and its rank; and how often a suspect is a file that the log proves to be at fault.
 * Returns none if nothing was answered.
 */
export function scoreSuspects(cases: readonly ReplayedCase[]): Figure[] {
  return [...scoreFaultyFiles(cases), ...scoreProvenFiles(cases)];
}

function scoreProvenFiles(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.flatMap((entry) => {
    const files = [...(entry.row?.files ?? []), ...(entry.row?.faulty_files ?? [])];
    return (entry.row?.files?.length ?? 0) === 0 ? [] : [{ one: entry, files }];
  });
  if (!labelled.some(({ one }) => one.result.action !== null)) return [];
  return [
    createShareFigure(
      'file of the log or of the fix in the first five',
      labelled,
      ({ one: { result }, files }) =>
        result.suspects.slice(0, 5).some(({ path }) => files.some((file) => isSameFile(path, file))),
    ),
  ];
}

function scoreFaultyFiles(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases
    .filter((replayedCase) => (replayedCase.row?.faulty_files?.length ?? 0) > 0)
    .map((replayedCase) => ({ one: replayedCase, rank: findRank(replayedCase) }));
  if (!labelled.some(({ one }) => one.result.action !== null)) return [];
  const top = (name: string, count: number) =>
    createShareFigure(name, labelled, ({ rank }) => rank !== null && rank <= count);
  return [
    top('faulty file first', 1),
    top('faulty file in the first three', 3),
    top('faulty file in the first five', 5),
    createMeanFigure(
      'faulty file: mean reciprocal rank',
      labelled,
      ({ rank }) => (rank === null ? 0 : 1 / rank),
      1,
    ),
  ];
}

/** Returns the rank of the first suspect that the fix touched, from 1, or null if there is none. */
export function findRank({ row, result }: ReplayedCase): number | null {
  const at = result.suspects.findIndex(({ path }) =>
    row?.faulty_files?.some((file) => isSameFile(path, file)),
  );
  return at === -1 ? null : at + 1;
}

/**
 * Checks whether two paths may be the same file. Paths in logs have another root, so one must end with the
 * other, segment by segment.
 */
function isSameFile(left: string, right: string): boolean {
  return `/${left}`.endsWith(`/${right}`) || `/${right}`.endsWith(`/${left}`);
}
