import { describe, expect, it } from 'vitest';
import type { LabelledFailure } from '../../../src/replay/cases/labelled-failure.ts';
import { findAnswers } from '../../../src/replay/figures/builds/find-answers.ts';
import { normalizeMessage, saysMessage } from '../../../src/replay/figures/builds/said-words.ts';
import type { AnalysisResult } from '../../../src/replay/run/results.ts';

describe('the answer that names a failure', () => {
  it('lists its test, in any notation', () => {
    const answers = [answer([['test_total', null, 'tests/test_cart.py']]), answer([['adds', 'Cart', null]])];
    expect(
      listPlaces(
        [createLabel('tests/test_cart.py::test_total'), createLabel('Cart › adds'), createLabel('adds')],
        answers,
      ),
    ).toEqual([0, 1, 1]);
  });

  it('belongs to the same suite if several suites have a test with the name', () => {
    const answers = [answer([['starts', 'Shop', null]]), answer([['starts', 'Admin', null]])];
    expect(
      listPlaces(
        [createLabel('starts', { suite: 'Admin' }), createLabel('starts', { suite: 'Shop' })],
        answers,
      ),
    ).toEqual([1, 0]);
  });

  it('quotes its lines if two answers list the same test, as for two jobs', () => {
    const answers = [
      answer([['starts', null, null]], [['a', 7]]),
      answer([['starts', null, null]], [['b', 7]]),
    ];
    expect(listPlaces([createLabel('starts', { log: 'b', log_lines: [[5, 9]] })], answers)).toEqual([1]);
    expect(listPlaces([createLabel('starts', { log: 'a', log_lines: [[5, 9]] })], answers)).toEqual([0]);
  });

  it('is not that of another failure whose name contains the same words', () => {
    const answers = [answer([['slow start', null, null]])];
    expect(listPlaces([createLabel('slow'), createLabel('slow start')], answers)).toEqual([null, 0]);
    expect(listPlaces([createLabel('slow')], answers)).toEqual([0]);
  });

  it('contains the name if no answer lists the test', () => {
    const answers = [answer([], [], 'Something else'), answer([], [], 'test_total failed')];
    expect(listPlaces([createLabel('test_total'), createLabel('test_tot')], answers)).toEqual([1, null]);
  });

  it('quotes the most lines of a failure without a test', () => {
    const answers = [
      answer([], [['log', 3]]),
      answer(
        [],
        [
          ['log', 4],
          ['log', 5],
        ],
      ),
      answer([], [['log', 90]]),
    ]; // prettier-ignore
    expect(
      listPlaces(
        [
          { ...createLabel(null), log_lines: [[3, 5]] },
          { ...createLabel(null), log_lines: [[40, 50]] },
        ],
        answers,
      ),
    ).toEqual([1, null]);
  });
});

describe('a normalized message', () => {
  it('has no colors, marks, class, quotation marks, extra spaces or case', () => {
    const text = 'E   AssertionError: expected “a  b”\u001b[31m to equal `c`.';
    expect(normalizeMessage(text)).toEqual(["expected 'a b' to equal 'c'"]);
    expect(normalizeMessage('java.lang.IllegalStateException: no room left\n\n  at line two:')).toEqual([
      'no room left',
      'at line two',
    ]);
    expect(normalizeMessage('AssertionError: 3 != 4')).toEqual(['assertionerror: 3 != 4']);
  });

  it('keeps its numbers, and matches whole words only', () => {
    expect(saysMessage(['It says: Expected 3 to be 4.'], 'expected 3 to be 4')).toBe(true);
    expect(saysMessage(['Expected 3 to be 42'], 'expected 3 to be 4')).toBe(false);
    expect(saysMessage(['Unexpected 3 to be 4'], 'expected 3 to be 4')).toBe(false);
  });

  it('is contained if every line of it is, in any of the texts', () => {
    expect(saysMessage(['Expected: 4', 'Received: 3'], 'Expected: 4\nReceived: 3')).toBe(true);
    expect(saysMessage(['Expected: 4', 'Received: 5'], 'Expected: 4\nReceived: 3')).toBe(false);
  });

  it('is contained if it was cut but enough of it remains', () => {
    const message = 'Timed out waiting for the element with the label "Pay now" to be visible';
    expect(saysMessage(['pays: timed out waiting for the element with…'], message)).toBe(true);
    expect(saysMessage(['pays: timed out…'], message)).toBe(false);
  });
});

function listPlaces(
  failures: readonly LabelledFailure[],
  answers: readonly AnalysisResult[],
): (number | null)[] {
  return findAnswers(failures, answers).map((found) => (found === null ? null : answers.indexOf(found)));
}

function createLabel(test: string | null, more: Partial<LabelledFailure> = {}): LabelledFailure {
  return { test, message: 'x', cause: 'c', category: 'CODE_ERROR', ...more };
}

function answer(
  tests: readonly (readonly [name: string, suite: string | null, file: string | null])[],
  quotes: readonly (readonly [source: string, line: number])[] = [],
  title = '',
): AnalysisResult {
  return {
    category: 'CODE_ERROR',
    kind: null,
    probabilities: {},
    confidence: 0.9,
    abstained: false,
    title,
    rootCause: '',
    fixRecommendation: '',
    claims: quotes.map(([source, line]) => ({ text: '', quotes: [{ source, line, text: '' }] })),
    failingTests: tests.map(([name, suite, file]) => ({ name, suite, file, line: null })),
    suspects: [],
    fingerprint: null,
    action: 'auto_notify',
    analyst: 'rules',
    answerConfidence: 0.9,
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  };
}
