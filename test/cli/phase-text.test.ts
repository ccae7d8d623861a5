import { expect, it } from 'vitest';
import { formatPhaseText } from '../../src/cli/progress.ts';
import type { Step } from '../../src/domain/analysis.ts';

const STEP: Step = {
  node: 'reason',
  round: 1,
  startedAt: '2026-10-12T14:00:00.000Z',
  milliseconds: 1,
  summary: '',
};

it.each([
  [
    'classify',
    'TEST_FAILURE (99 %) assertion: rule assertion-of-failing-test: expect(received)',
    'classify TEST_FAILURE 99 % assertion',
  ],
  ['reason', '89 %: This looks like an assertion. First, check what is already known.', 'reason 89 %'],
  ['select_tool', 'search_knowledge, read_test_file', 'select_tool search_knowledge, read_test_file'],
  ['observe', '5 new: E4, E5, E6, E7, E8', 'observe 5 new'],
  ['generate_answer', 'the total is 0.01 too high: expected 10.20 (confident)', 'generate_answer'],
  ['verify', '96 % → auto_notify', 'verify 96 % → auto_notify'],
])('the phase %s is described in a few words', (node, summary, told) => {
  expect(formatPhaseText({ ...STEP, node, summary })).toBe(told);
});

it('tools are listed with their results', () => {
  const call = { tool: 'search_knowledge', args: {}, why: '' };
  const outcomes = [{ call, status: 'ok' as const, summary: '2 hits', milliseconds: 1, attempts: 1 }];
  expect(formatPhaseText({ ...STEP, node: 'execute_tool', summary: 'whatever', outcomes })).toBe(
    'execute_tool search_knowledge 2 hits',
  );
});

it('a phase text contains no terminal escapes and stays short', () => {
  const told = formatPhaseText({ ...STEP, node: 'select_tool', summary: `\u001b[2J${'x'.repeat(500)}` });
  expect(told).not.toContain('\u001b');
  expect(told.length).toBeLessThan(150);
});
