import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installDatabase } from '../support/installed-database.ts';
import { type Service, startService } from '../support/service.ts';
import { createRunner, type Runner } from './runner.ts';

const TOKEN = 'token-of-a-repository-for-actions';
let folder: string;
let service: Service;
let runner: Runner;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-action-'));
  const { environment } = await installDatabase(folder);
  [service, runner] = await Promise.all([
    startService(folder, { ...environment, FAULTLINE_TOKENS: `ci:ingest+read:${TOKEN}` }),
    createRunner(),
  ]);
});
afterAll(async () => {
  await service.kill('SIGTERM');
  await runner.close();
  await rm(folder, { recursive: true, force: true });
});

test('a step uploads to a real service, and gets its answer', async () => {
  const log = await readFile(
    join(import.meta.dirname, '../fixtures/failures/atlas-webpack-missing-file/log.txt'),
    'utf8',
  );
  const step = {
    with: { log: 'build.log', 'server-url': service.address, token: TOKEN, wait: '60' },
    files: { 'build.log': log },
  };
  const { exitCode, outputs, commands, summary } = await runner.run(step);
  const again = await runner.run(step);

  expect(exitCode).toBe(0);
  expect(outputs).toMatchObject({
    category: 'CODE_ERROR',
    url: expect.stringMatching(/\/analyses\/ana_\w+$/),
  });
  expect(commands).toEqual([
    expect.objectContaining({
      name: 'warning',
      properties: expect.objectContaining({ file: 'src/index.js', line: '2' }),
    }),
  ]);
  expect(summary).toContain("Can't resolve './legend/names.js'");
  expect(again.outputs).toEqual(outputs);

  const read = await fetch(`${service.address}/api/builds/by-number?provider=upload&number=812`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(await read.json()).toMatchObject({
    build: { repository: 'shop/api', pipeline: 'ci / test', job: 'test', status: 'failed' },
    triage: { state: 'done' },
  });

  const other = await runner.run({ ...step, files: { 'build.log': `${log}\nanother leg of the matrix\n` } });
  expect(other.commands[0]?.message).toContain('add the matrix values to the input');
});
