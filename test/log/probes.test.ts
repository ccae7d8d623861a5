import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSources } from '../../src/log/read-sources.ts';

function read(text: string) {
  return readSources([{ name: 'log', kind: 'log', notes: [], text }], { budgetTokens: 4_000 });
}

describe('feature probes', () => {
  it.each(['autoconf-dump', 'meson-dump', 'cmake-dump'])(
    'are not failures if the configuration continued: %s',
    (name) => {
      const { diagnostics, messages } = read(readFileSync(`test/fixtures/retries/${name}.txt`, 'utf8'));
      expect(diagnostics).toEqual([]);
      expect(messages[0]?.text).toBe('curl: (6) Could not resolve host: pipes.example.test');
    },
  );

  const attempt = `Change Dir: /b/CMakeFiles/CMakeTmp
Run Build Command(s):/usr/bin/gmake cmTC_8/fast
/p/chime.c:1:10: fatal error: chime.h: No such file or directory
gmake: *** [Makefile:127: cmTC_8/fast] Error 2
`;

  it('are not failures if CMake prints what it tried', () => {
    expect(
      read(`-- Chimes: FALSE\n${attempt}\n-- Configuring done\n-- Generating done\nld: cannot find -lbell\n`)
        .diagnostics,
    ).not.toContainEqual(expect.objectContaining({ file: '/p/chime.c' }));
  });

  it('are not failures in a status message, whatever stops the configuration below', () => {
    const stopped =
      'CMake Error at CMakeLists.txt:16 (message):\n  no map of the coast\n\n\n-- Configuring incomplete, errors occurred!\n';
    const { diagnostics } = read(`-- Chimes: FALSE\n-- The compiler said: ${attempt}\n${stopped}`);
    expect(diagnostics.map(({ file, message }) => [file, message])).toEqual([
      ['CMakeLists.txt', 'no map of the coast'],
    ]);
  });

  it('are the cause if the error that stopped the configuration shows them', () => {
    const shown = attempt.replace(/^/gm, '  ');
    const stopped = `CMake Error at CMakeLists.txt:16 (message):\n  no chimes:\n\n${shown}\n-- Configuring incomplete, errors occurred!\n`;
    expect(JSON.stringify(read(stopped))).toContain('chime.h: No such file');
  });

  it('are the cause if the compiler itself does not work', () => {
    const broken = `CMake Error at CMakeTestCCompiler.cmake:67 (message):\n  is not able to compile a simple test program.\n${attempt}-- Configuring done\n`;
    expect(read(broken).diagnostics).toContainEqual(expect.objectContaining({ file: '/p/chime.c' }));
  });

  it('are not failures in the output of a cargo build script, unless it failed', () => {
    const probe = '[zlib 1.1.8] src/smoke.c:1:10: fatal error: zlib.h: No such file or directory\n';
    const own = 'error[E0425]: cannot find value `lamp` in this scope\n --> src/main.rs:2:5\n';
    expect(read(probe + own).diagnostics.map(({ file }) => file)).toEqual(['src/main.rs']);
    expect(
      JSON.stringify(read(`${probe}error: failed to run custom build command for \`zlib v1.1.8\`\n`)),
    ).toContain('zlib.h');
  });
});
