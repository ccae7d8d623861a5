import { describe, expect, it } from 'vitest';
import type { Analysis, JudgementTrace, Step } from '../../../src/domain/analysis.ts';
import {
  AnalysisTrace,
  buildTrace,
  renderTracePlain,
  renderTraceTree,
} from '../../../src/service/answers/trace.ts';
import { sampleAnalysis } from '../../support/sample-analysis.ts';

const judgment: JudgementTrace = {
  name: 'classify',
  by: 'llm',
  model: 'gpt-4o-mini',
  promptHash: 'abc',
  milliseconds: 812,
  inputTokens: 1_200,
  cachedInputTokens: 1_024,
  outputTokens: 80,
  costUsd: 0.0002,
  modelCalls: 2,
  retries: 1,
  note: null,
};
const step: Step = {
  node: 'execute_tool',
  round: 1,
  startedAt: '2026-10-12T14:00:00.000Z',
  milliseconds: 340,
  summary: 'read_file: broken',
  judgements: [judgment],
  outcomes: [
    {
      call: {
        tool: 'read_file',
        args: { path: 'src/hunter2.ts', deep: { list: ['hunter2'] }, line: 3 },
        why: 'the frame hunter2',
      },
      status: 'ok',
      summary: 'GitHub returned 503. Instead, search_code: 2 findings',
      milliseconds: 300,
      attempts: 5,
      answeredBy: 'search_code',
    },
    {
      call: { tool: 'search_web', args: {}, why: '' },
      status: 'ok',
      summary: '1 finding',
      milliseconds: 1,
      attempts: 0,
      cached: true,
    },
  ],
};
const usage = {
  inputTokens: 1_200,
  outputTokens: 80,
  costUsd: 0.0002,
  modelCalls: 2,
  toolCalls: 2,
  iterations: 1,
};
const mask = async (text: string) => text.replaceAll('hunter2', '***');
const trace = (change: Partial<Analysis> = {}) =>
  buildTrace(sampleAnalysis({ steps: [step], usage, ...change }), mask);

describe('the trace of an analysis', () => {
  it('contains every step, judgment and tool call, with totals', async () => {
    const document = AnalysisTrace.parse(await trace());

    expect(document.steps).toHaveLength(1);
    expect(document.steps[0]?.judgements).toEqual([judgment]);
    expect(
      document.steps[0]?.tools.map(({ tool, cached, attempts, answeredBy }) => ({
        tool,
        cached,
        attempts,
        answeredBy,
      })),
    ).toEqual([
      { tool: 'read_file', cached: false, attempts: 5, answeredBy: 'search_code' },
      { tool: 'search_web', cached: true, attempts: 0, answeredBy: undefined },
    ]);
    expect(document.totals).toMatchObject({
      ...usage,
      steps: 1,
      judgements: 1,
      cachedInputTokens: 1_024,
      cachedToolCalls: 1,
      retries: 5,
    });
  });

  it('is masked, however deeply a text is nested', async () => {
    const document = await trace({ notes: ['because of hunter2'] });
    expect(JSON.stringify(document)).not.toContain('hunter2');
    expect(document.steps[0]?.tools[0]?.args).toEqual({
      path: 'src/***.ts',
      deep: { list: ['***'] },
      line: 3,
    });
  });

  it('is limited in size', async () => {
    const long: Step = {
      ...step,
      summary: 'x'.repeat(9_000),
      outcomes: Array.from({ length: 500 }, () => step.outcomes![0]!),
    };
    const document = await trace({ steps: Array.from({ length: 500 }, () => long) });
    expect(document).toMatchObject({ truncated: true, totals: { steps: 500 } });
    expect(document.steps).toHaveLength(300);
    expect(document.steps[0]?.tools).toHaveLength(64);
    expect(document.steps[0]?.summary.length).toBeLessThan(600);
  });

  it('can be made from steps that were stored before judgments were recorded', async () => {
    const { judgements: _judgments, outcomes: _outcomes, ...old } = step;
    expect((await trace({ steps: [old] })).steps[0]).toMatchObject({ judgements: [], tools: [] });
  });
});

describe('the trace in a terminal', () => {
  it('is a tree with the totals below it', async () => {
    const lines = renderTraceTree(await trace(), { color: false, width: 160 }).split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/^Test failure · .* · ana_9f2c$/),
      '└─ execute_tool, round 1 · 340 ms',
      '   ├─ classify by gpt-4o-mini · 812 ms · 1,200 (1,024 cached) → 80 tokens · $0.0002 · 2 calls · 1 retry',
      expect.stringMatching(
        /^ {3}├─ read_file · ok · 300 ms · 4 retries · answered by search_code · GitHub returned 503\. .* · \{"path":"src\/\*\*\*/,
      ),
      '   └─ search_web · ok · 1 ms · from cache · 1 finding',
      expect.stringMatching(
        /1 round · 2 model calls · 1,200 \(1,024 cached\) → 80 tokens · \$0\.0002 · 2 tool calls \(1 from cache\) · 5 retries/,
      ),
      '',
    ]);
  });

  it.each([40, 80, 120])('is never wider than %d columns', async (width) => {
    const tree = renderTraceTree(await trace({ steps: [{ ...step, summary: 'w'.repeat(400) }, step] }), {
      color: false,
      width,
    });
    for (const line of tree.split('\n')) expect(Array.from(line).length).toBeLessThanOrEqual(width);
  });

  it('is lines of key and value in a pipe', async () => {
    const plain = renderTracePlain(await trace());
    expect(plain.split('\n').map((line) => line.split('\t')[0])).toEqual([
      'Trace',
      'Step',
      'Judgment',
      'Tool',
      'Tool',
      'Total',
      '',
    ]);
    expect(plain).not.toContain('\u001b');
  });

  it('contains no escapes of a log or a model', async () => {
    const hostile = { ...step, outcomes: [], summary: '\u001b[2J::error::pwned ##[group]x\u202e' };
    for (const text of [
      renderTracePlain(await trace({ steps: [hostile] })),
      renderTraceTree(await trace({ steps: [hostile] }), { color: false, width: 120 }),
    ]) {
      expect(text).not.toMatch(/[\u001b\u202e]|##\[/);
    }
  });
});
