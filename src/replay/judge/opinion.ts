import { z } from 'zod';
import type { Masker } from '../../log/mask/mask.ts';
import type { ReplayedCase } from '../run/replay.ts';

/** What a model says of one explanation beside its label. */
export const Opinion = z.object({
  cause: z.enum(['same', 'partly', 'different']),
  /** "unknown" where no fix is labelled. */
  fix: z.enum(['same', 'partly', 'different', 'unknown']),
  /** One sentence; written by a model, so data. */
  because: z.string().transform((text) => text.slice(0, MOST_BECAUSE)),
});
export type Opinion = z.infer<typeof Opinion>;

/** Opened by whoever may read prompts; `hash` names its text. */
export interface JudgePrompt {
  readonly hash: string;
  /** Both values are data of strangers and must be fenced. */
  render(values: { readonly label: string; readonly answer: string }): { readonly system: string; readonly user: string };
}

/** The prompt of the judge, and the characters each of its variables may have. */
export const JUDGE = { prompt: 'replay/judge', budget: { label: 4_000, answer: 6_000 } } as const;

const MOST_BECAUSE = 500;

/** Whether there is something to compare: a labelled cause or fix in words, and an answer. */
export function isJudgeable({ row, result }: ReplayedCase): boolean {
  return [row?.root_cause, row?.fix].some((text) => text != null && text.trim() !== '') && result.action !== null;
}

/** Label and answer as the judge is shown them: masked, cut to what the prompt may hold. The logs themselves are not shown. */
export async function shownToJudge({ row, result }: ReplayedCase, masker: Masker): Promise<{ label: string; answer: string }> {
  const label = textOf([
    ['Root cause', row?.root_cause],
    ['Fix', row?.fix],
  ]);
  const answer = textOf([
    ['Root cause', result.rootCause],
    ['Advice', result.fixRecommendation],
  ]);
  const [first, second] = await masker.maskAll([label, answer]);
  return { label: (first?.text ?? '').slice(0, JUDGE.budget.label), answer: (second?.text ?? '').slice(0, JUDGE.budget.answer) };
}

function textOf(parts: readonly (readonly [heading: string, text: string | null | undefined])[]): string {
  return parts.flatMap(([heading, text]) => (text == null || text.trim() === '' ? [] : [`${heading}: ${text.trim()}`])).join('\n');
}
