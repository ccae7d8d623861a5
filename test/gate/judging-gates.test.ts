import { describe, expect, it } from 'vitest';
import type { Rule } from '../../src/judge/rule.ts';
import {
  type Judge,
  judgeText,
  measureHarmlessJudgments,
  measureInventedToolJudgment,
  measureOwnToolLeftOut,
  measureRulesOnPassedLogs,
  measureUnknownToolJudgment,
} from '../support/judging-gates.ts';
import { type GateFigure, readCapturedFailures } from '../support/reading-gates.ts';

/** Each gate of the judgement, with a judge that is worse in just the way that it is there for. */
const failures = readCapturedFailures().filter((_, i) => i % 12 === 0);

/** Publishes whatever it is told, by the number of characters. */
const reckless: Judge = (text, options) => {
  const category = text.length % 2 === 0 ? 'INFRA_ERROR' : 'CONFIG_ERROR';
  return {
    ...judgeText(text, options),
    category,
    confidence: 0.99,
    abstained: false,
    witnesses: [{ by: 'test', name: 'any', at: null }],
  };
};

describe('the gates for judging', () => {
  it('fail if a harmless line changes the category', () => {
    expect(checkBars(measureHarmlessJudgments(failures, 2, reckless))[0]).toBe(false);
  });

  it('fail if a harmless line causes a wrong answer to be published', () => {
    const before = new Set(failures.map(({ text }) => text));
    const judge: Judge = (text) =>
      before.has(text) ? { ...reckless(text), confidence: 0.4 } : reckless(text);
    expect(checkBars(measureHarmlessJudgments(failures, 2, judge))[1]).toBe(false);
  });

  it('fail if wrong answers on unknown tools, or any on invented ones, are published', () => {
    const gates = [
      measureUnknownToolJudgment(failures, reckless),
      measureOwnToolLeftOut(failures, ({ text }) => reckless(text)),
      measureInventedToolJudgment(20, reckless),
    ];
    expect(checkBars(gates)).toEqual([false, false, false]);
  });

  it('fail if a decisive rule matches in logs of passed builds', () => {
    const rule: Rule = {
      name: 'any',
      category: 'CODE_ERROR',
      kind: 'crash',
      strength: 5,
      from: ['line'],
      patterns: [/e/],
    };
    expect(checkBars([measureRulesOnPassedLogs(failures, [rule])])).toEqual([false]);
  });
});

function checkBars(figures: readonly GateFigure[]): boolean[] {
  return figures.map(({ value, bar }) => value >= bar);
}
