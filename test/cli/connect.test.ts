import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Host, startHost } from '../providers/contract.ts';
import { giteaWorld } from '../providers/worlds/gitea.ts';
import { startLoopback } from '../support/loopback-server.ts';
import { runFaultline } from './faultline.ts';

let host: Host;
let data: string;
beforeEach(async () => {
  host = await startHost(giteaWorld);
  data = await mkdtemp(join(tmpdir(), 'faultline-connect-'));
});
afterEach(async () => {
  await host.close();
  await rm(data, { recursive: true, force: true });
});

const SECRET = 'a-gitea-secret-of-the-operator';
const gitea = () => ({
  FAULTLINE_GITEA_URL: host.url,
  FAULTLINE_GITEA_TOKEN: 'gitea-token-0123',
  FAULTLINE_GITEA_WEBHOOK_SECRET: SECRET,
});

describe('faultline connect', () => {
  test('lists the steps and settings without a token', async () => {
    const { code, stdout } = await runFaultline(['connect', 'gitea', '--data', data]);
    expect(code).toBe(0);
    for (const words of [
      'https://YOUR-FAULTLINE/webhooks/gitea',
      'none yet; --new-secret',
      'application/json',
      'Custom events',
      'read:repository',
    ])
      expect(stdout).toContain(words);
  });

  test('creates a secret on request, and prints where to enter it', async () => {
    const { stdout } = await runFaultline([
      'connect',
      'gitlab',
      '--new-secret',
      '--url',
      'https://fl.example/',
      '--data',
      data,
      '--json',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      provider: 'gitlab',
      webhook: {
        address: 'https://fl.example/webhooks/gitlab',
        secret: expect.stringMatching(/^whs_[\w-]{32}$/),
        secretSetting: 'FAULTLINE_GITLAB_WEBHOOK_SECRET',
      },
    });
  });

  test('prints the secret that an embedded installation created, which serve also uses', async () => {
    const { stdout } = await runFaultline(['connect', 'github', '--data', data]);
    const kept = JSON.parse(await readFile(join(data, 'secrets.json'), 'utf8'));
    expect(stdout).toContain(kept.githubWebhookSecret);
  });

  test('checks each permission with a token, creates the webhook, and never prints a configured secret', async () => {
    const args = [
      'connect',
      'gitea',
      '--repository',
      'shop/api',
      '--url',
      'http://127.0.0.1:9',
      '--create',
      '--data',
      data,
    ];
    const { code, stdout } = await runFaultline(args, { env: gitea() });
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/ok +repository[\s\S]*ok +runs[\s\S]*ok +code[\s\S]*ok +webhook/),
    });
    expect(stdout).not.toContain(SECRET);
    expect(host.state.hooks).toMatchObject([
      { address: 'http://127.0.0.1:9/webhooks/gitea', secret: SECRET },
    ]);
  });

  test('exits with 4 if something is wrong, with advice', async () => {
    host.state.forbidden = /actions/;
    const { code, stdout } = await runFaultline(
      ['connect', 'gitea', '--repository', 'shop/api', '--data', data],
      { env: gitea() },
    );
    expect({ code, stdout }).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(/wrong +runs .*403[\s\S]*→ give the token/),
    });
  });

  test('refuses an unknown provider and an invalid repository', async () => {
    expect((await runFaultline(['connect', 'travis'])).code).toBe(2);
    const { code, stdout } = await runFaultline(
      ['connect', 'gitea', '--repository', 'no repository', '--create', '--data', data],
      {
        env: gitea(),
      },
    );
    expect({ code, stdout }).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('is not a repository of Gitea or Forgejo'),
    });
  });

  test("prints terminal escapes in a server's message as visible text", async () => {
    const evil = await startLoopback((_request, response) => {
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: '\u001b]0;owned\u0007\u001b[2J\u202e all is well' }));
    });
    const args = [
      'connect',
      'gitea',
      '--repository',
      'shop/api',
      '--url',
      'http://127.0.0.1:9',
      '--create',
      '--data',
      data,
    ];
    const env = { ...gitea(), FAULTLINE_GITEA_URL: evil.url };
    const { stdout, stderr } = await runFaultline(args, { env });
    const { stdout: json } = await runFaultline([...args, '--json'], { env });
    await evil.close();
    for (const text of [stdout, stderr, json]) expect(text).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(stdout).toContain('wrong');
  });
});
