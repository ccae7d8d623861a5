import type { ReplayedCase } from '../run/replay.ts';
import { meanFigure } from './clusters.ts';
import { type Figure, f1, ratio } from './figure.ts';
import { contentWords } from './words.ts';

/** Longer texts are compared up to here: the comparison takes time by the square of it. */
const MOST_WORDS = 300;

/** How two texts share words in one order. */
export interface Overlap {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

interface Explained {
  readonly one: ReplayedCase;
  readonly said: readonly string[];
  readonly label: readonly string[];
}

/**
 * How far the words of the root cause and of the advice are those of the label. This is overlap, not correctness: a right cause in other words scores
 * low, a wrong one about the same file scores high. The floor is what the same answers score against the labels of other cases.
 * Empty where no label is in words, or nothing was answered.
 */
export function scoreOverlap(cases: readonly ReplayedCase[]): Figure[] {
  const causes = explained(
    cases,
    ({ row }) => row?.root_cause,
    ({ result }) => result.rootCause,
  );
  const fixes = explained(
    cases,
    ({ row }) => row?.fix,
    ({ result }) => result.fixRecommendation,
  );
  return [...figuresOf('root cause', causes), ...figuresOf('fix', fixes)];
}

/**
 * ROUGE-L (Lin 2004, "ROUGE: a package for automatic evaluation of summaries"): the longest common subsequence of words, as a share of the
 * label's words (recall) and of the answer's (precision). Both have at least one word, else all is 0.
 */
export function rougeL(said: readonly string[], label: readonly string[]): Overlap {
  const common = longestCommon(said.slice(0, MOST_WORDS), label.slice(0, MOST_WORDS));
  const precision = ratio(common, Math.min(MOST_WORDS, said.length));
  const recall = ratio(common, Math.min(MOST_WORDS, label.length));
  return { precision, recall, f1: f1(precision, recall) };
}

function figuresOf(what: string, entries: readonly Explained[]): Figure[] {
  if (entries.length === 0) return [];
  const name = (part: string) => `${what}: word overlap, ${part}`;
  const overlaps = entries.map(({ one, said, label }) => ({ one, ...rougeL(said, label) }));
  const figures = [
    meanFigure(name('recall (ROUGE-L)'), overlaps, ({ recall }) => recall),
    meanFigure(name('precision (ROUGE-L)'), overlaps, ({ precision }) => precision),
    meanFigure(name('F1 (ROUGE-L)'), overlaps, (overlap) => overlap.f1),
  ];
  if (entries.length < 2) return figures;
  const strangers = entries.map(({ one, said }, at) => ({ one, ...rougeL(said, entries[(at + 1) % entries.length]?.label ?? []) }));
  return [...figures, meanFigure(name('F1 against another case (floor)'), strangers, (overlap) => overlap.f1)];
}

/** In the order of their ids, so that the next case is the same one whatever the order of the file. */
function explained(
  cases: readonly ReplayedCase[],
  labelOf: (one: ReplayedCase) => string | null | undefined,
  saidOf: (one: ReplayedCase) => string | null,
): Explained[] {
  const entries = cases.flatMap((one): Explained[] => {
    const label = contentWords(labelOf(one) ?? '');
    return label.length === 0 ? [] : [{ one, label, said: contentWords(saidOf(one) ?? '') }];
  });
  if (!entries.some(({ one }) => one.result.action !== null)) return [];
  return entries.sort((left, right) => (left.one.result.id < right.one.result.id ? -1 : 1));
}

function longestCommon(left: readonly string[], right: readonly string[]): number {
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
