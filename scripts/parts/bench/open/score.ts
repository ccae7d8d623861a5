import { blameByText } from '../../../../src/domain/experiment.ts';
import { cleanLine, stripEscapes } from '../../../../src/log/lines/clean.ts';
import { readRerunLabel } from '../../../../src/replay/figures/reruns.ts';
import { mentionFinder } from '../../../../src/replay/run/check-case.ts';
import type { Question, ToolAnswer } from './adapter.ts';

/** The number of characters of an answer that count, because people do not read more. */
const READ = 4_000;
/** The shares of the label's words from which an answer shows the cause, and from which it is useful. */
const [SHOWN, USEFUL] = [0.2, 0.5];

/** An answer compared with its labels. A value is null if there is no such label. */
export interface Scored {
  readonly id: string;
  readonly confidence: number;
  readonly published: boolean;
  readonly isRight: boolean | null;
  /** The share of the labeled information that the answer contains. */
  readonly told: number | null;
  /** True if the category is right, unless none is labeled, and the cause is shown. */
  readonly isGood: boolean;
  readonly isUseful: boolean;
  readonly rerun: { readonly passes: boolean; readonly said: boolean } | null;
}

/** Compares an answer with the labels of its row. */
export function scoreAnswer({ id, row, texts }: Question, answer: ToolAnswer): Scored {
  const said = answer.text.slice(0, READ);
  const isRight = judgeCategory(row, answer);
  const told = measureTold({ id, row, texts }, said);
  const passes = readRerunLabel(row);
  const rerun = passes === null ? null : { passes, said: (answer.transient ?? 0) >= 0.5 };
  const isOnlyRerun = isRight === null && told === null && rerun !== null;
  const reaches = (share: number) =>
    isOnlyRerun ? rerun.passes === rerun.said : (isRight ?? true) && (told ?? 1) >= share;
  return {
    id,
    confidence: answer.confidence ?? 0,
    published: answer.published ?? false,
    isRight,
    told,
    isGood: reaches(SHOWN),
    isUseful: reaches(USEFUL),
    rerun,
  };
}

function judgeCategory(row: Question['row'], answer: ToolAnswer): boolean | null {
  if (row.blame != null)
    return answer.category == null
      ? false
      : blameByText({ category: answer.category, kind: answer.kind ?? null }) === row.blame;
  if (row.category == null) return null;
  const accepted: readonly string[] = [
    row.category,
    row.also_ok ?? [],
    row.category_alternatives ?? [],
  ].flat();
  return answer.category != null && accepted.includes(answer.category);
}

/**
 * Returns the share of the labeled words that the answer contains. If there are none, returns the share of the
 * failures' messages. If there are none either, returns 1 if it contains a labeled line, and 0 otherwise.
 */
function measureTold({ row, texts }: Question, said: string): number | null {
  const mentions = row.required_mentions_any ?? [];
  if (mentions.length > 0) {
    const isSaid = mentionFinder(said);
    return mentions.filter((spellings) => spellings.some(isSaid)).length / mentions.length;
  }
  const flat = flatten(said);
  const messages = (row.failures ?? []).flatMap(({ message }) => message ?? []);
  if (messages.length > 0)
    return messages.filter((message) => flat.includes(flatten(message))).length / messages.length;
  const lines = texts[0]?.text.split('\n') ?? [];
  const telling = (row.expected_lines ?? []).flatMap(([from, to]) => lines.slice(from - 1, to));
  const words = telling.map((line) => flatten(cleanLine(stripEscapes(line)))).filter((line) => line !== '');
  return words.length === 0 ? null : Number(words.some((line) => flat.includes(line.slice(0, 80))));
}

function flatten(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The coverages at which the risk is stated. */
export const COVERAGES = [0.25, 0.5, 0.75, 1] as const;

/**
 * Computes the risk-coverage curve: the share of answers that are not good among the surest ones, at each of
 * COVERAGES, and its mean over all coverages. Of answers that are equally sure, each share counts alike.
 */
export function measureRisk(scored: readonly Scored[]): { readonly at: number[]; readonly mean: number } {
  const groups = [...Map.groupBy(scored, ({ confidence }) => confidence)].toSorted(
    ([left], [right]) => right - left,
  );
  const bad = groups.flatMap(([, own]) => {
    const share = own.filter(({ isGood }) => !isGood).length / own.length;
    return own.map(() => share);
  });
  const sums = bad.reduce<number[]>((all, value) => all.concat((all.at(-1) ?? 0) + value), []);
  const risks = sums.map((sum, at) => sum / (at + 1));
  const at = COVERAGES.map((share) => risks[Math.max(1, Math.round(share * risks.length)) - 1] ?? 0);
  return { at, mean: risks.reduce((sum, risk) => sum + risk, 0) / Math.max(1, risks.length) };
}
