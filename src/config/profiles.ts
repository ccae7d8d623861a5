/**
 * The limits of effort and cost per run. Each number can be set separately; no code depends on the name of a
 * profile, only on these numbers.
 */
export const PROFILES = {
  /** An answer within seconds, for many builds or an expensive model. */
  fast: {
    maxIterations: 2,
    firstRound: 'rules',
    timeLimitMs: 90_000,
    budget: { tokens: 20_000, costUsd: 0.02, seconds: 60 },
    investigators: { when: 'never', rounds: 1 },
  },
  balanced: {
    maxIterations: 5,
    firstRound: 'rules',
    timeLimitMs: 300_000,
    budget: { tokens: 80_000, costUsd: 0.1, seconds: 240 },
    investigators: { when: 'complex', rounds: 1 },
  },
  /** Three parallel investigators for every failure. */
  thorough: {
    maxIterations: 8,
    firstRound: 'model',
    timeLimitMs: 900_000,
    budget: { tokens: 300_000, costUsd: 1, seconds: 720 },
    investigators: { when: 'always', rounds: 2 },
  },
} as const;

export const PROFILE_NAMES = [
  'fast',
  'balanced',
  'thorough',
] as const satisfies readonly (keyof typeof PROFILES)[];

export type ProfileName = (typeof PROFILE_NAMES)[number];

/** Finds the profile with this name; undefined if there is none. */
export function findProfile(name: string): (typeof PROFILES)[ProfileName] | undefined {
  const known = PROFILE_NAMES.find((profile) => profile === name);
  return known === undefined ? undefined : PROFILES[known];
}

/**
 * The default number of log tokens for an analysis. Rules need only the informative lines; a model also
 * benefits from their context.
 */
const BUDGET_TOKENS = { rules: 2_000, llm: 3_000 } as const;

/** Returns the number of log tokens that an analysis may use. */
export function resolveBudgetTokens({
  triage,
  analyst,
}: {
  readonly triage: { readonly budgetTokens: number | null };
  readonly analyst: { readonly driver: keyof typeof BUDGET_TOKENS };
}): number {
  return triage.budgetTokens ?? BUDGET_TOKENS[analyst.driver];
}
