import { vi } from 'vitest';

let aheadMs = 0;

/**
 * So many minutes later, on every clock of this process, and never back again: what counts in real milliseconds waits where a clock
 * is set back.
 */
export function passMinutes(minutes: number): void {
  if (aheadMs === 0) {
    const now = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
  }
  aheadMs += minutes * 60_000;
}
