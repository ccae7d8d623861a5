import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assignSides, type SplitRow } from '../../../src/replay/cases/assign-sides.ts';
import { beginFolder } from '../../../src/replay/cases/new-folder.ts';
import { type SplitSummary, type SplitTask, splitCases } from '../../../src/replay/cases/split.ts';

const DAY = 86_400_000;
const WORDS = [
  'cart',
  'order',
  'ledger',
  'invoice',
  'stock',
  'basket',
  'voucher',
  'ticket',
  'payment',
  'refund',
];

describe('the two sides of a split', () => {
  const rows = Array.from({ length: 100 }, (_, index): SplitRow => {
    return {
      line: index + 1,
      id: `r${index}`,
      project: `p${index % 9}`,
      category: null,
      happenedAt: Math.floor(index / 10) * DAY,
    };
  });
  const tested = (sides: ReadonlyMap<number, unknown>, of = rows) =>
    of.filter(({ line }) => sides.get(line) === 'test');

  it('are by time: all test cases are newer than all training cases, and equal times stay together', () => {
    const sides = assignSides(rows, { by: 'time', share: 0.25, seed: '' });
    const test = tested(sides);
    expect(test.map(({ line }) => line)).toEqual(Array.from({ length: 30 }, (_, index) => 71 + index));
    expect(assignSides([...rows].reverse(), { by: 'time', share: 0.25, seed: '' })).toEqual(
      new Map([...sides].reverse()),
    );
  });

  it('omit cases without a time if they are by time', () => {
    const undated = { ...rows[0], line: 101, id: 'x', project: 'p', category: null, happenedAt: null };
    expect(assignSides([...rows, undated], { by: 'time', share: 0.3, seed: '' }).get(101)).toBeUndefined();
  });

  it('are by project: no project is on both, whatever the order of the rows', () => {
    const sides = assignSides(rows, { by: 'project', share: 0.3, seed: '' });
    const projects = new Set(tested(sides).map(({ project }) => project));
    expect(rows.filter(({ line, project }) => projects.has(project) && sides.get(line) === 'train')).toEqual(
      [],
    );
    expect(tested(sides).length).toBeGreaterThan(15);
    expect(tested(sides).length).toBeLessThanOrEqual(30);
    const reversed = assignSides([...rows].reverse(), { by: 'project', share: 0.3, seed: '' });
    expect(rows.every(({ line }) => reversed.get(line) === sides.get(line))).toBe(true);
    expect(tested(assignSides(rows.slice(0, 18), { by: 'project', share: 0.01, seed: '' })).length).toBe(2);
  });

  it('are by time even if most cases have the oldest time', () => {
    const old = rows.slice(0, 10);
    const sides = assignSides(
      [...old, { line: 101, id: 'new', project: 'p', category: null, happenedAt: DAY }],
      {
        by: 'time',
        share: 0.3,
        seed: '',
      },
    );
    expect([...sides].filter(([, side]) => side === 'test')).toEqual([[101, 'test']]);
  });

  it('are by project, in any case of its name', () => {
    const mixed = rows.map((row, index) =>
      index % 2 === 0 ? row : { ...row, project: row.project.toUpperCase() },
    );
    const sides = assignSides(mixed, { by: 'project', share: 0.3, seed: '' });
    expect(sides).toEqual(assignSides(rows, { by: 'project', share: 0.3, seed: '' }));
  });

  it('are the same for the same seed if they are random', () => {
    const by = (seed: string) =>
      [...assignSides(rows, { by: 'random', share: 0.3, seed })].filter(([, side]) => side === 'test');
    expect(by('a')).toEqual(by('a'));
    expect(by('a')).not.toEqual(by('b'));
  });
});

