import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../src/domain/failure.ts';
import { type Fact, isDiagnosed } from '../../src/judge/facts.ts';
import { classify, createSubject } from './subject.ts';

const DIAGNOSTIC: Diagnostic = {
  tool: 'rustc',
  severity: 'error',
  file: 'src/scales.rs',
  line: 4,
  column: 9,
  code: null,
  message: 'expected `;`, found `}`',
  at: { source: 'log.txt', line: 3 },
};

const SUBJECT = { ...createSubject('x\n'), failingTests: [], diagnostics: [DIAGNOSTIC] };

function createFact(text: string, line: number | null = null): Fact {
  return { origin: 'headline', text, source: 'log.txt', line, weight: 1 };
}

describe('a message of a compiler or linter', () => {
  test('is recognized by its words and by its line', () => {
    expect(isDiagnosed(createFact('scales.rs: expected `;`, found `}`'), SUBJECT)).toBe(true);
    expect(isDiagnosed(createFact('expected something', 3), SUBJECT)).toBe(true);
    expect(isDiagnosed(createFact('expected 3 but found 4', 9), SUBJECT)).toBe(false);
  });

  test.each<[string, Partial<Diagnostic>, boolean]>([
    ['a linter without a column', { tool: 'yamllint', column: null }, true],
    ['a bundler without a place', { tool: 'esbuild', file: null, line: null, column: null }, true],
    ['a compiler without a column, as test frameworks imitate it', { tool: 'gcc', column: null }, false],
    ['a language that runs the tests too', { tool: 'python' }, false],
    ['a warning', { severity: 'warning' }, false],
  ])('is classified: %s', (_, change, expected) => {
    const subject = { ...SUBJECT, diagnostics: [{ ...DIAGNOSTIC, ...change }] };
    expect(isDiagnosed(createFact(DIAGNOSTIC.message), subject)).toBe(expected);
  });

  test("belongs to a test if a test reports it, or if it is an assertion in a compiler's form", () => {
    const log =
      '=== RUN   TestPear\n    pear_test.go:4: expected `;`, found `}`\n--- FAIL: TestPear (0.00s)\nFAIL\n';
    const { failingTests } = createSubject(log);
    expect(failingTests).toHaveLength(1);
    expect(isDiagnosed(createFact(DIAGNOSTIC.message), { ...SUBJECT, failingTests })).toBe(false);
    expect(isDiagnosed(createFact('XCTAssertEqual failed: expected 3 but found 4', 3), SUBJECT)).toBe(false);
  });
});

describe('expected and actual values', () => {
  test.each([
    [
      'esbuild',
      '✘ [ERROR] Expected ")" but found "}"\n\n    src/scales.js:4:9:\n      4 │ weigh(pear}\n        ╵           ^\n\n1 error\n',
      'compile_error',
    ],
    [
      'yamllint',
      'basket/pear.yaml\n  4:9       error    wrong indentation: expected 6 but found 8  (indentation)\n',
      'lint_failure',
    ],
    [
      'rustc',
      'error: expected `;`, found `}`\n  --> src/scales.rs:14:9\n   |\n14 |     weigh(pear)\n   |               ^ help: add `;` here\n',
      'compile_error',
    ],
  ])('from %s concern our source', (_, log, kind) => {
    expect(classify(log)).toMatchObject({ category: 'CODE_ERROR', kind });
  });
});
