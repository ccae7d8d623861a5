import { expect, it } from 'vitest';
import { createPrometheusMetrics } from '../../src/adapters/metrics/prometheus.ts';
import { countAnalysis, instrumentToolbox, measureChatModel } from '../../src/app/instrumentation.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { ChatModel } from '../../src/ports/chat-model.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { sampleAnalysis } from '../support/sample-analysis.ts';
import { sampleSubject } from '../support/subject.ts';
import { createTool, finding, flaky } from '../tools/sample-tools.ts';

const signal = new AbortController().signal;
const make = () => createPrometheusMetrics({ ofProcess: false, freshMs: 0 });
const never = async () => {
  throw new Error('not asked in this test');
};

it('a call to a model counts its tokens, dollars and retries', async () => {
  const metrics = make();
  const reply = {
    value: 'text',
    model: 'gpt-4o-mini',
    inputTokens: 100,
    outputTokens: 7,
    costUsd: 0.25,
    retries: 2,
  };
  const failing = async () => {
    throw new TriageError('upstream-auth', 'refused');
  };
  const model: ChatModel = {
    name: 'gpt-4o-mini',
    ask: never,
    chooseTools: failing,
    stream: async () => reply,
  };
  const measured = measureChatModel(model, metrics);
  await measured.stream({ system: '', turns: [], name: 'q', onText: () => undefined }, signal);
  await expect(measured.chooseTools({ system: '', user: '', name: 'q', tools: [] }, signal)).rejects.toThrow(
    'refused',
  );

  const { body } = await metrics.text();
  expect(body).toContain('faultline_llm_tokens_total{direction="input",model="gpt-4o-mini"} 100');
  expect(body).toContain('faultline_llm_tokens_total{direction="output",model="gpt-4o-mini"} 7');
  expect(body).toContain('faultline_llm_cost_usd_total{model="gpt-4o-mini"} 0.25');
  expect(body).toContain('faultline_retries_total{of="model"} 2');
  expect(body).toContain('faultline_model_latency_seconds_count{model="gpt-4o-mini",outcome="ok"} 1');
  expect(body).toContain('faultline_model_latency_seconds_count{model="gpt-4o-mini",outcome="failed"} 1');
});

it('a call to a tool counts by its outcome, and the toolbox reports paused providers', async () => {
  const metrics = make();
  const tools = [
    createTool('good', async () => [finding]),
    createTool('bad', async () => {
      throw flaky(60_000);
    }),
  ];
  const box = instrumentToolbox(
    createToolbox(tools, { mask: (text) => text, resilience: { firstDelayMs: 1 } }),
    metrics,
  );
  for (const name of ['good', 'bad', 'made up by a model'])
    await box.run({ tool: name, args: { path: 'x' }, why: '' }, sampleSubject(), 'CODE_ERROR', signal);

  const { body } = await metrics.text();
  expect(body).toContain('faultline_tool_latency_seconds_count{tool="good",outcome="ok"} 1');
  expect(body).toContain('faultline_tool_latency_seconds_count{tool="bad",outcome="failed"} 1');
  expect(body).toContain('faultline_tool_latency_seconds_count{tool="unknown",outcome="refused"} 1');
  expect(Object.values(box.breakers?.() ?? {})).toContain('open');
});

it('every correction of an analysis is counted, with its result', async () => {
  const metrics = make();
  const mark = (action: 'self_correct' | 'web_search' | 'human_review', confidence: number) => {
    return { action, confidence, category: 'CODE_ERROR' as const };
  };
  const corrections = [
    { before: mark('web_search', 0.3), after: mark('self_correct', 0.55) },
    { before: mark('self_correct', 0.55), after: null },
  ];
  const build = { provider: 'github', receivedAt: AT, finishedAt: AT };
  countAnalysis(build, { ...sampleAnalysis(), corrections }, metrics);

  const { body } = await metrics.text();
  expect(body).toContain('faultline_corrections_total{action="web_search",result="helped"} 1');
  expect(body).toContain('faultline_corrections_total{action="self_correct",result="nothing_new"} 1');
});

const AT = '2026-11-22T07:00:00.000Z';

it('a stored analysis is counted, with the time since its build arrived', async () => {
  const metrics = make();
  const analysis = {
    ...sampleAnalysis(),
    category: 'TEST_FAILURE' as const,
    analyst: 'rules',
    createdAt: '2026-11-22T07:00:09.000Z',
  };
  const build = {
    provider: 'github',
    receivedAt: '2026-11-22T07:00:00.000Z',
    finishedAt: '2026-11-22T06:59:58.000Z',
  };
  countAnalysis(build, analysis, metrics);
  // One that was imported tells nothing of how long anybody waited.
  countAnalysis(
    { ...build, receivedAt: build.finishedAt },
    { ...analysis, category: 'INFRA_ERROR' },
    metrics,
  );

  const { body } = await metrics.text();
  expect(body).toContain('faultline_failures_total{source="github",category="TEST_FAILURE"} 1');
  expect(body).toContain(`faultline_actions_total{action="${analysis.verdict.action}"} 2`);
  expect(body).toContain(
    'faultline_webhook_to_answer_seconds_sum{category="TEST_FAILURE",analyst="rules"} 9',
  );
  expect(body).not.toContain('faultline_webhook_to_answer_seconds_sum{category="INFRA_ERROR"');
});
