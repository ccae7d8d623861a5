import { expect, it } from 'vitest';
import { isCalibratedAs } from '../../src/domain/calibration.ts';

it.each([
  ['rules', 'rules', null, true],
  ['rules', 'rules', 'gpt-4o', true],
  ['llm gpt-4o-mini', 'llm', 'gpt-4o-mini', true],
  ['llm gpt-4o-mini', 'llm', 'gpt-4o-mini-2024-07-18', true],
  ['llm llama', 'llm', 'llama-20250514', true],
  ['llm gpt-4o', 'llm', 'gpt-4o-mini', false],
  ['llm gpt-4o', 'llm', 'gpt-4o-mini-2024-07-18', false],
  ['llm gpt-4o-2024-05-13', 'llm', 'gpt-4o-2024-08-06', false],
  ['rules', 'llm', 'gpt-4o', false],
  ['llm gpt-4o', 'rules', null, false],
])('a calibration of %s for an answer of %s %s: %s', (kept, analyst, model, expected) => {
  expect(isCalibratedAs(kept, analyst, model)).toBe(expected);
});
