import { type Analysis, QUOTES_ONLY } from '../../domain/analysis.ts';
import { createSentenceFilter } from './distinct-sentences.ts';

/** The texts of an answer in reading order, without repetitions. */
export interface AnswerTexts {
  readonly lead: string;
  /** The text of each claim; empty if it says nothing new. */
  readonly claims: readonly string[];
  /** The first sentence of the advice. `advice` is the rest. */
  readonly order: string;
  readonly advice: string;
}

/** Removes repetitions of the title, and of each other, from the texts of an answer. */
export function writeTexts({ answer }: Pick<Analysis, 'answer'>): AnswerTexts {
  const sayOnce = createSentenceFilter();
  sayOnce(answer.title, true);
  const lead = sayOnce(answer.rootCause);
  const claims = answer.claims.map(({ text }) => (text === QUOTES_ONLY ? '' : sayOnce(text)));
  const [order = '', ...advice] = sayOnce(answer.fixRecommendation, true).split(
    /(?<=[.!?])\s+(?=[\p{Lu}“"])/u,
  );
  return { lead, claims, order: order.replace(/\.$/, ''), advice: advice.join(' ') };
}
