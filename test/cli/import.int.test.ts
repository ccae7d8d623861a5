import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Host, type PastHostRun, startHost } from '../providers/contract.ts';
import { giteaWorld } from '../providers/worlds/gitea.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { THOROUGH } from '../support/thorough.ts';
import { type Ended, runFaultline, runFaultlineProcess } from './faultline.ts';

const LOG = `> shop@1.0.0 test
FAIL test/cart.test.ts
  ✕ adds up (3 ms)
    expect(received).toBe(expected)
    Expected: 10.2
    Received: 10.21
      at Object.<anonymous> (test/cart.test.ts:4:22)
Tests: 1 failed, 3 passed, 4 total
`;
const runAt = (id: number, status: PastHostRun['status'], log: string | number = LOG): PastHostRun => ({
  id,
  status,
  log,
  ended: new Date(Date.now() - (20 - id) * 3_600_000).toISOString(),
});

let host: Host;
let data: string;
beforeEach(async () => {
  host = await startHost(giteaWorld);
  host.state.past = [
    runAt(8, 'passed'),
    runAt(7, 'failed'),
    runAt(6, 'failed', 404),
    runAt(5, 'failed'),
    runAt(4, 'passed'),
  ];
  data = await mkdtemp(join(tmpdir(), 'faultline-import-'));
  await copyTestDatabase(join(data, 'database'));
});
afterEach(async () => {
  await host.close();
  await rm(data, { recursive: true, force: true });
});

const env = () => ({
  FAULTLINE_GITEA_URL: host.url,
  FAULTLINE_GITEA_TOKEN: 'gitea-token-0123',
  FAULTLINE_GITEA_WRITES: 'comment',
  FAULTLINE_DATA_DIR: data,
});
const args = ['import', '--repository', 'shop/api', '--since', '30d'];
const logsAsked = () => host.requests.filter(({ path }) => path.endsWith('/logs')).map(({ path }) => path);

/** Waits until it is so, or until the process has ended without it. */
async function waitUntil(running: Promise<Ended>, isSo: () => boolean): Promise<void> {
  let hasEnded = false;
  void running.finally(() => (hasEnded = true));
  while (!isSo() && !hasEnded) await sleep(20);
}

test('import imports, answers and reports the past of a repository, and notifies nobody', async () => {
  const imported = await runFaultline([...args, '--json'], { env: env() });
  expect(imported).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /5 runs[\s\S]*5\/5 +passed +ci #8 on main[\s\S]*learning from[\s\S]*2 of 2 failed builds analyzed/,
    ),
  });
  expect(JSON.parse(imported.stdout)).toMatchObject({
    ok: true,
    provider: 'gitea',
    failed: 2,
    passed: 2,
    withoutLog: 1,
    known: 0,
    leftOut: 0,
  });

  const { stdout, code } = await runFaultline(['report', '--repository', 'shop/api'], { env: env() });
  expect(code).toBe(0);
  expect(stdout).toContain('3 failed and 2 passed builds');
  expect(stdout).toMatch(/2 answers: \d published, \d for review; 1 failed build without an answer/);
  expect(stdout).toMatch(/ci #7 +TEST_FAILURE|ci #7 +[A-Z_]+ER/);
  expect(stdout).toContain('Most frequent causes');
  expect(host.state.comments).toEqual([]);
  expect(logsAsked().sort()).toEqual(
    [40, 50, 60, 70, 80].map((job) => `/api/v1/repos/shop/api/actions/jobs/${job}/logs`),
  );
});

// That an import goes on where it was is tried without a kill in test/service/import.int.test.ts in every run.
if (THOROUGH)
  test('an import that was killed continues where it stopped', async () => {
    const logs = 3;
    let kill: (signal: NodeJS.Signals) => void = () => undefined;
    const running: Promise<Ended> = runFaultlineProcess(args, {
      env: env(),
      onStart: (child) => (kill = (signal) => child.kill(signal)),
    });
    await waitUntil(running, () => logsAsked().length > 0);
    kill('SIGKILL');
    expect((await running).signal).toBe('SIGKILL');

    const again = await runFaultline([...args, '--json'], { env: env() });
    expect(again.code).toBe(0);
    const { failed, passed, known, withoutLog: gone } = JSON.parse(again.stdout);
    expect([failed + passed + known + gone, known > 0]).toEqual([5, true]);
    const third = JSON.parse((await runFaultline([...args, '--json'], { env: env() })).stdout);
    expect(third).toMatchObject({ known: 5, failed: 0 });
    expect(new Set(logsAsked()).size).toBeLessThanOrEqual(logs + 2);
  }, 180_000);

test('Ctrl-C ends an import with 130 and the command that continues it', async () => {
  host.state.log = 'slow';
  host.state.limited = 1_000;
  let kill: (signal: NodeJS.Signals) => void = () => undefined;
  const running = runFaultlineProcess(args, {
    env: env(),
    onStart: (child) => (kill = (signal) => child.kill(signal)),
  });
  await waitUntil(running, () => host.requests.length > 0);
  kill('SIGINT');
  expect(await running).toMatchObject({
    code: 130,
    stderr: expect.stringContaining('run the same command again'),
  });
});

test('an import without a configured provider names the setting to set', async () => {
  expect(await runFaultline(args, { env: { FAULTLINE_DATA_DIR: data } })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('FAULTLINE_GITEA_TOKEN'),
  });
  const { code, stderr } = await runFaultline([...args, '--provider', 'jenkins'], { env: env() });
  expect([code, stderr]).toEqual([2, expect.stringContaining('configured: gitea')]);
  expect(
    (await runFaultline(['import', '--repository', 'shop/api', '--since', 'yesterday'], { env: env() })).code,
  ).toBe(2);
});
