import { describe, expect, it } from 'vitest';
import { listDifferences, parseManifest, type RunManifest } from '../../../src/replay/run/manifest.ts';

const MANIFEST: RunManifest = {
  schema: 1,
  version: '0.1.0',
  startedAt: '2026-01-01T00:00:00.000Z',
  sources: [{ name: 'cases.jsonl', sha256: 'aa', cases: 2 }],
  settings: { analyst: 'rules', 'budget in tokens': 2000 },
};

describe('the manifest of a results file', () => {
  it('is the same at another time', () => {
    expect(listDifferences(MANIFEST, { ...MANIFEST, startedAt: '2026-02-02T00:00:00.000Z' })).toEqual([]);
    expect(parseManifest(JSON.stringify(MANIFEST))).toEqual(MANIFEST);
    expect(parseManifest('{"schema":')).toBeNull();
  });

  it('lists everything that differs', () => {
    const now = {
      ...MANIFEST,
      version: '0.2.0',
      sources: [{ name: 'cases.jsonl', sha256: 'bb', cases: 3 }],
      settings: { analyst: 'llm', 'budget in tokens': 2000, model: 'small' },
    };
    expect(listDifferences(MANIFEST, now)).toEqual([
      'the version was 0.1.0 and is now 0.2.0',
      'the cases of cases.jsonl have changed',
      'analyst was rules, now it is llm',
      'model was not set, now it is small',
    ]);
    expect(listDifferences(MANIFEST, { ...MANIFEST, sources: [] })).toEqual([
      'it had 1 sources of cases, now there are 0',
    ]);
  });
});
