import { vi } from 'vitest';

let aheadMs = 0;

/**
 * Advances every clock of this process by some minutes. The clocks never go back, because code that counts in
 * real milliseconds waits if a clock is set back.
 */
export function passMinutes(minutes: number): void {
  if (aheadMs === 0) {
    const now = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
  }
  aheadMs += minutes * 60_000;
}
