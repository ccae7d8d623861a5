import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createCrashIsolation } from '../../../src/service/triage/worker.ts';

/** Work that notes when it begins and ends. */
function noting(events: string[], name: string, milliseconds: number) {
  return async () => {
    events.push(`${name} begins`);
    await sleep(milliseconds);
    events.push(`${name} ends`);
  };
}

it('runs shared work side by side', async () => {
  const events: string[] = [];
  const { together } = createCrashIsolation();
  await Promise.all(['a', 'b'].map((name) => together(noting(events, name, 10))));
  expect(events.slice(0, 2)).toEqual(['a begins', 'b begins']);
});

it('keeps everything else out while one must be alone, which goes before what came later', async () => {
  const events: string[] = [];
  const { together, alone } = createCrashIsolation();
  await Promise.all([
    together(noting(events, 'a', 20)),
    alone(noting(events, 'suspect', 5)),
    together(noting(events, 'b', 5)),
    alone(noting(events, 'other suspect', 5)),
  ]);
  expect(events).toEqual([
    ...['a begins', 'a ends', 'suspect begins', 'suspect ends'],
    ...['other suspect begins', 'other suspect ends', 'b begins', 'b ends'],
  ]);
});

it('goes on after work that throws', async () => {
  const { together, alone } = createCrashIsolation();
  const broken = () => Promise.reject(new Error('no'));
  await expect(alone(broken)).rejects.toThrow('no');
  await expect(together(broken)).rejects.toThrow('no');
  expect(await alone(async () => 'well')).toBe('well');
});
