import { expect, it } from 'vitest';
import type { Question } from '../../scripts/parts/bench/open/adapter.ts';
import { adapter as keywordRules } from '../../scripts/parts/bench/open/keyword-rules.ts';
import { adapter as lastLines } from '../../scripts/parts/bench/open/last-lines.ts';
import { measureRisk, type Scored, scoreAnswer } from '../../scripts/parts/bench/open/score.ts';
import { listSets } from '../../scripts/parts/bench/open/sets.ts';
import { DatasetRow } from '../../src/replay/cases/case.ts';

function ask(labels: Partial<DatasetRow>, text = 'pressing\nfatal: no pears in store\n'): Question {
  const row = DatasetRow.parse({ id: 'a', ...labels });
  return { id: 'a', texts: [{ name: 'log.txt', kind: 'log', text, notes: [] }], row };
}

function createSure(confidence: number, isGood: boolean): Scored {
  const unknown = { isRight: null, told: null, isUseful: isGood, rerun: null, published: false };
  return { id: `${confidence}`, confidence, isGood, ...unknown };
}

it('an answer is useful if its category is accepted and it contains half of the required words', () => {
  const question = ask({
    category: 'CODE_ERROR',
    also_ok: ['CONFIG_ERROR'],
    required_mentions_any: [['pears'], ['store']],
  });
  const half = scoreAnswer(question, { text: 'There are no pears.', category: 'CONFIG_ERROR' });
  expect(half).toMatchObject({ isRight: true, told: 0.5, isUseful: true, isGood: true });
  const wrong = scoreAnswer(question, { text: 'There are no pears in the store.', category: 'TEST_FAILURE' });
  expect(wrong).toMatchObject({ isRight: false, told: 1, isUseful: false, isGood: false });
  expect(scoreAnswer(question, { text: 'The job failed.', category: 'CODE_ERROR' }).isGood).toBe(false);
});

it('expected lines, failure messages, and the advice to rerun are what an answer must contain', () => {
  const line = ask({ expected_lines: [[2, 2]] });
  expect(scoreAnswer(line, { text: 'It says: fatal: no  pears in store' }).told).toBe(1);
  const two = ask({
    failures: [
      { message: 'no pears', cause: 'a', category: 'CODE_ERROR' },
      { message: 'no figs', cause: 'b', category: 'CODE_ERROR' },
    ],
  });
  expect(scoreAnswer(two, { text: 'no pears' }).told).toBe(0.5);
  const again = ask({ intermittent: true });
  expect(scoreAnswer(again, { text: '', transient: 0.7 })).toMatchObject({
    isGood: true,
    rerun: { said: true },
  });
  expect(scoreAnswer(again, { text: '' }).isGood).toBe(false);
});

it('the risk of the most confident answers is computed, and shared among answers of equal confidence', () => {
  const ordered = measureRisk([
    createSure(0.9, true),
    createSure(0.8, true),
    createSure(0.2, false),
    createSure(0.1, false),
  ]);
  expect(ordered.at).toEqual([0, 0, 1 / 3, 0.5]);
  const flat = measureRisk([
    createSure(0, true),
    createSure(0, false),
    createSure(0, false),
    createSure(0, true),
  ]);
  expect(flat.at).toEqual([0.5, 0.5, 0.5, 0.5]);
  expect(flat.mean).toBe(0.5);
});

it('the built-in entries answer, and the sets of this repository can be read', async () => {
  const question = ask({}, 'pressing\nerror: connection refused\n');
  expect((await lastLines.answer(question)).text).toContain('connection refused');
  expect(await keywordRules.answer(question)).toMatchObject({ category: 'INFRA_ERROR', confidence: 0.5 });
  const sets = listSets(undefined);
  expect(sets.map(({ name }) => name)).toEqual([
    'mixed builds',
    'experiments',
    'tools without a rule',
    'invented tools',
  ]);
  for (const set of sets) {
    const first = await set.questions().next();
    expect(first.value?.texts.length).toBeGreaterThan(0);
  }
});
