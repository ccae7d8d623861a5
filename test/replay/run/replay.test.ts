import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import { groupCauses } from '../../../src/log/causes/read-causes.ts';
import { listFailures } from '../../../src/log/fingerprint/failures.ts';
import { readDatasetCases } from '../../../src/replay/cases/dataset.ts';
import { type ReplayedCase, type ReplayOptions, replay } from '../../../src/replay/run/replay.ts';
import { toFailedResult } from '../../../src/replay/run/results.ts';
import { groupFailures } from '../../../src/service/triage/group-failures.ts';
import { readMasked } from '../../../src/service/triage/read-build.ts';
import { sampleAnalysis, sampleExperiment } from '../../support/sample-analysis.ts';

/** What scripts may rely on: every key, in this order. */
const KEYS = [
  'id',
  'category',
  'kind',
  'probabilities',
  'confidence',
  'abstained',
  'excerpts',
  'tokens',
  'logLines',
  'logBytes',
  'failingTests',
  'messages',
  'fingerprint',
  'suspects',
  'rootCause',
  'fixRecommendation',
  'claims',
  'action',
  'analyst',
  'usage',
  'milliseconds',
  'error',
  'answerConfidence',
  'iterations',
  'terminationReason',
  'tools',
  'corrections',
  'quotes',
  'logTokens',
  'rawConfidence',
  'model',
  'promptHashes',
  'failedSections',
  'stepFound',
  'blame',
  'transient',
  'analyses',
  'failureFound',
  'advice',
];
const LOG = 'building\nError: the cart is empty\n    at total (src/cart.ts:4:9)\n';

