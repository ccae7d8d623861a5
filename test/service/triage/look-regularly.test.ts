import { expect, it } from 'vitest';
import { lookRegularly } from '../../../src/lib/time.ts';

it('regular work runs at once and repeatedly, never twice at a time, and a stop waits for the present run', async () => {
  const events: string[] = [];
  let [now, most] = [0, 0];
  const looking = lookRegularly(1, async (stopping) => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setTimeout(resolve, 10));
    now -= 1;
    events.push(stopping.aborted ? 'told to end' : 'looked');
  });
  await expect.poll(() => events.length).toBeGreaterThan(2);
  await looking.stop();
  const looks = events.length;
  await new Promise((resolve) => setTimeout(resolve, 30));

  expect([most, now, events.length]).toEqual([1, 0, looks]);
});
