import { describe, expect, it } from 'vitest';
import { readLines } from './read-lines.ts';

const names = (lines: readonly string[]) =>
  readLines(...lines).exceptions[0]?.frames.map(({ function: name, file, line, own }) => [
    name,
    file,
    line,
    own,
  ]);

const ASAN = [
  '==812==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x55 bp 0x7f sp 0x7f',
  'READ of size 4 at 0x602000000010 thread T0',
  '    #0 0x55d0 in __interceptor_memcpy (/w/cart+0x1)',
  '    #1 0x55d1 in total /w/src/cart.c:12:9',
  '    #2 0x55d2 in main /w/src/main.c:4:3',
  '',
  'freed by thread T0 here:',
  '    #0 0x55d3 in free (/w/cart+0x2)',
  'SUMMARY: AddressSanitizer: heap-use-after-free /w/src/cart.c:12:9 in total',
];

describe('crashes', () => {
  it('of AddressSanitizer name the deepest frame of the project', () => {
    const { exceptions, excerpts } = readLines(...ASAN);
    expect(exceptions[0]).toMatchObject({
      type: 'AddressSanitizer: heap-use-after-free',
      message: expect.stringContaining('in total /w/src/cart.c:12'),
    });
    expect(names(ASAN)?.slice(0, 2)).toEqual([
      ['__interceptor_memcpy', '', null, false],
      ['total', '/w/src/cart.c', 12, true],
    ]);
    expect(excerpts.some(({ lineEnd }) => lineEnd === 9)).toBe(true);
  });

  it('of ThreadSanitizer and valgrind name it too', () => {
    const tsan = [
      'WARNING: ThreadSanitizer: data race (pid=812)',
      '  Write of size 4 at 0x55 by thread T1:',
      '    #0 add /w/src/cart.c:7 (cart+0x1)',
    ];
    expect(readLines(...tsan).exceptions[0]).toMatchObject({
      type: 'ThreadSanitizer: data race',
      frames: [{ function: 'add', line: 7, own: true }],
    });
    const valgrind = [
      '==12== Invalid read of size 4',
      '==12==    at 0x401136: total (cart.c:12)',
      '==12==    by 0x401150: main (main.c:4)',
      '==12== ',
    ];
    expect(readLines(...valgrind).exceptions[0]).toMatchObject({
      type: 'valgrind',
      message: 'Invalid read of size 4 in total cart.c:12',
      frames: [{ function: 'total', file: 'cart.c', line: 12, own: true }, { function: 'main' }],
    });
  });

  it('of UBSan are findings with a place', () => {
    const { diagnostics } = readLines(
      'src/cart.c:12:9: runtime error: signed integer overflow: 2147483647 + 1',
    );
    expect(diagnostics).toMatchObject([{ tool: 'ubsan', file: 'src/cart.c', line: 12, column: 9 }]);
  });

  it('of gdb contain the stack of the signal', () => {
    const lines = [
      'Program received signal SIGSEGV, Segmentation fault.',
      '0x0000 in total (cart=0x0) at src/cart.c:12',
      '#0  0x00007f in raise () from /lib/libc.so.6',
      '#1  0x000055 in total (cart=0x0) at src/cart.c:12',
    ];
    expect(readLines(...lines).exceptions[0]).toMatchObject({
      type: 'SIGSEGV',
      frames: [{ own: false }, { function: 'total', file: 'src/cart.c', line: 12, own: true }],
    });
  });

  it('of the Java runtime name the problematic frame', () => {
    const lines = [
      '#',
      '# A fatal error has been detected by the Java Runtime Environment:',
      '#',
      '#  SIGSEGV (0xb) at pc=0x00007f, pid=812, tid=813',
      '#',
      '# Problematic frame:',
      '# C  [libpixels.so+0x1139]  Java_org_x_Pixels_read+0x9',
      '#',
    ];
    expect(readLines(...lines).exceptions[0]).toMatchObject({
      type: 'SIGSEGV',
      frames: [{ file: 'libpixels.so', function: 'Java_org_x_Pixels_read', own: true }],
    });
  });

  it('of minidumps contain the crashed thread', () => {
    const lines = [
      'Crash reason:  SIGSEGV /SEGV_MAPERR',
      'Crash address: 0x0',
      '',
      'Thread 0 (crashed)',
      ' 0  cart!shop::Cart::total [cart.cpp:12 + 0x5]',
      '    rax = 0x0',
    ];
    expect(readLines(...lines).exceptions[0]).toMatchObject({
      type: 'SIGSEGV',
      frames: [{ file: 'cart.cpp', line: 12, function: 'shop::Cart::total' }],
    });
  });
});