describe('replaying a data set', () => {
  it('writes every key of the result, for read, answered and failed cases', async () => {
    const rows = [
      { id: 'a', log: LOG },
      { id: 'b', log_path: 'missing.log' },
    ];
    const read = await run(rows, { answer: null });
    const answered = await run(rows, {
      answer: async (_build, { sources }) => ({
        reading: readMaskedSources(sources),
        analyses: [sampleAnalysis()],
      }),
    });
    for (const { result } of [...read, ...answered]) expect(Object.keys(result)).toEqual(KEYS);
    expect(answered[0]?.result).toMatchObject({ category: 'TEST_FAILURE', error: null, logLines: 4 });
    expect(Object.keys(read[0]?.result.excerpts[0] ?? {})).toEqual([
      'source',
      'lineStart',
      'lineEnd',
      'text',
      'reason',
    ]);
    expect(Object.keys(answered[0]?.result.usage ?? {})).toEqual(['inputTokens', 'outputTokens', 'costUsd']);
  });

  it('answers every cause of a build with labeled failures, and lists the tests of each', async () => {
    const failures = [{ message: 'the cart is empty', cause: 'c', category: 'CODE_ERROR' }];
    const asked: boolean[] = [];
    const rows = [
      { id: 'a', log: LOG, failures },
      { id: 'b', log: LOG },
      { id: 'c', log: LOG, green: true },
    ];
    const [first] = await run(rows, {
      answer: async (build, { sources }, _signal, _onStep, everyCause) => {
        asked.push(everyCause);
        const reading = readMaskedSources(sources);
        const causes = groupCauses(listFailures(reading), reading).map((cause) => ({ ...cause, reading }));
        const groups = groupFailures({ reading, causes }, build.id);
        const failureIds = groups.flatMap((group) => group.failures.map(({ id }) => id));
        const second = { ...sampleAnalysis(), failureIds, category: 'CODE_ERROR' as const };
        return { reading, analyses: [sampleAnalysis(), second], groups };
      },
    });
    expect(asked).toEqual([true, false, true]);
    expect(first?.result).toMatchObject({ category: 'TEST_FAILURE', failureFound: true });
    const { answer } = sampleAnalysis();
    expect(first?.result.analyses).toMatchObject([
      {
        category: 'TEST_FAILURE',
        title: answer.title,
        rootCause: answer.rootCause,
        action: first?.result.action,
      },
      { category: 'CODE_ERROR', title: answer.title },
    ]);
  });

  it('uses the results of running the failure again, if the counts support them', async () => {
    const tried = sampleExperiment({
      verdict: 'not-this-change',
      arms: sampleExperiment().arms.map((arm) => ({ ...arm, failed: 3, passed: 0 })),
    });
    const rows = [
      { id: 'text', log: LOG },
      { id: 'tried', log: LOG, experiment: tried },
      { id: 'said only', log: LOG, experiment: { ...tried, arms: [] } },
    ];
    const cases = await run(rows, {
      answer: async (_build, { sources }) => ({
        reading: readMaskedSources(sources),
        analyses: [sampleAnalysis()],
      }),
    });
    expect(cases.map(({ result, analysis }) => [result.blame, analysis?.experiment?.sentence])).toEqual([
      ['this-change', undefined],
      ['not-this-change', tried.sentence],
      ['this-change', tried.sentence],
    ]);
  });

  it('turns a failing case into a row with its error, and continues', async () => {
    const cases = await run(
      [
        { id: 'a', log: LOG },
        { id: 'b', log: LOG },
      ],
      {
        answer: async (build, { sources }) => {
          if (build.id === 'a') throw new Error('the model burst');
          return { reading: readMaskedSources(sources), analyses: [] };
        },
      },
    );
    expect(cases.map(({ result }) => [result.id, result.error])).toEqual([
      ['a', 'the model burst'],
      ['b', null],
    ]); // prettier-ignore
  });

  it('counts what a failing case cost: its finished steps, and the call that failed', async () => {
    const paid = { inputTokens: 100, outputTokens: 10, costUsd: 0.25 };
    const { steps } = sampleAnalysis();
    const judgment = {
      name: 'classify',
      by: 'llm',
      model: 'm',
      promptHash: null,
      milliseconds: 1,
      modelCalls: 1,
      note: null,
      ...paid,
    };
    const [one] = await run([{ id: 'a', log: LOG }], {
      answer: async (_build, _texts, _signal, onStep) => {
        for (const step of steps.slice(0, 1)) onStep({ ...step, judgements: [judgment, judgment] });
        throw new TriageError('timeout', 'The model did not answer', {
          details: { usage: { ...paid, modelCalls: 1 } },
        });
      },
    });
    expect(one?.result).toMatchObject({
      error: 'The model did not answer',
      usage: { inputTokens: 300, outputTokens: 30, costUsd: 0.75 },
    });
  });

  it('keeps the order of the rows, however long each takes, and obeys the limit of parallel cases', async () => {
    let running = 0;
    let most = 0;
    const rows = Array.from({ length: 9 }, (_, index) => ({ id: `${index}`, log: LOG }));
    const cases = await run(rows, {
      concurrency: 3,
      answer: async (build, { sources }) => {
        most = Math.max(most, ++running);
        await sleep(Number(build.id) % 3 === 0 ? 20 : 1);
        running--;
        return { reading: readMaskedSources(sources), analyses: [] };
      },
    });
    expect(cases.map(({ result }) => result.id)).toEqual(rows.map((row) => row.id));
    expect(most).toBe(3);
  });

  it('names a row that is not JSON by its line', async () => {
    const cases = await run([{ id: 'a', log: LOG }, 'no json'], { answer: null });
    expect(cases[1]).toMatchObject({
      row: null,
      result: { id: 'line-2', error: expect.stringContaining('line 2 is not JSON') },
    });
  });

  it('stops when aborted', async () => {
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    await expect(run([{ id: 'a', log: LOG }], { answer: null }, controller.signal)).rejects.toThrow('enough');
  });

  it('begins no more cases at a limit, and finishes those that run', async () => {
    let begun = 0;
    const rows = Array.from({ length: 9 }, (_, index) => ({ id: `${index}`, log: LOG }));
    const cases = await run(rows, { answer: null, mayStart: () => ++begun <= 3 });
    expect(cases.map(({ result }) => result.id)).toEqual(['0', '1', '2']);
  });

  it('copies what an earlier run finished, in its place', async () => {
    const known = { ...toFailedResult('b', 'of yesterday', 7), quotes: { made: 3, literal: 2 } };
    const rows = ['a', 'b', 'c'].map((id) => ({ id, log: LOG }));
    const cases = await run(rows, {
      answer: null,
      finished: async (outcome) => ('one' in outcome && outcome.one.row.id === 'b' ? known : null),
    });
    expect(cases.map(({ result, resumed }) => [result.id, resumed === true])).toEqual([
      ['a', false],
      ['b', true],
      ['c', false],
    ]); // prettier-ignore
    expect(cases[1]).toMatchObject({ result: known, quotes: { made: 3, literal: 2 }, row: { id: 'b' } });
  });

  it('counts quotations that match their line; a masked secret matches any characters', async () => {
    const quotes = [
      { source: 'log', line: 2, text: 'Error: *** is empty' },
      { source: 'log', line: 2, text: 'the cart is full' },
      { source: 'log', line: 1, text: 'Error: the cart' },
    ];
    const analysis = sampleAnalysis();
    const claiming = {
      ...analysis,
      answer: { ...analysis.answer, claims: [{ text: 'It is.', evidence: ['E1'], quotes }] },
    };
    const [one] = await run([{ id: 'a', log: LOG }], {
      answer: async (_build, { sources }) => ({ reading: readMaskedSources(sources), analyses: [claiming] }),
    });
    expect(one?.quotes).toEqual({ made: 3, literal: 1 });
  });
});

function readMaskedSources(sources: Parameters<typeof readMasked>[0]) {
  return readMasked(sources, { budgetTokens: 500, secrets: 0 });
}

async function run(
  rows: readonly (object | string)[],
  options: Pick<ReplayOptions, 'answer'> & Partial<ReplayOptions>,
  signal = new AbortController().signal,
): Promise<ReplayedCase[]> {
  const dataset = join(mkdtempSync(join(tmpdir(), 'faultline-replay-')), 'cases.jsonl');
  writeFileSync(dataset, rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'));
  const cases: ReplayedCase[] = [];
  const onCase = (done: ReplayedCase) => void cases.push(done);
  await replay(
    {
      cases: readDatasetCases(dataset),
      budgetTokens: 500,
      concurrency: 2,
      maxLogBytes: 1_000_000,
      green: true,
      onCase,
      ...options,
    },
    signal,
  );
  return cases;
}
