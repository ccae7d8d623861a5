import { expect, it } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { classifyByRules } from '../../src/judge/classify.ts';
import {
  computeTransientSigns,
  estimateTransient,
  loadTransientModel,
  TRANSIENT_SIGNS,
} from '../../src/judge/transient.ts';
import { createInsight, createSubject, logEvidence } from './subject.ts';

function estimate(log: string): number {
  const subject = createSubject(log);
  return estimateTransient(subject, logEvidence(subject));
}

const END = '##[error]Process completed with exit code 1.';
const BROKEN = [
  '$ curl -fsS https://pears.orchard.example/press.tar.gz',
  'curl: (56) Recv failure: Connection reset by peer',
  END,
].join('\n');

it.each([
  ['a broken connection', BROKEN],
  [
    'a lost runner',
    'ERROR: Job failed (system failure): prepare environment: lost communication with the pod',
  ],
  [
    'a service that was away',
    [
      'npm error code E503',
      'npm error 503 Service Unavailable - GET https://registry.example/pear',
      END,
    ].join('\n'),
  ],
])('a rerun after %s would probably pass', (_what, log) => {
  expect(estimate(log)).toBeGreaterThanOrEqual(0.8);
});

it.each([
  ['a compile error', ['src/press.c:4:2: error: expected expression before }', END].join('\n')],
  [
    'a failed expectation',
    '--- FAIL: TestPress (0.00s)\n    press_test.go:7: Press() = "dry", want "juice"\nFAIL\nexit status 1',
  ],
  ['a missing variable', ['./press.sh: line 3: PRESS_TOKEN: unbound variable', END].join('\n')],
])('a rerun after %s would probably fail', (_what, log) => {
  expect(estimate(log)).toBeLessThanOrEqual(0.1);
});

it('a rerun is less likely to pass if a test reports a broken connection, which may be to its own process', () => {
  const test = [
    'FAIL test/press.test.js',
    '  ● the press › answers under load',
    '',
    '    read ECONNRESET',
    '',
    '      at Socket.<anonymous> (test/press.test.js:12:5)',
    'Tests:       1 failed, 3 passed, 4 total',
    END,
  ].join('\n');
  expect(estimate(test)).toBeLessThan(0.5);
});

it('a rerun is less likely to pass if the failure has lasted', () => {
  const subject = createSubject(BROKEN);
  const streak = {
    id: 'E9',
    tool: 'count_consecutive_failures',
    title: '6 failures in a row',
    text: 'ci on main failed 6 times in a row since #21, each time this way (since #21).',
    source: 'history',
    data: { failed: 6, same: 6, firstNumber: '21', firstSameNumber: '21' },
  };
  const once = estimateTransient(subject, []);
  const lasting = estimateTransient(subject, [streak]);
  expect(once).toBeGreaterThanOrEqual(0.8);
  expect(lasting).toBeLessThan(0.8);
  expect(composeAnswer(createInsight(BROKEN, { subject })).transient).toBe(once);
});

it('each sign has one value from 0 to 1, and a weight', () => {
  const values = computeTransientSigns(classifyByRules(createSubject(BROKEN)));
  expect(values).toHaveLength(TRANSIENT_SIGNS.length);
  expect(values.every((value) => value >= 0 && value <= 1)).toBe(true);
  expect(loadTransientModel().weights).toHaveLength(TRANSIENT_SIGNS.length);
});
