import { readFileSync } from 'node:fs';
import { z } from 'zod';

const SCALES = {
  cause: ['right', 'partly', 'wrong', 'empty'],
  advice: ['right', 'direction', 'generic', 'misleading', 'none'],
  english: ['good', 'awkward'],
} as const;
type Scale = keyof typeof SCALES;

const Judgment = z.strictObject({
  id: z.string().min(1),
  cause: z.enum(SCALES.cause),
  advice: z.enum(SCALES.advice),
  english: z.enum(SCALES.english),
});
export type Judgment = z.infer<typeof Judgment>;

/**
 * Reads one reader's judgments by id. Throws with the line number if one is invalid or if an id occurs twice.
 */
export function readJudgments(path: string): ReadonlyMap<string, Judgment> {
  const judgments = new Map<string, Judgment>();
  for (const [at, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    if (line.trim() === '') continue;
    const parsed = Judgment.safeParse(JSON.parse(line));
    if (!parsed.success) throw new Error(`${path}, line ${at + 1}: ${z.prettifyError(parsed.error)}`);
    if (judgments.has(parsed.data.id))
      throw new Error(`${path}, line ${at + 1}: ${parsed.data.id} was judged on an earlier line.`);
    judgments.set(parsed.data.id, parsed.data);
  }
  return judgments;
}

/**
 * Formats two readings as Markdown: a table for each question, the agreement of the readers, and each answer
 * on which they disagree.
 */
export function formatComparison(
  first: ReadonlyMap<string, Judgment>,
  second: ReadonlyMap<string, Judgment>,
): string {
  const pairs = [...first.values()].flatMap((pair) => {
    const other = second.get(pair.id);
    return other === undefined ? [] : [{ one: pair, other }];
  });
  const lone = first.size + second.size - 2 * pairs.length;
  const blocks = (Object.keys(SCALES) as Scale[]).map((scale) => scaleText(scale, pairs));
  const head = `${pairs.length} answers were judged by both readers${lone === 0 ? '' : `, ${lone} by one (left out)`}.`;
  return [head, ...blocks].join('\n\n');
}

type Pair = { readonly one: Judgment; readonly other: Judgment };

function scaleText(scale: Scale, pairs: readonly Pair[]): string {
  const computeShare = (word: string, by: keyof Pair) =>
    (pairs.filter((pair) => pair[by][scale] === word).length / pairs.length).toFixed(2);
  const rows = SCALES[scale].map(
    (word) => `| ${word} | ${computeShare(word, 'one')} | ${computeShare(word, 'other')} |`,
  );
  const differing = pairs.filter(({ one, other }) => one[scale] !== other[scale]);
  return [
    `| ${scale} | first reader | second reader |`,
    '|---|---|---|',
    ...rows,
    '',
    `Agreement ${(1 - differing.length / pairs.length).toFixed(2)}, Cohen's kappa ${computeKappa(scale, pairs).toFixed(2)}.`,
    ...differing.map(({ one, other }) => `- ${one.id}: ${one[scale]} / ${other[scale]}`),
  ].join('\n');
}

/** Computes the agreement beyond chance (Cohen 1960). It is 1 if both readers always give the same answer. */
export function computeKappa(scale: Scale, pairs: readonly Pair[]): number {
  const share = (count: number) => count / pairs.length;
  const seen = share(pairs.filter(({ one, other }) => one[scale] === other[scale]).length);
  const chance = SCALES[scale].reduce((sum, word) => {
    const [left, right] = [
      pairs.filter(({ one }) => one[scale] === word),
      pairs.filter(({ other }) => other[scale] === word),
    ];
    return sum + share(left.length) * share(right.length);
  }, 0);
  return chance === 1 ? 1 : (seen - chance) / (1 - chance);
}
