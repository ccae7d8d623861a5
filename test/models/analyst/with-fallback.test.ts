import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import { withFallback } from '../../../src/models/analyst/with-fallback.ts';
import type { Analyst, Assessment, Insight } from '../../../src/ports/analyst.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import type { ToolDescription } from '../../../src/ports/toolbox.ts';
import { createScriptedAnalyst } from '../../support/scripted-analyst.ts';
import { sampleSubject } from '../../support/subject.ts';

const never = new AbortController().signal;
const subject = sampleSubject();

function createNamedAnalyst(name: string, script: Parameters<typeof createScriptedAnalyst>[0] = {}) {
  const analyst = createScriptedAnalyst(script);
  const by =
    <Input>(ask: (input: Input, signal: AbortSignal) => Promise<object>) =>
    async (input: Input, signal: AbortSignal) => ({
      ...(await ask(input, signal)),
      by: name,
    });
  return {
    ...analyst,
    name,
    classify: by(analyst.classify),
    plan: by(analyst.plan),
    chooseTools: by(analyst.chooseTools),
    correctCall: by(analyst.correctCall),
    answer: by(analyst.answer),
    verify: by(analyst.verify),
  } as Analyst & { asked: string[] };
}

/** An analyst whose every judgement throws what the function makes. */
function createFailingAnalyst(make: () => unknown): Analyst & { asked: number } {
  const broken = { name: 'llm', asked: 0 };
  const fail = async () => {
    broken.asked += 1;
    throw make();
  };
  const converse = { understand: fail, chooseTools: fail, reply: fail };
  return Object.assign(broken, {
    classify: fail,
    plan: fail,
    chooseTools: fail,
    correctCall: fail,
    answer: fail,
    verify: fail,
    converse,
  });
}

async function createInsight(): Promise<Insight> {
  const { value } = await createScriptedAnalyst().classify({ subject }, never);
  return { subject, classification: value, evidence: [], outcomes: [], round: 1, gaps: [] };
}

function createTool(name: string, always: boolean): ToolDescription {
  return {
    name,
    question: '?',
    categories: ['TEST_FAILURE'],
    always,
    costClass: 'low',
    usualLatencyMs: 1,
    fallback: false,
    parameters: {},
  };
}

const timeout = () =>
  new TriageError('timeout', 'The model did not respond (timeout after 60 s)', { retryable: true });

describe('a judgment that fails', () => {
  test('is made by the fallback, with the reason, and the lost tokens are counted', async () => {
    const usage = {
      inputTokens: 700,
      outputTokens: 30,
      costUsd: 0.01,
      modelCalls: 2,
      cachedInputTokens: 500,
      retries: 1,
    };
    const llm = createFailingAnalyst(
      () =>
        new TriageError('invalid-input', "The model's reply does not fit what was asked: no JSON", {
          details: { usage },
        }),
    );
    const judgment = await withFallback(llm, createNamedAnalyst('rules'), silentLogger).classify(
      { subject },
      never,
    );
    expect(judgment).toMatchObject({
      by: 'rules',
      usage,
      note: `The model's reply does not fit what was asked: no JSON; the rules were used for the step "classify".`,
    });
  });

  test('because of our own error is also made by the fallback, and the error is logged', async () => {
    const llm = createFailingAnalyst(() => new TypeError('x is undefined, key sk-123'));
    const { by, note } = await withFallback(llm, createNamedAnalyst('rules'), silentLogger).answer(
      await createInsight(),
      never,
    );
    expect(by).toBe('rules');
    expect(note).toBe(
      'The model could not be used because of a fault in Faultline; the rules were used for the step "answer".',
    );
  });

  test('because the run ended is an error', async () => {
    const run = new AbortController();
    const llm = createFailingAnalyst(() => {
      run.abort();
      return new TriageError('cancelled', 'ended');
    });
    await expect(
      withFallback(llm, createNamedAnalyst('rules'), silentLogger).classify({ subject }, run.signal),
    ).rejects.toMatchObject({
      code: 'cancelled',
    });
  });
});

