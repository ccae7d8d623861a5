import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { writeMetricsTarget } from '../../src/cli/serve/metrics-target.ts';

const folder = mkdtempSync(join(tmpdir(), 'faultline-targets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const own = `${hostname()}-${process.pid}.json`;

it('the metrics target names the port, replaces files of dead processes of this host, and is removed at the end', async () => {
  const [dead, alive, elsewhere] = [
    `${hostname()}-4294967.json`,
    `${hostname()}-${process.ppid}.json`,
    'other-4294967.json',
  ];
  for (const name of [dead, alive, elsewhere, 'notes.json']) writeFileSync(join(folder, name), '[]');
  const target = writeMetricsTarget(folder, 'http://127.0.0.1:41234');
  expect(JSON.parse(readFileSync(join(folder, own), 'utf8'))).toEqual([{ targets: ['127.0.0.1:41234'] }]);
  await target.close();
  expect(readdirSync(folder).toSorted()).toEqual([alive, elsewhere, 'notes.json'].toSorted());
});

it('a folder that cannot be written is named in the error', () => {
  expect(() => writeMetricsTarget(join(folder, 'notes.json'), 'http://127.0.0.1:1')).toThrow(
    /FAULTLINE_METRICS_TARGETS: cannot write to .*notes\.json/,
  );
});
