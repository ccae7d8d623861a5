import { link, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runFrozenReplay } from '../../../src/replay/commands/frozen-command.ts';
import { runFaultline } from '../../cli/faultline.ts';
import { recordRun } from '../../support/recorded-run.ts';

let folder = '';
let recorded = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-frozen-'));
  recorded = join(folder, 'recorded.jsonl');
  await writeFile(recorded, `${JSON.stringify(await recordRun())}\n`);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('replay --frozen', () => {
  it.each([
    ['--gate', { gate: 'bars.json' }],
    ['--junit', { junit: 'junit.xml' }],
    ['--max-usd', { maxUsd: 1 }],
    ['--repeat', { repeat: 3 }],
    ['--no-green', { green: false }],
  ])(
    'refuses %s instead of ignoring it, because an unchecked gate must not look like a passed one',
    async (name, option) => {
      const asked = { frozen: recorded, limits: 'recorded' as const, repeat: 1, green: true, ...option };
      await expect(runFrozenReplay(asked)).rejects.toThrow(`${name} cannot be combined with --frozen`);
    },
  );

  it('lists requested runs that are missing, and exits with an error', async () => {
    const { triageId } = JSON.parse(await readFile(recorded, 'utf8'));
    const ended = await runFaultline(['replay', '--frozen', recorded, '--run', triageId, 'ana_gone']);
    expect(ended.stderr).toContain('There is no recording of ana_gone.');
    expect(ended.stdout).toMatch(/^1 run: /m);
    expect(ended.code).toBe(3);
    const none = await runFaultline(['replay', '--frozen', recorded, '--run', 'ana_gone']);
    expect(none).toMatchObject({ code: 3, stderr: 'error: There is no recording of ana_gone.\n' });
  });

  it('does not overwrite the recordings that it reads, by any name', async () => {
    const other = join(folder, 'other-name.jsonl');
    await link(recorded, other);
    const before = await readFile(recorded, 'utf8');
    await expect(runFrozenReplay({ frozen: recorded, limits: 'recorded', out: other })).rejects.toThrow(
      '--out: ',
    );
    expect(await readFile(recorded, 'utf8')).toBe(before);
  });
});
