import { z } from 'zod';
import type { Build } from '../../domain/build.ts';
import { judgeWhose } from '../../domain/judge-whose.ts';
import { Whose, withAgreedFix } from '../../domain/whose.ts';
import type { BuildAnswer } from '../../notifications/build-answers.ts';
import { formatWhoseSentence } from '../../notifications/whose-line.ts';
import type { ShownStores } from '../../stores/stores.ts';

/** The verdict on whose a failure is, as programs receive it. */
export const ShownWhose = Whose.extend({
  sentence: z.string().describe('The verdict, its proof and the act that follows, in words'),
});
export type ShownWhose = z.infer<typeof ShownWhose>;

export interface WhoseStores {
  readonly analyses: Pick<ShownStores['analyses'], 'heads'>;
  readonly failures: Pick<ShownStores['failures'], 'histories'>;
}

/** An answer with the verdict on whose its failures are; null if no history is known. */
export type WhoseAnswer<Answer extends BuildAnswer> = Answer & { readonly whose: Whose | null };

/** Adds to the answers of a build the verdict on whose their failures are, and adjusts their advice to it. */
export async function addWhose<Answer extends BuildAnswer>(
  { analyses, failures }: WhoseStores,
  build: Build | null,
  answers: readonly Answer[],
): Promise<WhoseAnswer<Answer>[]> {
  if (build === null || answers.length === 0) return answers.map((answer) => ({ ...answer, whose: null }));
  const [histories, heads] = await Promise.all([failures.histories(build.id), analyses.heads([build.id])]);
  return answers.map((answer) => {
    const { analysis, sample } = answer;
    const history = histories?.get(analysis.fingerprint);
    if (history === undefined) return { ...answer, whose: null };
    const category = heads.find(({ id }) => id === analysis.id)?.category ?? analysis.category;
    const whose = judgeWhose({ build, analysis, category, failures: sample, history });
    return { ...answer, analysis: withAgreedFix(analysis, whose), whose };
  });
}

export function findShownWhose(whose: Whose | null): ShownWhose | null {
  return whose === null ? null : { ...whose, sentence: formatWhoseSentence(whose) };
}
