import { describe, expect, test } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import type { Evidence } from '../../../src/domain/evidence.ts';
import { createLlmAnalyst } from '../../../src/models/analyst/llm-analyst.ts';
import type { Insight } from '../../../src/ports/analyst.ts';
import type { ChatModel } from '../../../src/ports/chat-model.ts';
import { sampleSubject } from '../../support/subject.ts';

const never = new AbortController().signal;
const text = Array.from(
  { length: 200 },
  (_, i) => `error: part ${String.fromCharCode(97 + (i % 26))}${i} is gone`,
).join('\n');
const long: Insight = {
  subject: sampleSubject(),
  classification: {
    because: 'E1',
    category: 'TEST_FAILURE',
    kind: 'assertion',
    confidence: 0.9,
    probabilities: {
      CODE_ERROR: 0.1,
      INFRA_ERROR: 0,
      CONFIG_ERROR: 0,
      DEPENDENCY_ERROR: 0,
      TEST_FAILURE: 0.9,
    },
    abstained: false,
  },
  evidence: ['E1', 'E2'].map(
    (id): Evidence => ({ id, tool: 'log', title: 't', text, source: 's', lineStart: 1 }),
  ),
  outcomes: [],
  round: 2,
  gaps: [],
};

describe('a context that is too small', () => {
  const cost = { model: 'm', inputTokens: 5, outputTokens: 1, costUsd: 0.1, calls: 1 };
  const tooLarge = () =>
    new TriageError('too-large', 'The question does not fit', {
      details: { usage: { ...USAGE, retries: 1 } },
    });
  const USAGE = { inputTokens: 2, outputTokens: 0, costUsd: 0.01, modelCalls: 1 };

  function createModelHolding(characters: number): ChatModel & { sizes: number[] } {
    const sizes: number[] = [];
    return {
      name: 'm',
      chooseTools: async () => ({ value: [], ...cost }),
      stream: async () => ({ value: '', ...cost }),
      sizes,
      ask: async (request) => {
        sizes.push(request.user.length);
        if (request.user.length > characters) throw tooLarge();
        return {
          value: request.parse({ thought: 'x', confidence: 0.5, gaps: [], revised: null, next: 'answer' }),
          ...cost,
        };
      },
    };
  }

  test('gets half of the input, with a note, counts the lost tokens, and is not asked in full again', async () => {
    const roomy = createModelHolding(Number.POSITIVE_INFINITY);
    await createLlmAnalyst({ model: roomy }).plan(long, never);
    const model = createModelHolding((roomy.sizes[0] ?? 0) - 1);
    const analyst = createLlmAnalyst({ model });
    const first = await analyst.plan(long, never);
    expect(first).toMatchObject({
      by: 'llm',
      note: expect.stringContaining('shown half'),
      usage: { inputTokens: 7, modelCalls: 2, retries: 1 },
    });
    const second = await analyst.plan(long, never);
    expect(second).toMatchObject({ note: first.note, usage: { inputTokens: 5, modelCalls: 1 } });
    expect(model.sizes).toHaveLength(3);
    expect(model.sizes[1]).toBeLessThan((model.sizes[0] ?? 0) * 0.8);
  });

  test('that is too small for a quarter is given up, with its cost', async () => {
    const model = createModelHolding(100);
    const error = await createLlmAnalyst({ model })
      .plan(long, never)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'too-large',
      details: { usage: { inputTokens: 6, modelCalls: 3, retries: 3 } },
    });
    expect(model.sizes).toHaveLength(3);
  });
});
