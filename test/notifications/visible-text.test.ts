import { describe, expect, it } from 'vitest';
import { toVisibleLine, toVisibleLines } from '../../src/notifications/visible-text.ts';

describe('a log line for display', () => {
  it('has its colors removed', () => {
    expect(toVisibleLine('\u001b[36;1mnpm test\u001b[0m \u001b[38:2::255:0:0mred\u001b[m')).toBe(
      'npm test red',
    );
    expect(toVisibleLine('\u001b[01;31m\u001b[Kerror:\u001b[m\u001b[K no member')).toBe('error: no member');
    expect(toVisibleLines('\u009b31ma\u009b0m\nb')).toEqual(['a', 'b']);
  });

  it('shows every other escape and control character', () => {
    expect(toVisibleLine('a\u001b[2Jb')).toBe('a⟦U+001B⟧[2Jb');
    expect(toVisibleLine('a\u001b]8;;https://x\u0007b')).toBe('a⟦U+001B⟧]8;;https://x⟦U+0007⟧b');
    expect(toVisibleLine('a\u202eb\u0000')).toBe('a⟦U+202E⟧b⟦U+0000⟧');
  });

  it('is not made dangerous by what is left out', () => {
    expect(toVisibleLine('\u001b\u001b[0m[31mx')).toBe('⟦U+001B⟧[31mx');
    expect(toVisibleLine('\u001b[3\u001b[0m1mx')).toBe('⟦U+001B⟧[31mx');
  });
});
