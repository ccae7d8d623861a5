import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/domain/review.ts';
import type { CaseOutcome } from '../../../src/replay/cases/case.ts';
import {
  listReviewedCases,
  listStoredCases,
  type OnLeftOut,
  type StoredCaseDeps,
} from '../../../src/replay/cases/stored.ts';
import type { StoredCase } from '../../../src/stores/measurements.ts';
import { sampleAnalysis, sampleBuild, sampleDecision } from '../../stores/samples.ts';
import { sampleExperiment } from '../../support/sample-analysis.ts';

const LIMITS = { maxBytes: 1_000_000, green: true };
const RECEIVED = '2026-03-01T10:00:00.000Z';

describe('cases from the stores', () => {
  it('have the label of a reviewer: accepted as answered, or corrected', async () => {
    const rows = await readRows([
      createStoredCase('b1', { type: 'accept' }),
      createStoredCase('b2', { type: 'correct', rootCause: 'the cart is shared', blind: 'TEST_FAILURE' }),
      createStoredCase('b3', { type: 'correct', category: 'INFRA_ERROR' }),
      createStoredCase('b4', { type: 'reject', reasonCode: 'right_category_wrong_cause' }),
    ]);
    const shared = { project: 'acme/shop', happened_at: RECEIVED, decided_by: 'ada' };
    const review = { origin: 'audit', blind: false };
    const answered = {
      root_cause: 'add() overwrites the last item',
      fix: 'Append instead of assigning',
      kind: 'assertion',
    };
    expect(rows).toEqual([
      {
        id: 'b1',
        ...shared,
        category: 'TEST_FAILURE',
        ...answered,
        review: { ...review, decision: 'accept' },
      },
      {
        id: 'b2',
        ...shared,
        category: 'TEST_FAILURE',
        kind: 'assertion',
        root_cause: 'the cart is shared',
        review: { ...review, decision: 'correct', blind: true },
      },
      { id: 'b3', ...shared, category: 'INFRA_ERROR', review: { ...review, decision: 'correct' } },
      { id: 'b4', ...shared, category: 'TEST_FAILURE', review: { ...review, decision: 'reject' } },
    ]);
  });

  it('contain the results of running the failure again', async () => {
    const experiment = sampleExperiment();
    const given = createStoredCase('b1', { type: 'accept' });
    const analysis = given.analysis === null ? null : { ...given.analysis, experiment };
    expect(await readRows([{ ...given, analysis }])).toMatchObject([{ id: 'b1', experiment }]);
  });

  it('omit and count what has no label, and further causes of a build', async () => {
    const counts: Record<string, number> = {};
    const rows = await readRows(
      [
        createStoredCase('b1', { type: 'reject', reasonCode: 'cannot_be_told' }),
        createStoredCase('b2', { type: 'reject', reason: 'no' }),
        { ...createStoredCase('b3', { type: 'accept' }), cause: 1 },
      ],
      (_id, reason) => {
        counts[reason] = (counts[reason] ?? 0) + 1;
      },
    );
    expect(rows).toEqual([]);
    expect(counts).toEqual({
      'rejected without a correct category (cannot_be_told)': 1,
      'rejected without a correct category (in words only)': 1,
      'another cause of its build: a replay measures only the first': 1,
    });
  });

  it('have the lines that a reviewer named, in one log, which is read first', async () => {
    const shownBy = {
      evidence: ['E1'],
      lines: [
        { source: 'log', lineStart: 7, lineEnd: 9 },
        { source: 'other', lineStart: 1, lineEnd: 1 },
      ],
    };
    const [one] = await selectGood(
      listStoredCases(createDeps([createStoredCase('b1', { type: 'accept', shownBy })]), {}),
    );
    expect(one?.row.expected_lines).toEqual([
      [7, 9],
      [3, 3],
    ]);
    expect((await one?.load(LIMITS))?.sources.map(({ name }) => name)).toEqual([
      'log',
      'server.log',
      'junit.xml',
    ]);
    await expect(one?.load({ ...LIMITS, maxBytes: 10 })).rejects.toMatchObject({ code: 'too-large' });
  });

  it('have no label before a decision', async () => {
    const [one] = await selectGood(
      listStoredCases(createDeps([{ ...createStoredCase('b1', {}), decision: null, origin: null }]), {}),
    );
    expect(one?.row).toEqual({ id: 'b1', project: 'acme/shop', happened_at: RECEIVED });
    expect(one?.build?.id).toBe('b1');
  });

  it('report that retention deleted their logs, and are read in pages', async () => {
    const many = Array.from({ length: 120 }, (_, index) =>
      createStoredCase(`b${1000 + index}`, { type: 'accept' }),
    );
    const cases = await selectGood(listReviewedCases(createDeps(many), {}));
    expect(cases.map(({ row }) => row.id)).toEqual(many.map(({ build }) => build.id));
    const [gone] = await selectGood(
      listStoredCases(createDeps([createStoredCase('gone', { type: 'accept' })]), {}),
    );
    await expect(gone?.load(LIMITS)).rejects.toThrow(
      'Build gone cannot be replayed: retention deleted its logs on 2026-04-02.',
    );
  });
});

function createStoredCase(id: string, decision: Partial<Decision>): StoredCase {
  const analysis = sampleAnalysis({ buildId: id, triageId: `t-${id}`, fingerprint: 'f' });
  return {
    build: { ...sampleBuild(), id, receivedAt: RECEIVED },
    fingerprint: 'f',
    cause: 0,
    analysis,
    decision: sampleDecision({ id: `rev-${id}`, analysisId: analysis.id }, decision),
    origin: 'audit',
  };
}

function createDeps(all: readonly StoredCase[]): StoredCaseDeps {
  const describeText = (name: string, kind: 'log' | 'report') => ({
    name,
    kind,
    lines: 1,
    bytes: 4,
    notes: [],
  });
  return {
    cases: {
      list: async (_filter, limit, after) => {
        const from = after === null ? 0 : all.findIndex(({ build }) => build.id === after.buildId) + 1;
        return all.slice(from, from + limit);
      },
    },
    builds: { logsForgottenAt: async () => '2026-04-02T00:00:00.000Z' },
    archive: {
      list: async (id) =>
        id === 'gone'
          ? []
          : [
              describeText('junit.xml', 'report'),
              describeText('server.log', 'log'),
              describeText('log', 'log'),
            ],
      read: async (_id, name) => `text of ${name}`,
    },
  };
}

async function readRows(all: readonly StoredCase[], onLeftOut?: OnLeftOut): Promise<unknown[]> {
  return (await selectGood(listReviewedCases(createDeps(all), {}, onLeftOut))).map(({ row }) => row);
}

async function selectGood(outcomes: AsyncIterable<CaseOutcome>) {
  const cases: Extract<CaseOutcome, { readonly one: unknown }>['one'][] = [];
  for await (const outcome of outcomes) if ('one' in outcome) cases.push(outcome.one);
  return cases;
}
