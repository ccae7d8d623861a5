import { expect, it } from 'vitest';
import { TRIAGE } from '../../src/domain/work.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import type { Wakeable, WakeUp } from '../../src/ports/work.ts';
import { startWorker } from '../../src/work/worker.ts';
import { openTestDatabase } from '../support/postgres.ts';
import { createTriageWorld } from '../support/triage-world.ts';

const MAX_FRAMES = 8;

it(`an error in the graph is at most ${MAX_FRAMES} of our calls from the worker`, async () => {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 100;
  const stacks: string[] = [];
  const planted = async (): Promise<never> => {
    await new Promise(setImmediate);
    const error = new Error('planted');
    stacks.push(error.stack ?? '');
    throw error;
  };
  const db = await openTestDatabase();
  const { stores, handler, accept } = createTriageWorld(db, {
    graph: { invoke: planted, getState: async () => ({ values: {} }) as never },
  });
  let told: Wakeable | undefined;
  const wakeUp: WakeUp = {
    driver: 'by hand',
    wake: async () => undefined,
    start: (worker) => {
      told = worker;
    },
    brings: () => true,
    resize: () => undefined,
    depth: async () => 0,
    stop: () => undefined,
    close: async () => undefined,
  };
  const deps = { work: stores.work, masker: createMasker(), logger: silentLogger };
  const worker = startWorker({ ...deps, handlers: [handler], wakeUp, intervalMs: 60_000 });
  const [found, brought] = [await accept(), await accept()];

  await told?.run(TRIAGE, brought.id);
  told?.look(TRIAGE);
  await expect.poll(() => stacks.length).toBe(2);
  await worker.stop();
  Error.stackTraceLimit = limit;

  for (const stack of stacks) {
    const own = stack.split('\n').filter((line) => /\/src\/[\w/-]+\.ts:/.test(line));
    console.info(`${own.length} frames of ours: ${own.map((line) => line.trim().split(' ')[2]).join(' < ')}`);
    expect(own.length).toBeLessThanOrEqual(MAX_FRAMES);
    // Nothing in between is hidden: the first call of all is there.
    expect(own.at(-1)).toMatch(/src\/work\/(worker|process-items)\.ts/);
    expect(stack).toContain('triageBuild');
  }
  expect(await stores.work.find(TRIAGE, found.id)).toMatchObject({ outcome: 'done' });
  await db.dispose();
});
