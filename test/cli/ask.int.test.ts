import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { parseConfig } from '../../src/config/schema.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { type Stored, storeFailedBuild } from '../service/answers/served-world.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { startService, TOKEN } from '../support/service.ts';
import { runFaultline } from './faultline.ts';

let folder = '';
let stored: Stored;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-cli-ask-'));
  await copyTestDatabase(join(folder, 'database'));
  const app = await createApp(
    parseConfig(createEmbeddedPreset(folder, join(import.meta.dirname, '../../knowledge'))),
    silentLogger,
  );
  stored = await storeFailedBuild(app.stores, '812');
  await app.close({ drainMs: 0 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('faultline ask reads the data directory, then asks the service that serves it, in one stored thread', async () => {
  const first = await runFaultline(['ask', stored.analysis.id, 'why?', '--data', folder]);
  expect(first.code).toBe(0);
  const thread = /^Thread\t(thr_\w+)$/m.exec(first.stdout)?.[1] ?? '';
  expect(first.stderr).toContain(
    `Stored. Continue with: faultline ask ${stored.analysis.id} --thread ${thread}`,
  );

  const resumed = await runFaultline([
    'ask',
    'github:812',
    'did it fail before?',
    '--data',
    folder,
    '--resume',
    '--json',
  ]);
  expect(JSON.parse(resumed.stdout)).toMatchObject({
    ok: true,
    kept: true,
    threadId: thread,
    position: 2,
    askedBy: 'terminal',
  });

  const service = await startService(folder);
  const env = { FAULTLINE_TOKEN: TOKEN };
  const served = await runFaultline(
    ['ask', stored.analysis.id, 'who?', '--url', service.address, '--thread', thread, '--json'],
    { env },
  );
  await service.kill('SIGTERM');
  expect(JSON.parse(served.stdout)).toMatchObject({
    ok: true,
    threadId: thread,
    position: 3,
    askedBy: 'admin',
  });

  const unknown = await runFaultline(['ask', 'ana_none', 'why?', '--data', folder]);
  expect(unknown.code).toBe(3);
});
