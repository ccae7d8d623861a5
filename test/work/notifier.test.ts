import { expect, test } from 'vitest';
import { createWorkNotifier } from '../../src/work/notifier.ts';
import { createRecordingLogger, type LogLine } from '../support/http-deps.ts';

test('a queue that hangs gets a limited number of calls, delays no caller, and is reported once', async () => {
  const log: LogLine[] = [];
  let asked = 0;
  const wake = () => {
    asked += 1;
    return new Promise<void>(() => undefined);
  };
  const notifier = createWorkNotifier({ wakeUp: { wake }, logger: createRecordingLogger(log) });
  for (let build = 0; build < 1_000; build++) notifier.notify('triage', `bld_${build}`);
  await notifier.settle(20);

  expect(asked).toBe(200);
  expect(log.filter(({ message }) => message.includes('does not answer'))).toHaveLength(1);
});
