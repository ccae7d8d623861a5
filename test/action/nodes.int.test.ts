import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCapturedFailures } from '../support/captured-failures.ts';
import { installOtherNode } from '../support/other-node.ts';
import { createRunner, type Runner, type StepResult } from './runner.ts';

/** GitHub's runners bring the Node that action.yml asks for; act and Gitea's take the one on PATH. */
const NODES = ['20.20.2', '22.23.3'] as const;
const TOO_OLD = '18.20.8';
const failures = readCapturedFailures().filter((_, at) => at % 12 === 0);

let pinned: Runner;
beforeAll(async () => {
  pinned = await createRunner();
});
afterAll(() => pinned.close());

describe.each(NODES)('the action with Node %s', (version) => {
  let runner: Runner;
  beforeAll(async () => {
    runner = await createRunner(await installOtherNode(version));
  });
  afterAll(() => runner.close());

  test.each(failures.map(({ slug, log }) => [slug, log]))('gives the same answer for %s', async (_, log) => {
    const step = { with: { log: 'logs/**/*.log' }, files: { 'logs/deep/build.log': log } };
    const [theirs, ours] = await Promise.all([runner.run(step), pinned.run(step)]);

    expect(ours.outputs.category).not.toBe('');
    expect(withoutTime(theirs)).toEqual(withoutTime(ours));
  });

  test('warns about an archive that it cannot unpack', async () => {
    const step = {
      with: { log: 'build.log.zst' },
      files: { 'build.log.zst': zstdCompressSync(failures[0]?.log ?? '') },
    };
    const { exitCode, commands, outputs } = await runner.run(step);

    expect(exitCode).toBe(0);
    if (version.startsWith('20.'))
      expect(commands).toMatchObject([
        { name: 'warning', message: expect.stringContaining('Compress it with gzip') },
      ]);
    else expect(outputs.category).toBe(failures[0]?.category);
  });
});

test('a Node version that is too old is named, and fails the step only if an answer is required', async () => {
  const runner = await createRunner(await installOtherNode(TOO_OLD));
  const step = { with: { log: 'build.log' }, files: { 'build.log': 'x' } };
  const { exitCode, commands } = await runner.run(step);
  const asked = await runner.run({ ...step, with: { ...step.with, 'fail-on': 'unanswered' } });
  await runner.close();

  expect(exitCode).toBe(0);
  expect(commands).toMatchObject([
    {
      name: 'warning',
      message: expect.stringContaining(`needs Node 20 or newer, and this runner has v${TOO_OLD}`),
    },
  ]);
  expect(asked.exitCode).toBe(1);
});

test.each([
  ['that cannot be read', 'step.mjs', 'await using file = {', 'it ended with exit code 1'],
  ['that is not there', 'step.mjs', null, 'it ended with exit code 1'],
  ['that runs out of memory', 'step.mjs', "process.kill(process.pid, 'SIGABRT');", 'it was ended by SIGABRT'],
  ['that cannot be loaded later', 'triage.mjs', 'await using file = {', 'Internal error in the action'],
])('a bundle file %s causes a warning, not a second failure', async (_, name, text, said) => {
  const runner = await createRunner();
  const part = join(runner.checkout, 'dist', name);
  if (text === null) await rename(part, `${part}.gone`);
  else await writeFile(part, text);
  const { exitCode, commands } = await runner.run({
    with: { log: 'build.log' },
    files: { 'build.log': failures[0]?.log ?? '' },
  });
  await runner.close();

  expect(exitCode).toBe(0);
  expect(commands).toMatchObject([{ name: 'warning', message: expect.stringContaining(said) }]);
});

/** Without the analysis's ID and how long it took. */
function withoutTime({ summary, ...result }: StepResult): StepResult {
  return { ...result, summary: summary.replaceAll(/\d[\d.]* m?s\b|ana\\_\w+/g, '…') };
}
