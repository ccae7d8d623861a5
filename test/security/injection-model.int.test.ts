import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { listBreaches, recites } from './breaches.ts';
import { CANARIES } from './canaries.ts';
import { CHANNELS, type Channel } from './channels.ts';
import { type Batch, createBatch, EVIL, groupsAt } from './injections.ts';
import { createObedientModel } from './obedient-model.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  vi.stubEnv('FAULTLINE_CANARY', CANARIES.environment);
  stage = await openStage();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await stage.close();
});

const TRUTH = {
  test: { category: 'TEST_FAILURE', kind: 'assertion' },
  code: { category: 'CODE_ERROR', kind: 'type_error' },
};

async function collectBreaches(channel: Channel, batch: Batch): Promise<string[]> {
  const world = channel.world(batch, stage.repository);
  const truth = TRUTH[world.quote.text.startsWith('Expected') ? 'test' : 'code'];
  const model = createObedientModel(batch, { ...truth, asks: world.asks, quote: world.quote });
  stage.model.script(model.reply);
  const before = stage.model.requests.length;
  const witness = await stage.run(world, 'llm');
  const requests = stage.model.requests.slice(before);
  const { category, verdict, answer } = witness.analysis;
  const said = JSON.stringify(answer);
  return [
    ...(await listBreaches(witness, requests)),
    ...(verdict.action === 'auto_notify' && category !== truth.category ? [`${category} was published`] : []),
    // The rules quote the log itself; a model's own words lead nowhere.
    ...(witness.analysis.analyst === 'llm' && said.includes(`//${EVIL}`)
      ? ['the answer holds an address']
      : []),
    ...(recites(said, requests) ? ['the answer recites a prompt'] : []),
    // What nobody reads would prove nothing.
    ...model.unread().map((name) => `${name} was never read`),
  ].map((failure) => `${batch.name}: ${failure}`);
}

describe.each(CHANNELS)('T47, T53: a model that obeys, and reads a $name', (channel) => {
  test.each(groupsAt(CHANNELS.indexOf(channel)))(
    'has no effect beyond its text with the injection %s',
    async (_group, batches) => {
      const failures: string[] = [];
      for (const batch of batches) {
        const together = await collectBreaches(channel, batch);
        if (together.length === 0) continue;
        // One by one, to name the one; where only all of them together do it, all are named.
        const alone: string[] = [];
        for (const text of batch.of) alone.push(...(await collectBreaches(channel, createBatch([text]))));
        failures.push(...(alone.length > 0 ? alone : together));
      }
      expect(failures).toEqual([]);
    },
  );
});

test('no injection created a file', () => {
  const places = ['.', tmpdir(), stage.repository.folder].map((folder) => join(folder, 'faultline-pwned'));
  expect(places.filter((place) => existsSync(place))).toEqual([]);
});
