import { expect, it } from 'vitest';
import { remember } from '../../../src/service/ask/remember.ts';

const turn = (index: number) => ({
  question: `question ${index}`,
  text: `Answer ${index}. And more of it.\nA second line.`,
});
const turns = (count: number) => Array.from({ length: count }, (_, index) => turn(index + 1));

it('the last four turns are kept complete', () => {
  expect(remember(turns(3))).toEqual({
    older: [],
    recent: turns(3).map(({ question, text }) => ({ question, answer: text })),
  });
});

it('older turns are kept in one line each, and the oldest only as a number', () => {
  const { older, recent } = remember(turns(20));
  expect(recent.map(({ question }) => question)).toEqual([
    'question 17',
    'question 18',
    'question 19',
    'question 20',
  ]);
  expect(older).toHaveLength(13);
  expect(older[0]).toBe('4 questions before these');
  expect(older[1]).toBe('question 5 → Answer 5.');
});

it('the length is limited, whatever was asked', () => {
  const long = Array.from({ length: 300 }, () => ({ question: 'q'.repeat(2_000), text: 'a'.repeat(50_000) }));
  expect(JSON.stringify(remember(long)).length).toBeLessThan(24_000);
});