describe('splitting a data set', () => {
  it('keeps rows whole, with paths to their logs', async () => {
    const place = placeWith([
      {
        id: 'a',
        project: 'p',
        log_path: 'logs/a.log',
        annotator: { deep: [1] },
        happened_at: '2026-01-01T00:00:00Z',
      },
      { id: 'b', project: 'q', log: 'cart failed', happened_at: '2026-02-01T00:00:00Z' },
      { id: 'c', project: 'q', log: 'no time' },
      { id: 'd', category: 'WEATHER' },
    ]);
    mkdirSync(join(place, 'logs'));
    writeFileSync(join(place, 'logs/a.log'), 'ledger: expected 3');
    const split = await splitDataset(place, { by: 'time', share: 0.5 });
    expect(split).toMatchObject({
      train: { cases: 1 },
      test: { cases: 1 },
      undated: 1,
      bad: 1,
      nearDuplicates: 0,
      unread: 0,
    });
    const [row] = listLines(place, 'train.jsonl');
    expect(row).toMatchObject({ id: 'a', log_path: '../logs/a.log', annotator: { deep: [1] } });
    expect(readFileSync(join(place, 'out', '../logs/a.log'), 'utf8')).toBe('ledger: expected 3');
  });

  it('finds near-duplicates across the sides, and removes them from training on request', async () => {
    const log = (at: string) =>
      `FAIL checkout\nexpected 3 items in the cart but found 2 at ${at}\n  at cart.add (src/cart.ts:12:3)`;
    const rows = [
      { id: 'old', project: 'p', log: log('10:00:01'), happened_at: '2026-01-01T00:00:00Z' },
      {
        id: 'other',
        project: 'p',
        log: 'npm ERR! 404 left-pad is not in this registry',
        happened_at: '2026-01-02T00:00:00Z',
      },
      { id: 'gone', project: 'p', log_path: 'none.log', happened_at: '2026-01-02T00:00:00Z' },
      { id: 'new', project: 'p', log: log('23:59:59'), happened_at: '2026-02-01T00:00:00Z' },
    ];
    const place = placeWith(rows);
    const split = await splitDataset(place, { by: 'time', share: 0.25, dropDuplicates: true });
    expect(split).toMatchObject({ train: { cases: 2 }, nearDuplicates: 1, dropped: 1, unread: 1 });
    const pair = { train: 'old', test: 'new', score: 1, sameFingerprint: false };
    expect(split.mostAlike).toEqual([pair]);
    expect(listLines(place, 'near-duplicates.jsonl')).toEqual([pair]);
    expect(listLines(place, 'train.jsonl').map(({ id }) => id)).toEqual(['other', 'gone']);
  });

  it('is refused if a side would be empty, and then leaves nothing', async () => {
    const place = placeWith([
      { id: 'a', project: 'p', log: 'x' },
      { id: 'b', project: 'p', log: 'y' },
    ]);
    await expect(splitDataset(place, { by: 'time' })).rejects.toThrow(
      'has a time (happened_at): use --by project.',
    );
    await expect(splitDataset(place, { by: 'project' })).rejects.toThrow(
      'all its cases belong to one project',
    );
    expect(() => readFileSync(join(place, 'out'))).toThrow('ENOENT');
  });

  // Comparing costs most, so that only every tenth has words to compare by.
  it('works with twenty thousand rows', async () => {
    const word = (index: number) => WORDS[index % WORDS.length] ?? '';
    const place = placeWith(
      Array.from({ length: 20_000 }, (_, index) => {
        const unlike = index.toString(36).replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '');
        return {
          id: `r${index}`,
          project: `p${index % 50}`,
          log: index % 10 === 0 ? `${word(index)}${unlike} lost its ${word(index / 10)}${unlike}` : '1',
        };
      }),
    );
    const split = await splitDataset(place, { by: 'project' });
    expect(split.train.cases + split.test.cases).toBe(20_000);
    expect(split.test.cases).toBe(6_000);
  }, 120_000);
});

async function splitDataset(place: string, change: Partial<SplitTask>): Promise<SplitSummary> {
  const out = join(place, 'out');
  const task: SplitTask = {
    dataset: join(place, 'cases.jsonl'),
    out,
    by: 'project',
    share: 0.3,
    seed: '',
    dropDuplicates: false,
    minScore: 0.8,
    maxLogBytes: 1_000_000,
    onBad: () => undefined,
    ...change,
  };
  return await splitCases(task, await beginFolder(out), new AbortController().signal);
}

function placeWith(rows: readonly object[]): string {
  const place = mkdtempSync(join(tmpdir(), 'faultline-split-'));
  writeFileSync(join(place, 'cases.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
  return place;
}

function listLines(place: string, file: string): { readonly id: string }[] {
  const lines = readFileSync(join(place, 'out', file), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}
