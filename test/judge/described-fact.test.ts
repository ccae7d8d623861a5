import { describe, expect, it } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { createInsight } from './subject.ts';

/** A GitHub Actions step with the given output that ends with exit code 1. */
function formatStep(name: string, ...output: string[]): string {
  const lines = [`##[group]Run ${name}`, name, 'shell: /usr/bin/bash -e {0}', '##[endgroup]', ...output];
  return [...lines, '##[error]Process completed with exit code 1.']
    .map((line) => `2026-05-04T10:00:00.0000000Z ${line}`)
    .join('\n');
}

const answer = (log: string) => composeAnswer(createInsight(log));

describe('a cause', () => {
  it('contains the reason and its symptom, and cites the line of each', () => {
    const log = formatStep(
      './publish-menu',
      'Reading the menu of the week',
      "fatal: path 'menu/week.json' exists, but not 'week.json'",
      'Error: Unexpected end of JSON input',
    );
    const { rootCause, claims } = answer(log);
    expect(rootCause).toContain("path 'menu/week.json' exists, but not 'week.json'");
    expect(rootCause).toContain('The step also printed “Unexpected end of JSON input”.');
    expect(claims[0]?.quotes.map(({ line }) => line)).toEqual([6, 7]);
  });

  it('adds no source line, frame or heading', () => {
    const log = formatStep(
      'node harvest.js',
      'harvest.js:4',
      "    if (!basket) throw new Error('cannot weigh nothing');",
      '    ^',
      'Error: the scale is not calibrated',
      '    at weigh (harvest.js:4:9)',
    );
    expect(answer(log).rootCause).not.toContain('basket');
  });

  it('lists the other names for which the step prints the same line', () => {
    const log = formatStep(
      './check-licenses',
      'No mapping for image "orchard/press:1.4"',
      'No mapping for image "orchard/cellar:2.0"',
      'No mapping for image "orchard/label:0.9"',
    );
    expect(answer(log).rootCause).toMatch(
      /The same error is reported for orchard\/\w+:[\d.]+ and orchard\/\w+:[\d.]+\./,
    );
  });

  it('contains the whole of a sentence that the tool wrapped', () => {
    const log = formatStep(
      'cmake -B build',
      'CMake Error at tests/CMakeLists.txt:12 (message):',
      '  WITH_TASTING=ON requires sommelier for the selected interpreter of the press',
      '  (/opt/press/bin/python3).  Install sommelier or set WITH_TASTING=OFF.',
    );
    expect(answer(log).rootCause).toContain(
      '(/opt/press/bin/python3). Install sommelier or set WITH_TASTING=OFF”',
    );
  });

  it('names the step that printed the decisive line, not the first that failed', () => {
    const log = [
      formatStep('./lint-labels || true', 'labels are fine'),
      formatStep('./press-apples', 'error: the press is not connected to port 7'),
    ].join('\n');
    expect(answer(log).rootCause).not.toContain('lint-labels');
  });

  it('of a failing test adds nothing that may concern another test', () => {
    const log = formatStep(
      'go test ./...',
      '--- FAIL: TestWeigh (0.00s)',
      '    scale_test.go:9: Weigh(3) = 2, want 3',
      '--- FAIL: TestPress (0.00s)',
      '    press_test.go:7: Press() = "dry", want "juice"',
      'FAIL',
    );
    expect(answer(log).rootCause).not.toContain('also printed');
  });
});
