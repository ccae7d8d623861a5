import { afterAll, beforeAll, expect, test } from 'vitest';
import { KNOWN_HOSTILE } from '../hostile-values.ts';
import { listBlocks } from '../read-docs.ts';
import { CHECKOUT } from '../systems.ts';
import { SCRIPT, type Sent, startUploadReceiver, type UploadReceiver } from '../upload-receiver.ts';
import { runBuildbot } from './run-buildbot.ts';

const TOKEN = 'flt_5hVn2kQm8RzT1xWc9YbL4pJs7DgF3aHuE6oKiMv0BqXwZyN1tCd';

let receiver: UploadReceiver;
beforeAll(async () => {
  receiver = await startUploadReceiver();
});
afterAll(() => receiver.close());

test("in a real Buildbot every branch arrives unchanged, and no log shows the token, although the worker's environment is printed", async () => {
  const asked: Sent[] = [];
  const sent: Sent[] = [];
  const logs = await runBuildbot({
    recipe:
      listBlocks('start/any-ci.md', 'python')[0]?.replaceAll('https://faultline.example', receiver.url) ?? '',
    secret: TOKEN,
    workerEnvironment: { WORKER_SETTING: 'shown-in-every-log' },
    checkout: CHECKOUT,
    changes: KNOWN_HOSTILE,
    isDone: () => {
      for (const one of receiver.take()) (one.path === SCRIPT ? asked : sent).push(one);
      return sent.length >= KNOWN_HOSTILE.length;
    },
  });

  const branches = KNOWN_HOSTILE.map(({ branch }) => branch.replaceAll(/[\n\r]/g, ''));
  expect(sent.map(({ metadata }) => metadata?.branch).sort()).toEqual(branches.sort());
  expect(sent.every(({ authorization }) => authorization === `Bearer ${TOKEN}`)).toBe(true);
  expect(sent[0]?.metadata).toMatchObject({
    repository: 'shop/api',
    pipeline: 'ci',
    commit: expect.stringMatching(/^a41f9c/),
    url: expect.stringMatching(/^http.*\/builders\/\d+\/builds\/\d+$/),
  });
  expect(asked.map(({ authorization }) => authorization)).toEqual(sent.map(() => ''));
  const texts = logs.map(([, , text]) => text);
  expect(texts.filter((text) => text.includes('shown-in-every-log')).length).toBeGreaterThanOrEqual(
    KNOWN_HOSTILE.length,
  );
  expect([...texts, ...sent.map(({ body }) => body)].filter((text) => text.includes(TOKEN))).toEqual([]);
}, 300_000);
