import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { type BenchFigure, benchReading } from '../../scripts/parts/bench/read-bench.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');
const LOG = resolve(import.meta.dirname, '../fixtures/failures/disk-full-maven-repository/log.txt');

it('the benchmark measures matching, reading, memory and hostile logs, compared with the installed programs', async () => {
  const figures: BenchFigure[] = [];
  await benchReading(
    {
      logs: [LOG],
      matchBytes: 500_000,
      memoryBytes: [200_000, 400_000],
      hostileBytes: 100_000,
      rounds: 1,
      budgetTokens: 500,
      python: 'no-such-python',
      readCommand: [MAIN, 'read', '--json'],
    },
    (figure) => figures.push(figure),
  );
  const named = (part: string) => figures.filter(({ name }) => name.includes(part));
  expect(figures.every(({ value }) => Number.isFinite(value))).toBe(true);
  expect(named('whole read, one thread')).toHaveLength(1);
  expect(named('hostile')).toHaveLength(5);
  expect(named('event loop')).toHaveLength(1);
  expect(named('differ').every(({ value }) => value === 0)).toBe(true);
  expect(named('Drain3')).toEqual([]);
});
