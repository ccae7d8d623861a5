import { describe, expect, it } from 'vitest';
import type { CaseOutcome, DatasetRow } from '../../../src/replay/cases/case.ts';
import { sampleCases } from '../../../src/replay/cases/choose.ts';

const ROWS = Array.from({ length: 200 }, (_, index): DatasetRow => {
  return {
    id: `case-${index}`,
    category: index < 180 ? 'TEST_FAILURE' : index < 198 ? 'CODE_ERROR' : 'INFRA_ERROR',
  };
});

describe('a sample of cases', () => {
  it('is the same in any order, and different with another seed', async () => {
    const sample = await listIds(sampleCases(replayRows(ROWS), 20));
    expect(sample).toHaveLength(20);
    expect((await listIds(sampleCases(replayRows([...ROWS].reverse()), 20))).sort()).toEqual(
      [...sample].sort(),
    );
    expect((await listIds(sampleCases(replayRows(ROWS), 20, 'other'))).sort()).not.toEqual(
      [...sample].sort(),
    );
  });

  it('gives each category its share, and a small one at least one case', async () => {
    const rows = new Map(ROWS.map((row) => [row.id, row.category]));
    const counts = Map.groupBy(await listIds(sampleCases(replayRows(ROWS), 20)), (id) => rows.get(id));
    expect([...counts].map(([category, ids]) => `${category} ${ids.length}`).sort()).toEqual([
      'CODE_ERROR 1',
      'INFRA_ERROR 1',
      'TEST_FAILURE 18',
    ]);
  });

  it('grows without losing cases, in the order of the lines, and may be complete', async () => {
    const [small, large] = [
      await listIds(sampleCases(replayRows(ROWS.slice(0, 180)), 20)),
      await listIds(sampleCases(replayRows(ROWS.slice(0, 180)), 40)),
    ];
    expect(small.every((id) => large.includes(id))).toBe(true);
    expect(large).toEqual(ROWS.map(({ id }) => id).filter((id) => large.includes(id)));
    expect(await listIds(sampleCases(replayRows(ROWS), 1_000))).toHaveLength(200);
    expect(await listIds(sampleCases(replayRows(ROWS), 2))).toHaveLength(2);
  });

  it('includes invalid rows', async () => {
    const bad: CaseOutcome = { line: 201, id: null, error: 'line 201 is not JSON' };
    const outcomes = await collectAll(sampleCases(replayRows(ROWS, [bad]), 3));
    expect(outcomes.at(-1)).toEqual(bad);
    expect(outcomes).toHaveLength(4);
  });
});

async function* replayRows(
  rows: readonly DatasetRow[],
  bad: readonly CaseOutcome[] = [],
): AsyncGenerator<CaseOutcome> {
  for (const [index, row] of rows.entries())
    yield { line: index + 1, one: { row, load: () => Promise.reject(new Error('not asked for')) } };
  yield* bad;
}

async function listIds(outcomes: AsyncIterable<CaseOutcome>): Promise<string[]> {
  return (await collectAll(outcomes)).flatMap((outcome) => ('one' in outcome ? [outcome.one.row.id] : []));
}

async function collectAll(outcomes: AsyncIterable<CaseOutcome>): Promise<CaseOutcome[]> {
  const held: CaseOutcome[] = [];
  for await (const outcome of outcomes) held.push(outcome);
  return held;
}
