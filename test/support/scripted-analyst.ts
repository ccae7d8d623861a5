import type { Answer, Classification } from '../../src/domain/analysis.ts';
import type { Statement, Understanding } from '../../src/domain/conversation.ts';
import type { ToolCall } from '../../src/domain/evidence.ts';
import type { Analyst, Assessment, Judgment, Plan } from '../../src/ports/analyst.ts';

/** The replies of a scripted analyst. A list is used one by one, and its last entry is repeated. */
export interface Script {
  readonly classification?: Partial<Classification>;
  readonly plans?: readonly Partial<Plan>[];
  readonly calls?: readonly (readonly ToolCall[])[];
  readonly answers?: readonly Partial<Answer>[];
  readonly assessments?: readonly Partial<Assessment>[];
  readonly corrected?: ToolCall | null;
  readonly understanding?: Partial<Understanding>;
  readonly lookups?: readonly (readonly ToolCall[])[];
  readonly replies?: readonly (readonly Statement[])[];
}

export interface ScriptedAnalyst extends Analyst {
  /** The requested judgments, in order. */
  readonly asked: string[];
}

/** Creates an analyst that returns the replies of the script. */
export function createScriptedAnalyst(script: Script = {}): ScriptedAnalyst {
  const asked: string[] = [];
  const turn = new Map<string, number>();
  const say = <Value>(
    name: string,
    values: readonly Value[] | undefined,
    fallback: Value,
  ): Judgment<Value> => {
    asked.push(name);
    const index = turn.get(name) ?? 0;
    turn.set(name, index + 1);
    return createJudgment(values?.[Math.min(index, values.length - 1)] ?? fallback);
  };
  return {
    name: 'scripted',
    asked,
    classify: async () => say('classify', undefined, { ...CLASSIFICATION, ...script.classification }),
    plan: async () => {
      const spoken = say<Partial<Plan>>('plan', script.plans, {});
      return {
        ...spoken,
        value: { thought: 'thinking', confidence: 0.7, enough: false, retrieval: 0, ...spoken.value },
      };
    },
    chooseTools: async () => {
      const spoken = say<readonly ToolCall[]>('chooseTools', script.calls, []);
      return { ...spoken, value: [...spoken.value] };
    },
    correctCall: async () => say('correctCall', undefined, script.corrected ?? null),
    answer: async () => {
      const spoken = say<Partial<Answer>>('answer', script.answers, {});
      return { ...spoken, value: { ...ANSWER, ...spoken.value } };
    },
    verify: async () => {
      const spoken = say<Partial<Assessment>>('verify', script.assessments, {});
      return { ...spoken, value: { ...ASSESSMENT, ...spoken.value } };
    },
    converse: {
      understand: async () =>
        say('understand', undefined, { shape: 'explanation', about: 'the cause', ...script.understanding }),
      chooseTools: async () => {
        const spoken = say<readonly ToolCall[]>('lookups', script.lookups, []);
        return { ...spoken, value: [...spoken.value] };
      },
      reply: async ({ onText }) => {
        const spoken = say<readonly Statement[]>('reply', script.replies, []);
        for (const { lead, text } of spoken.value) onText({ text: lead + text });
        return spoken;
      },
    },
  };
}

const CLASSIFICATION: Classification = {
  category: 'TEST_FAILURE',
  kind: 'assertion',
  confidence: 0.8,
  probabilities: {
    CODE_ERROR: 0.1,
    INFRA_ERROR: 0.02,
    CONFIG_ERROR: 0.04,
    DEPENDENCY_ERROR: 0.04,
    TEST_FAILURE: 0.8,
  },
  abstained: false,
  because: 'scripted',
  route: 'test and words',
};

const ANSWER: Answer = {
  title: 'the cart total is rounded twice',
  rootCause: 'Each line is rounded before the sum.',
  fixRecommendation: 'Round once, after the sum.',
  confidence: 0.9,
  claims: [
    {
      text: 'the totals differ',
      evidence: ['E1'],
      quotes: [{ source: 'build.log', line: 121, text: 'expected 10.20, got 10.21' }],
    },
  ],
  suspects: [],
  hypotheses: [],
};

const ASSESSMENT: Assessment = {
  grades: { E1: 'relevant' },
  unsupportedClaims: [],
  gaps: [],
  confidence: 0.9,
  against: [],
};

function createJudgment<Value>(value: Value): Judgment<Value> {
  return {
    value,
    by: 'scripted',
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0 },
    model: null,
    promptHash: null,
    note: null,
  };
}
