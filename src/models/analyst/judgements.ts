/**
 * Each judgement's prompt and the variables it is rendered with. A number is the most characters of that variable, about four to a token (what they are
 * worth: docs/how-to/models.md); `page` is filled by what the judgement must see first and may be longer, `situation` is short by itself. `null`: text of ours, not cut.
 */
export const JUDGEMENTS = {
  classify: { prompt: 'triage/classify', budget: { page: 8_000 } },
  reason: { prompt: 'triage/reason', budget: { situation: 6_000, tools: null, page: 6_000 } },
  'select-tool': { prompt: 'triage/select-tool', budget: { situation: 6_000, page: 4_000 } },
  'correct-call': { prompt: 'triage/correct-call', budget: { tool: null, call: 2_000, error: 1_000, facts: 4_000 } },
  answer: { prompt: 'triage/answer', budget: { situation: 6_000, page: 12_000 } },
  verify: { prompt: 'triage/verify', budget: { situation: 6_000, answer: 6_000, page: 6_000 } },
  'ask-understand': { prompt: 'ask/understand', budget: { topic: 2_000, history: 3_000, question: 2_000 } },
  'ask-choose-tools': {
    prompt: 'ask/choose-tools',
    budget: { topic: 4_000, history: 4_000, asked: 2_000, evidence: 9_000, question: 2_000 },
  },
  'ask-answer': {
    prompt: 'ask/answer',
    budget: { shape: null, topic: 4_000, history: 6_000, asked: 2_000, evidence: 16_000, question: 2_000 },
  },
} as const satisfies Record<string, { readonly prompt: string; readonly budget: Readonly<Record<string, number | null>> }>;

export type JudgementName = keyof typeof JUDGEMENTS;

/** The values a judgement's prompt needs. */
export type PromptValues<Name extends JudgementName> = Readonly<Record<keyof (typeof JUDGEMENTS)[Name]['budget'], string>>;

/** Most characters of each variable of a judgement's prompt. */
export type Limits<Name extends JudgementName> = Readonly<Record<keyof (typeof JUDGEMENTS)[Name]['budget'], number>>;

/** The size budget of a judgement, or a share of it (0..1]. Text of ours has no limit in any share. */
export function limitsOf<Name extends JudgementName>(name: Name, share: number): Limits<Name>;
export function limitsOf(name: JudgementName, share: number): Readonly<Record<string, number>> {
  const budget: Readonly<Record<string, number | null>> = JUDGEMENTS[name].budget;
  const limits = Object.entries(budget).map(([variable, most]) => [
    variable,
    most === null ? Number.POSITIVE_INFINITY : Math.floor(most * share),
  ]);
  return Object.fromEntries(limits);
}
