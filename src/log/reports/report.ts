import { parseJUnit, parseJUnitStrict } from './junit.ts';
import type { TestReport } from './report-shape.ts';

/** Reads a test report of any known format. Never throws: what cannot be read gives what was read before, and a note. */
export function parseReport(name: string, text: string): TestReport {
  return { ...parseJUnit(name, text), diagnostics: [] };
}

/** The same, but throws TriageError 'invalid-input' for what is broken or no known report. */
export function parseReportStrict(name: string, text: string): TestReport {
  return { ...parseJUnitStrict(name, text), diagnostics: [] };
}
