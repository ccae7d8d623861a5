import { expect, test } from 'vitest';
import { stopService } from '../../src/cli/serve/serve-command.ts';
import { createRecordingLogger, type LogLine } from '../support/http-deps.ts';

const DRAIN_MS = 20_000;

test('the API and the queue stop at the same time, then the stores', async () => {
  const api = Promise.withResolvers<void>();
  const queue = Promise.withResolvers<void>();
  const { events, app, note } = createStoppable(queue.promise);
  const stopped = stopService(app, [{ close: () => note('api', api.promise) }], DRAIN_MS);
  expect(events).toEqual(['api', 'queue 20000']);
  queue.resolve();
  await new Promise(setImmediate);
  expect(events).toHaveLength(2);
  api.resolve();
  await stopped;
  expect(events).toEqual(['api', 'queue 20000', 'stores 0']);
});

test('an API that does not close delays nothing, and is logged', async () => {
  const { events, app, log } = createStoppable(Promise.resolve());
  await stopService(app, [{ close: () => Promise.reject(new Error('stuck')) }], DRAIN_MS);
  expect(events).toEqual(['queue 20000', 'stores 0']);
  expect(log).toMatchObject([{ level: 'error', fields: { reason: 'stuck' } }]);
});

test('a worker has no API to stop', async () => {
  const { events, app } = createStoppable(Promise.resolve());
  await stopService(app, [], DRAIN_MS);
  expect(events).toEqual(['queue 20000', 'stores 0']);
});

function createStoppable(queue: Promise<void>) {
  const events: string[] = [];
  const log: LogLine[] = [];
  const note = (event: string, ended: Promise<void>) => {
    events.push(event);
    return ended;
  };
  const app: Parameters<typeof stopService>[0] = {
    logger: createRecordingLogger(log),
    stopTriage: ({ drainMs }) => note(`queue ${drainMs}`, queue),
    close: (options) => note(`stores ${options?.drainMs}`, Promise.resolve()),
  };
  return { events, log, app, note };
}
