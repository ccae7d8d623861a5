import { describe, expect, it } from 'vitest';
import { findFailingEnd } from '../../../src/console/logs/log-view.ts';
import { createMemoryArchive } from '../../../src/stores/archive/memory.ts';

const of = { buildId: 'bld_1', name: 'build.log' };

async function archived(lines: readonly string[]) {
  const archive = createMemoryArchive();
  await archive.put('bld_1', { name: 'build.log', kind: 'log', text: lines.join('\n'), notes: [] });
  return archive;
}

function filler(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `ok ${at}`);
}

describe('the end of the failed step', () => {
  it("is found by the CI system's own mark after the evidence", async () => {
    const step = [
      '##[group]Run npm test',
      'npm test',
      '##[endgroup]',
      ...filler(50),
      'FAIL cart total',
      ...filler(20),
    ];
    const error = '##[error]Process completed with exit code 1.';
    const archive = await archived([
      ...filler(5_000),
      ...step,
      error,
      '##[group]Run actions/upload-artifact',
      '##[endgroup]',
      ...filler(3_000),
    ]);
    const end = await findFailingEnd(archive, of, 5_054);
    expect(end).toBeGreaterThanOrEqual(5_074);
    expect(end).toBeLessThanOrEqual(5_076);
  });

  it('is unknown if no mark is near, or there is no log', async () => {
    expect(await findFailingEnd(await archived(filler(5_000)), of, 2_500)).toBeNull();
    expect(await findFailingEnd(createMemoryArchive(), of, 1)).toBeNull();
  });
});
