import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import type { Category } from '../domain/category.ts';
import { judgeWhose } from '../domain/judge-whose.ts';
import { agreeOnFix, isExcused, type Whose } from '../domain/whose.ts';
import type { Cause } from '../ports/notices.ts';
import { resolveForm } from './answer-view.ts';
import type { ArrangedAnswer } from './build-answers.ts';

/** The current state of an answer. A person's decision takes precedence over the analysis. Texts are raw. */
export interface CauseStanding {
  readonly cause: ArrangedAnswer<Cause>;
  readonly build: Build;
  readonly category: Category;
  readonly title: string;
  readonly rootCause: string;
  readonly fix: string;
  /**
   * `known`: a person's earlier decision answered. `sure`: the answer is confident. `unsure`: a person was
   * asked. `confirmed`, `corrected` and `rejected`: a person decided. `failed`: it could not be analyzed.
   */
  readonly form: 'known' | 'sure' | 'unsure' | 'confirmed' | 'corrected' | 'rejected' | 'failed';
  /** The verdict on whose the failure is. */
  readonly whose: Whose;
  /** True if the author of the change has to act, as far as is known. */
  readonly needsYou: boolean;
}

export function getCauseStanding(cause: ArrangedAnswer<Cause>, build: Build): CauseStanding {
  const { analysis, review } = cause;
  const { answer } = analysis;
  const decision = review?.decision ?? null;
  const form = chooseForm(analysis, decision?.type ?? null);
  const category =
    decision?.type === 'correct' ? (decision.category ?? analysis.category) : analysis.category;
  const whose = judgeWhose({ build, analysis, category, failures: cause.sample, history: cause.history });
  return {
    cause,
    build,
    category,
    title:
      decision?.type === 'correct' && decision.rootCause !== undefined
        ? getFirstSentence(decision.rootCause)
        : answer.title,
    rootCause: decision?.rootCause ?? answer.rootCause,
    // Advice for another cause does not help, so it is removed if the cause is corrected.
    fix:
      decision?.fixRecommendation ??
      (decision?.type === 'correct' ? '' : agreeOnFix(answer.fixRecommendation, answer.act, whose)),
    form,
    whose,
    needsYou:
      form !== 'unsure' &&
      form !== 'failed' &&
      form !== 'rejected' &&
      !isExcused(whose) &&
      (category !== 'INFRA_ERROR' || whose.verdict === 'change'),
  };
}

function getFirstSentence(text: string): string {
  return (text.trim().split('\n', 1)[0] ?? '').split('. ', 1)[0] ?? '';
}

function chooseForm(
  analysis: Analysis,
  decided: 'accept' | 'correct' | 'reject' | null,
): CauseStanding['form'] {
  if (decided !== null)
    return decided === 'accept' ? 'confirmed' : decided === 'correct' ? 'corrected' : 'rejected';
  return analysis.terminationReason === 'failed' ? 'failed' : resolveForm(analysis);
}
