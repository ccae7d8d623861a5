import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BARE } from '../support/bare-environment.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { THOROUGH } from '../support/thorough.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');
const TOKEN = 'the-token-that-an-operator-chose';
/** What the demo prints last. In a short run it is stopped at its beginning, because it sends dozens of builds. */
const DEMO_PRINTS = THOROUGH ? 'Read one:' : 'Sending sample data';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-serve-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * Serves until `last` is printed, then stops it as a container is stopped. Returns what it printed on both
 * streams.
 */
async function serve(
  name: string,
  env: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
  last = 'Ctrl-C',
) {
  const data = join(folder, name);
  await copyTestDatabase(join(data, 'database'));
  const child = spawn(process.execPath, [MAIN, 'serve', '--data', data, '--port', '0', ...flags], {
    env: { ...BARE, FAULTLINE_LOG_LEVEL: 'debug', ...env },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      // A second signal would end it without closing anything.
      if (said.includes(last) && !child.killed) child.kill('SIGTERM');
    });
  }
  const [code] = await once(child, 'close');
  return { code, said, data };
}

test('serve and the demo never print a token that the operator chose, and create no unneeded secrets', async () => {
  const env = {
    FAULTLINE_TOKENS: `one:ingest:${TOKEN}-1,two:admin:${TOKEN}-2`,
    FAULTLINE_GITHUB_WEBHOOK_SECRET: 'a-github-secret',
    FAULTLINE_JENKINS_WEBHOOK_SECRET: 'a-jenkins-secret',
  };
  const { code, said, data } = await serve('configured', env, ['--demo'], DEMO_PRINTS);
  expect(code).toBe(0);
  expect(said).toMatch(/^ {2}token {6}2 are configured$/m);
  expect(said).toContain(DEMO_PRINTS);
  if (THOROUGH) expect(said).toContain('Bearer $TOKEN');
  for (const secret of [TOKEN, 'a-github-secret', 'a-jenkins-secret']) expect(said).not.toContain(secret);
  expect(existsSync(join(data, 'secrets.json'))).toBe(false);
});

test('a failed start ends the process, however far it got', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    const { code, said } = await serve('watched', { FAULTLINE_METRICS_PORT: String(port) }, [], 'never said');
    expect(said).toContain(`Cannot listen on 127.0.0.1:${port}`);
    expect(code).toBe(4);
  } finally {
    taken.close();
  }
});

test('a token that serve created is printed, and stored for the owner only', async () => {
  const { code, said, data } = await serve('made', {});
  expect(code).toBe(0);
  expect(said).toMatch(/^ {2}token {6}flt_[\w-]{32}$/m);
  expect(said).not.toContain('whs_');
  expect(statSync(join(data, 'secrets.json')).mode & 0o777).toBe(0o600);
});
