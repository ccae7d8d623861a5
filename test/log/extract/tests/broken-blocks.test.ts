import { describe, expect, it } from 'vitest';
import { readTests } from './read-tests.ts';

describe('failing tests of a damaged log', () => {
  it('are named where the log ends inside a block', () => {
    const tests = readTests(`
      =================================== FAILURES ===================================
      __________________________________ test_rate ___________________________________
      E       assert 2 == 3
      tests/test_tax.py:7: AssertionError
      __________________________________ test_sum ____________________________________

          def test_sum():
      >       assert total() ==`);
    expect(tests.map(({ name }) => name)).toEqual(['test_rate', 'test_sum']);
    expect(tests[1]?.message ?? '').not.toContain('2 == 3');
  });

  it('stay apart where many suites have a test of the same name', () => {
    const suites = Array.from({ length: 50 }, (_, at) => `Shop${at}Test`);
    const lines = suites.map((suite) => `com.example.${suite} > adds() FAILED\n    java.lang.AssertionError: ${suite}`);
    const tests = readTests(lines.join('\n\n'));
    expect(tests).toHaveLength(50);
    expect(tests.every(({ suite, message }) => message?.includes(suite?.split('.').at(-1) ?? '?'))).toBe(true);
  });
});
