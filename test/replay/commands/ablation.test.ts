import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runFaultline } from '../../cli/faultline.ts';

const DATASET = join(mkdtempSync(join(tmpdir(), 'faultline-cli-ablation-')), 'cases.jsonl');
writeFileSync(DATASET, '{"id":"a","log":"building\\nError: boom\\n","category":"CODE_ERROR"}\n');

it('ablation names in its heading what was left out', async () => {
  const ended = await runFaultline([
    'replay',
    '--dataset',
    DATASET,
    '--without',
    'web',
    'reducer',
    '--design',
    'linear',
    '--no-green',
  ]);
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain('analyst rules, without web and green and reducer, linear baseline, budget');
});

it('ablation refuses an unknown stage, with the names of all', async () => {
  const ended = await runFaultline(['replay', '--dataset', DATASET, '--without', 'wisdom']);
  expect(ended.code).not.toBe(0);
  expect(ended.stderr).toMatch(/no stage "wisdom"; choose from library, knowledge, .*reducer/);
});