describe('a model that is paused', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }));
  afterEach(() => void vi.useRealTimers());

  test.each(['upstream-auth', 'quota-exhausted'] as const)(
    'is not asked for five minutes after %s',
    async (code) => {
      const llm = createFailingAnalyst(() => new TriageError(code, 'The key was refused'));
      const analyst = withFallback(llm, createNamedAnalyst('rules'), silentLogger);
      await analyst.classify({ subject }, never);
      const second = await analyst.plan(await createInsight(), never);
      expect(llm.asked).toBe(1);
      expect(second.note).toBe('The model is paused for a while: The key was refused; the rules were used.');
      vi.setSystemTime(5 * 60_000 + 1);
      await analyst.classify({ subject }, never);
      expect(llm.asked).toBe(2);
    },
  );

  test('is paused for a minute by two consecutive timeouts, not by one, and again by one after the pause', async () => {
    const llm = createFailingAnalyst(timeout);
    const analyst = withFallback(llm, createNamedAnalyst('rules'), silentLogger);
    for (let time = 0; time < 5; time++) await analyst.classify({ subject }, never);
    expect(llm.asked).toBe(2);
    vi.setSystemTime(60_001);
    for (let time = 0; time < 5; time++) await analyst.classify({ subject }, never);
    expect(llm.asked).toBe(3);
  });

  test('is tried by one of several requests after the pause, and the others do not wait for it', async () => {
    const llm = createFailingAnalyst(timeout);
    const analyst = withFallback(llm, createNamedAnalyst('rules'), silentLogger);
    for (let time = 0; time < 2; time++) await analyst.classify({ subject }, never);
    vi.setSystemTime(60_001);
    const { promise, reject } = Promise.withResolvers<never>();
    llm.classify = () => promise;
    const first = analyst.classify({ subject }, never);

    expect((await analyst.classify({ subject }, never)).note).toContain('The model is paused for a while');
    reject(timeout());
    expect((await first).note).toContain('were used for the step "classify"');
  });

  test('is never paused because of invalid replies', async () => {
    const llm = createFailingAnalyst(() => new TriageError('invalid-input', 'no JSON'));
    const analyst = withFallback(llm, createNamedAnalyst('rules'), silentLogger);
    for (let time = 0; time < 5; time++) await analyst.classify({ subject }, never);
    expect(llm.asked).toBe(5);
  });
});

describe('verification', () => {
  const ask = async (
    model: Partial<Assessment>,
    rules: Partial<Assessment>,
    category: 'TEST_FAILURE' | 'INFRA_ERROR' = 'TEST_FAILURE',
  ) => {
    const analyst = withFallback(
      createNamedAnalyst('llm', { assessments: [model] }),
      createNamedAnalyst('rules', { assessments: [rules] }),
      silentLogger,
    );
    const known = await createInsight();
    const { value: answer } = await createScriptedAnalyst().answer(known, never);
    const classification = { ...known.classification, category };
    return (await analyst.verify({ ...known, classification, answer }, never)).value;
  };

  test('is made by the model alone: the graph compares it once with the rules', async () => {
    expect(
      await ask({ confidence: 0.9, against: ['E1'] }, { confidence: 0.2, against: ['E4'] }),
    ).toMatchObject({
      confidence: 0.9,
      against: ['E1'],
    });
  });

  test('of an answer that exonerates the change needs both to call a line relevant', async () => {
    const [model, rules] = [
      { grades: { E1: 'relevant' } },
      { grades: { E1: 'ambiguous', E2: 'relevant' }, against: ['E4'] },
    ] as const;
    expect(await ask(model, rules, 'INFRA_ERROR')).toMatchObject({
      grades: { E1: 'ambiguous' },
      against: ['E4'],
    });
    expect((await ask(model, rules)).grades).toEqual({ E1: 'relevant' });
  });

  test("by the fallback is only as confident as the fallback's own category", async () => {
    const rules = createNamedAnalyst('rules', { assessments: [{ confidence: 0.97 }, { confidence: 0.2 }] });
    const known = await createInsight();
    const { value: answer } = await createScriptedAnalyst().answer(known, never);
    const classification = { ...known.classification, category: 'CONFIG_ERROR' as const, confidence: 1 };
    const gone = Object.assign(createFailingAnalyst(timeout), { name: 'llm' });
    const { value, by } = await withFallback(gone, rules, silentLogger).verify(
      { ...known, classification, answer },
      never,
    );
    expect(by).toBe('rules');
    expect(value.confidence).toBe(0.2);
  });

  test('of an answer that exonerates the change finds nothing relevant without a second opinion', async () => {
    const rules = Object.assign(createFailingAnalyst(timeout), { name: 'rules' });
    const analyst = withFallback(
      createNamedAnalyst('llm', { assessments: [{ grades: { E1: 'relevant' } }] }),
      rules,
      silentLogger,
    );
    const known = await createInsight();
    const { value: answer } = await createScriptedAnalyst().answer(known, never);
    const classification = { ...known.classification, category: 'INFRA_ERROR' as const };
    expect((await analyst.verify({ ...known, classification, answer }, never)).value.grades).toEqual({
      E1: 'ambiguous',
    });
  });
});

test('tools that always run are called even if the model omits them', async () => {
  const call = (name: string) => ({ tool: name, args: {}, why: 'w' });
  const llm = createNamedAnalyst('llm', { calls: [[call('read_file')]] });
  const rules = createNamedAnalyst('rules', { calls: [[call('search_knowledge'), call('view_log')]] });
  const offered = [
    createTool('search_knowledge', true),
    createTool('read_file', false),
    createTool('view_log', false),
  ];
  const known = await createInsight();
  const plan = { thought: '', confidence: 0, enough: false, retrieval: 0 };
  const { value, by } = await withFallback(llm, rules, silentLogger).chooseTools(
    { ...known, plan, offered },
    never,
  );
  expect(by).toBe('llm');
  expect(value.map((one) => one.tool)).toEqual(['search_knowledge', 'read_file']);
});
