import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApp } from '../src/app.ts';
import { createEmbeddedPreset } from '../src/config/load.ts';
import { type Config, parseConfig } from '../src/config/schema.ts';
import { silentLogger } from '../src/ports/telemetry.ts';
import { copyTestDatabase } from './support/pglite.ts';

let folder: string;
let config: Config;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-app-'));
  await copyTestDatabase(join(folder, 'database'));
  config = parseConfig(createEmbeddedPreset(folder, join(import.meta.dirname, '../knowledge')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('an app that cannot be created closes its database', async () => {
  // Asked for long after the database was opened.
  const unusable: Config = Object.defineProperty({ ...config }, 'buildSource', {
    get: () => {
      throw new Error('no build source can be made');
    },
  });
  await expect(createApp(unusable, silentLogger)).rejects.toThrow('no build source can be made');

  const app = await createApp(config, silentLogger);
  expect((await app.readiness()).ok).toBe(true);
  await app.close({ drainMs: 0 });
});

test('readiness names the backends that do not respond', async () => {
  const app = await createApp(config, silentLogger);
  await app.close({ drainMs: 0 });

  const { ok, degraded, backends } = await app.readiness();
  expect(ok).toBe(false);
  // The archive is in the database, which speaks for it.
  expect(degraded).toEqual(['database', 'deliveries', 'jobQueue', 'vectorIndex']);
  expect(degraded.map((name) => backends[name]?.state)).toEqual(['down', 'down', 'down', 'down']);
});
