import { setTimeout as delay } from 'node:timers/promises';

/** Whether the work ended, well or not, within the time. */
export async function settlesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const timer = new AbortController();
  const settled = work.then(
    () => true,
    () => true,
  );
  const late = delay(milliseconds, false, { signal: timer.signal }).catch(() => false);
  const result = await Promise.race([settled, late]);
  timer.abort();
  return result;
}
