import { describe, expect, it } from 'vitest';
import { startReplayProgress } from '../../../src/replay/commands/replay-source.ts';

const STANDING = { done: 10, resumed: 0, total: 200, errors: 0, usd: 0, elapsedMs: 10_000 };

describe('the progress of a replay', () => {
  it('is one line that is rewritten in a terminal, and removed at the end', () => {
    const { stream, now, written } = createTerminal(true);
    const progress = startReplayProgress({ plain: false }, stream, now.read);
    progress.show(STANDING);
    progress.show({ ...STANDING, done: 11 });
    now.at += 150;
    progress.show({ ...STANDING, done: 12 });
    progress.say('x: it failed');
    progress.stop();
    expect(written()).toBe(
      '\r\x1b[2K10 of 200 cases; about 3 min left\r\x1b[2K12 of 200 cases; about 3 min left\r\x1b[2Kx: it failed\n12 of 200 cases; about 3 min left\r\x1b[2K',
    );
  });

  it('is a line from time to time elsewhere, by cases or by the clock', () => {
    const { stream, now, written } = createTerminal(false);
    const progress = startReplayProgress({ plain: false }, stream, now.read);
    for (let done = 1; done <= 60; done++) progress.show({ ...STANDING, done });
    now.at += 20_000;
    progress.show({ ...STANDING, done: 61 });
    progress.stop();
    expect(written()).toBe('50 of 200 cases; about 30 s left\n61 of 200 cases; about 23 s left\n');
  });
});

function createTerminal(isTTY: boolean) {
  const pieces: string[] = [];
  const now = { at: 0, read: () => now.at };
  const stream = { isTTY, columns: 80, write: (piece: string) => pieces.push(piece) };
  return { stream, now, written: () => pieces.join('') };
}
