import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startProgress } from '../../src/cli/progress.ts';

function stream(isTTY: boolean) {
  const said: string[] = [];
  return { said, isTTY, columns: 60, write: (text: string) => said.push(text) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('progress on standard error', () => {
  it('has a line for each phase, and another after each 30 s of silence', () => {
    const to = stream(false);
    const progress = startProgress({ quiet: false, plain: false }, to);
    progress.phase('read_test_file');
    vi.advanceTimersByTime(29_000);
    expect(to.said).toEqual(['read_test_file\n']);
    vi.advanceTimersByTime(31_000);
    expect(to.said.slice(1)).toEqual([
      'still working: read_test_file, 30 s\n',
      'still working: read_test_file, 60 s\n',
    ]);
    progress.stop();
    vi.advanceTimersByTime(60_000);
    expect(to.said).toHaveLength(3);
  });

  it('redraws one line in a terminal and removes it at the end', () => {
    const to = stream(true);
    const progress = startProgress({ quiet: false, plain: false }, to);
    progress.phase(`reading ${'long '.repeat(40)}`);
    vi.advanceTimersByTime(1_000);
    expect(to.said.length).toBeGreaterThan(5);
    for (const one of to.said) expect(one.replace('\r\u001b[2K', '').length).toBeLessThan(60);
    progress.stop();
    expect(to.said.at(-1)).toBe('\r\u001b[2K');
  });

  it('redraws nothing with --plain, and is silent with --quiet', () => {
    const [plain, quiet] = [stream(true), stream(true)];
    startProgress({ quiet: false, plain: true }, plain).phase('classify');
    startProgress({ quiet: true, plain: false }, quiet).phase('classify');
    expect(plain.said).toEqual(['classify\n']);
    expect(quiet.said).toEqual([]);
  });
});
