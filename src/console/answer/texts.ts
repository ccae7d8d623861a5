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

const STEP = String.raw`The step (?:“[^”]{1,120}”|that (?:runs \`[^\`]{1,120}\`|uses \S{1,120}))`;
const EXIT = String.raw`with exit code \d+`;
/** A sentence that only names the failed step and its exit code; the page shows both in the log. */
const ONLY_STEP = new RegExp(
  String.raw` (?:${STEP}(?: \(job [^)]{1,80}\))? failed(?: ${EXIT})?|` +
    String.raw`(?:The step|It) ended ${EXIT})\.(?=\s|$)`,
  'g',
);

/** Removes sentences that only name the failed step, unless nothing else is said. */
function withoutStep(rootCause: string): string {
  return rootCause.replace(ONLY_STEP, '');
}

/** Removes repetitions of the title, and of each other, from the texts of an answer. */
export function writeTexts({ answer }: Pick<Analysis, 'answer'>): AnswerTexts {
  const sayOnce = createSentenceFilter();
  sayOnce(answer.title, true);
  const lead = sayOnce(withoutStep(answer.rootCause));
  const claims = answer.claims.map(({ text }) => (text === QUOTES_ONLY ? '' : sayOnce(text)));
  const [order = '', ...advice] = sayOnce(answer.fixRecommendation, true).split(
    /(?<=[.!?])\s+(?=[\p{Lu}“"])/u,
  );
  return { lead, claims, order: order.replace(/\.$/, ''), advice: advice.join(' ') };
}
