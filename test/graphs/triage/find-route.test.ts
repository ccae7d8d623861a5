import { describe, expect, it } from 'vitest';
import { findRoute } from '../../../graphs/triage/find-route.ts';
import type { Claim, Classification } from '../../../src/domain/analysis.ts';

const classification: Classification = {
  category: 'DEPENDENCY_ERROR',
  kind: 'missing_module',
  confidence: 0.9,
  probabilities: {
    CODE_ERROR: 0.05,
    INFRA_ERROR: 0,
    CONFIG_ERROR: 0.05,
    DEPENDENCY_ERROR: 0.9,
    TEST_FAILURE: 0,
  },
  abstained: false,
  because: '',
};
const quoting = (line: number, text: string): Claim[] => [
  { text: 'It says so.', evidence: ['E1'], quotes: [{ source: 'build.log', line, text }] },
];
const reading = {
  ...classification,
  route: 'tool error' as const,
  assessment: { grades: {}, unsupportedClaims: [], gaps: [], confidence: 0.9, against: [] },
  claims: quoting(12, "ModuleNotFoundError: No module named 'winreg'"),
};

describe('the route of an answer by a model', () => {
  it('is that of the rules if both find the same category and quote the same line or words', () => {
    expect(findRoute(classification, reading, quoting(12, 'No module'), 0.85)).toBe('tool error');
    expect(findRoute(classification, reading, quoting(80, "No module named 'winreg'"), 0.85)).toBe(
      'tool error',
    );
  });

  it('is the model alone if the rules find the category for another reason, or are uncertain', () => {
    const other = quoting(40, 'ERROR: package winreg does not exist');
    expect(findRoute(classification, reading, other, 0.85)).toBe('model');
    expect(findRoute(classification, reading, [], 0.85)).toBe('model');
    const same = quoting(12, 'No module');
    expect(findRoute(classification, { ...reading, confidence: 0.8 }, same, 0.85)).toBe('model');
    expect(findRoute(classification, { ...reading, category: 'CODE_ERROR' }, same, 0.85)).toBe('model');
  });
});
