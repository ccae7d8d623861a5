import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { generateLog } from '../../scripts/parts/bench/bench-logs.ts';
import { findLinesHolding, matchAlone, matchTogether } from '../../scripts/parts/bench/match.ts';
import { computeMedian } from '../../scripts/parts/bench/read-bench.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the reading benchmark', () => {
  it('generates the same log for the same seed', () => {
    expect(generateLog(50_000, 7)).toBe(generateLog(50_000, 7));
    expect(generateLog(50_000, 7)).not.toBe(generateLog(50_000, 8));
  });

  it('counts the same lines on one thread, on three threads, and line by line', async () => {
    const file = join(folder, 'log');
    const text = `${generateLog(3_000_000)}${'x'.repeat(2_500_000)} error ${'x'.repeat(100_000)}\nfailed`;
    writeFileSync(file, text);
    const literals = ['error', 'fail'];
    const expected = text.split('\n').flatMap((line, i) => (/error|fail/i.test(line) ? [i + 1] : []));
    expect([...findLinesHolding(file, literals)]).toEqual(expected);
    expect(matchAlone(file, literals).lines).toBe(expected.length);
    expect((await matchTogether(file, literals, 3)).lines).toBe(expected.length);
  });

  it('reports the median of its rounds', () => {
    expect(computeMedian([3, 1, 2])).toBe(2);
    expect(computeMedian([4, 1, 3, 2])).toBe(2);
  });
});
