import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  computeKappa,
  formatComparison,
  type Judgment,
  readJudgments,
} from '../../scripts/parts/bench/advice/compare-readings.ts';
import { formatEvidence } from '../../scripts/parts/bench/advice/evidence.ts';
import { pickAnswers } from '../../scripts/parts/bench/advice/pick-answers.ts';
import type { AnsweredRow } from '../../scripts/parts/bench/advice/read-answered.ts';
import { checkAdvice } from '../../src/replay/run/check-advice.ts';
import { createReplayed } from '../replay/figures/cases.ts';

const folder = mkdtempSync(join(tmpdir(), 'faultline-readings-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the answers chosen for readers', () => {
  const rows = Array.from({ length: 60 }, (_, at) =>
    createAnsweredRow(at, { isPublished: at % 4 === 0, isConfig: at % 3 === 0 }),
  );

  it('are the same in any input order, and keep the shares of categories and publication', () => {
    const picked = pickAnswers(rows, 20, null);
    expect(pickAnswers(rows.toReversed(), 20, null)).toEqual(picked);
    expect(picked).toHaveLength(21);
    const shares = Map.groupBy(picked, ({ id }) => `${Number(id) % 4 === 0} ${Number(id) % 3 === 0}`);
    expect(Object.fromEntries([...shares].map(([stratum, members]) => [stratum, members.length]))).toEqual({
      'true true': 2,
      'true false': 4,
      'false true': 5,
      'false false': 10,
    });
  });

  it('come only from owners that were left out of training', () => {
    expect(pickAnswers(rows, 60, new Set(['owner1'])).every(({ id }) => Number(id) % 5 === 1)).toBe(true);
  });
});

describe('two readings', () => {
  const first: Judgment[] = [
    { id: 'a', cause: 'right', advice: 'right', english: 'good' },
    { id: 'b', cause: 'partly', advice: 'misleading', english: 'awkward' },
  ];
  const second: Judgment[] = [
    { id: 'a', cause: 'right', advice: 'right', english: 'good' },
    { id: 'b', cause: 'partly', advice: 'generic', english: 'awkward' },
    { id: 'c', cause: 'empty', advice: 'none', english: 'good' },
  ];

  it('are compared on their common answers, with each disagreement', () => {
    const text = formatComparison(read('first', first), read('second', second));
    expect(text).toContain('2 answers were judged by both readers, 1 by one (left out).');
    expect(text).toContain('| misleading | 0.50 | 0.00 |');
    expect(text).toContain('- b: misleading / generic');
    expect(text).not.toContain('- a:');
  });

  it('are compared by kappa, the agreement beyond chance', () => {
    const pairs = [0, 1].map((at) => ({ one: first[at] as Judgment, other: second[at] as Judgment }));
    expect(computeKappa('cause', pairs)).toBe(1);
    expect(computeKappa('advice', pairs)).toBeCloseTo(1 / 3);
  });

  it('are refused with the line that is wrong', () => {
    const path = join(folder, 'bad.jsonl');
    writeFileSync(path, '{"id":"a","cause":"right","advice":"fine","english":"good"}\n');
    expect(() => readJudgments(path)).toThrow(/bad\.jsonl, line 1/);
    writeFileSync(path, `${JSON.stringify(first[0])}\n${JSON.stringify(first[0])}\n`);
    expect(() => readJudgments(path)).toThrow('line 2: a was judged on an earlier line');
  });
});

it('missing names are grouped by where they occur', () => {
  const text = formatEvidence([createAnsweredRow(1, { isPublished: true, isConfig: false })], true);
  expect(text).toContain('| a name of the fix is elsewhere in the log | 1 | path 1 |');
  expect(text).toContain('- 1: src/a.ts');
});

function read(name: string, judgments: readonly Judgment[]) {
  const path = join(folder, `${name}.jsonl`);
  writeFileSync(path, judgments.map((judgment) => `${JSON.stringify(judgment)}\n`).join(''));
  return readJudgments(path);
}

function createAnsweredRow(
  at: number,
  { isPublished, isConfig }: { isPublished: boolean; isConfig: boolean },
): AnsweredRow {
  const row = {
    id: String(at),
    project: `owner${at % 5}/x`,
    fix: 'Correct src/a.ts.',
    category: isConfig ? 'CONFIG_ERROR' : 'CODE_ERROR',
  } as const;
  const texts = ['error in src/a.ts'];
  const action = isPublished ? 'auto_notify' : 'human_review';
  const { result } = createReplayed(row, {
    action,
    fixRecommendation: 'Read it.',
    advice: checkAdvice(row, 'Read it.', texts),
  });
  return { row, result, texts, logPath: null };
}
