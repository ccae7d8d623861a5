import type { FailingTest } from '../../src/domain/failure.ts';
import type { Reading } from '../../src/domain/reading.ts';

/** Creates an empty reading with the given fields. */
export function sampleReading(overrides: Partial<Reading> = {}): Reading {
  return {
    excerpts: [],
    tokens: 0,
    failingTests: [],
    testResults: [],
    diagnostics: [],
    exceptions: [],
    messages: [],
    exits: [],
    failedSections: [],
    toolchains: [],
    fingerprint: { algorithm: 'sample', version: 1, value: '' },
    generic: true,
    sources: [{ name: 'build.log', lines: 500, bytes: 20_000 }],
    maskedSecrets: 0,
    notes: [],
    ...overrides,
  };
}

/** Creates a failing test of pytest at a line of build.log. */
export function createFailingTest(name: string, message: string, line: number): FailingTest {
  return {
    name,
    suite: 'cart',
    file: 'test_cart.py',
    line: 7,
    message,
    expected: null,
    actual: null,
    framework: 'pytest',
    at: { source: 'build.log', line },
  };
}
