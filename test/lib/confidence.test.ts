import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formatConfidence, roundConfidence } from '../../src/lib/text.ts';

it.each([
  [0, '0 %', 0],
  [0.29, '29 %', 0.29],
  [0.57, '57 %', 0.57],
  [0.9149, '91 %', 0.91],
  [0.969, '96 %', 0.96],
  [0.9999, '99 %', 0.99],
  [1, '100 %', 1],
])('a confidence of %s is shown as %s, never as more than it is', (confidence, shown, rounded) => {
  expect(formatConfidence(confidence)).toBe(shown);
  expect(roundConfidence(confidence)).toBe(rounded);
});

it('no other function rounds a confidence for people', () => {
  const files = globSync(['src/**/*.ts', 'graphs/**/*.ts', 'action/src/**/*.ts']).filter(
    (file) => !EXCEPTIONS.has(file),
  );
  const rounding = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => OTHER_ROUNDING.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(rounding).toEqual([]);
});

const OTHER_ROUNDING =
  /confidence\b[\w.)]{0,20}\.toFixed\(|Math\.(?:round|floor|ceil)\([^)\n]{0,60}confidence\b[^)\n]{0,9}\* ?100\b|formatPercent\([^)\n]{0,40}[cC]onfidence\)/;

/** The one rounding, and what a model reads and no person. */
const EXCEPTIONS: ReadonlySet<string> = new Set(['src/lib/text.ts', 'src/models/analyst/show-facts.ts']);
