import { expect, it } from 'vitest';
import { describeRerun, mayPassAnyway, predictRerun } from '../../src/domain/rerun.ts';

const network = { category: 'INFRA_ERROR', kind: 'network' } as const;
const compile = { category: 'CODE_ERROR', kind: 'compile_error' } as const;

it('the success of a rerun is stated only outside of the limits', () => {
  expect(describeRerun(0.86, network)).toBe('A re-run would probably pass (0.86).');
  expect(describeRerun(0.86, compile)).toBe('A re-run would probably pass (0.86).');
  expect(describeRerun(0.5, network)).toBeNull();
  expect(describeRerun(0.06, network)).toBe('A re-run would probably fail again (0.06).');
  expect(predictRerun(null)).toBeNull();
  expect(predictRerun(undefined)).toBeNull();
});

it('the success of a rerun is not stated if nobody would try it', () => {
  expect(describeRerun(0.02, compile)).toBeNull();
});

it('answers are found that blame the change although a rerun may pass', () => {
  expect(mayPassAnyway(0.4, compile)).toBe(true);
  expect(mayPassAnyway(0.1, compile)).toBe(false);
  expect(mayPassAnyway(0.9, network)).toBe(false);
  expect(mayPassAnyway(undefined, compile)).toBe(false);
});
