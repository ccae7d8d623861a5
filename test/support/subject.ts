import { type Build, createSparseBuild } from '../../src/domain/build.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';

/** Creates a failed build for any test, with the given fields. */
export function sampleBuild(overrides: Partial<Build> = {}): Build {
  const known = { repository: 'shop/api', pipeline: 'ci', number: '812', branch: 'main', commit: 'a41f9c2' };
  return {
    ...createSparseBuild(known),
    id: 'bld_sample',
    receivedAt: '2026-01-05T10:00:00.000Z',
    ...overrides,
  };
}

/** Creates a subject with one failed test and one excerpt of three lines. */
export function sampleSubject(overrides: Partial<TriageSubject> = {}): TriageSubject {
  const fingerprint = { algorithm: 'sample', version: 1, value: 'f00d' };
  const text = 'FAIL test/cart.test.ts\n  expected 10.20, got 10.21\n    at sum (src/cart/tax.ts:41:9)';
  const excerpt = {
    source: 'build.log',
    lineStart: 120,
    lineEnd: 122,
    text,
    reason: 'failed test',
    weight: 9,
  };
  return {
    triageId: 'tri_sample',
    build: sampleBuild(),
    failures: [
      {
        id: 'fal_1',
        buildId: 'bld_sample',
        test: null,
        message: 'expected 10.20, got 10.21',
        frames: [],
        excerpt,
        fingerprint,
        generic: false,
      },
    ],
    fingerprint,
    generic: false,
    excerpts: [excerpt],
    failingTests: [],
    diagnostics: [],
    exceptions: [],
    messages: [{ text: 'expected 10.20, got 10.21', at: { source: 'build.log', line: 121 }, weight: 5 }],
    exits: [],
    failedSections: [],
    toolchains: ['vitest'],
    notes: [],
    sources: [{ name: 'build.log', lines: 200, bytes: 9000 }],
    tokens: 40,
    ...overrides,
  };
}
