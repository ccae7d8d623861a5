import { describe, expect, it } from 'vitest';
import { readLines } from './read-lines.ts';

type Row = readonly [tool: string, lines: readonly string[], known: object];

const ROWS: readonly Row[] = [
  [
    'gcc',
    ["src/a.c:3:5: error: unused variable 'x' [-Werror=unused-variable]", '    3 | int x;'],
    { file: 'src/a.c', line: 3, column: 5 },
  ],
  [
    'gcc',
    [
      'ld.lld: error: undefined symbol: area',
      '>>> referenced by main.cpp:12',
      '>>>               main.o:(main)',
    ],
    { file: 'main.cpp', line: 12, message: 'undefined symbol: area' },
  ],
  [
    'gcc',
    [
      '/usr/bin/ld: cannot find -lpng: No such file or directory',
      'collect2: error: ld returned 1 exit status',
    ],
    { message: 'cannot find -lpng: No such file or directory' },
  ],
  [
    'clang-tidy',
    ['src/a.cpp:3:5: error: use nullptr [modernize-use-nullptr,-warnings-as-errors]'],
    { code: 'modernize-use-nullptr', message: 'use nullptr' },
  ],
  [
    'clang-format',
    ['src/a.cpp:3:5: error: code should be clang-formatted [-Wclang-format-violations]'],
    { file: 'src/a.cpp', code: 'clang-format-violations' },
  ],
  [
    'msvc',
    ["C:\\w\\a.cpp(12): error C2065: 'x': undeclared identifier"],
    { file: 'C:\\w\\a.cpp', line: 12, code: 'C2065' },
  ],
  [
    'msvc',
    ['main.obj : error LNK2019: unresolved external symbol "int __cdecl area(int)"'],
    { file: 'main.obj', code: 'LNK2019' },
  ],
  ['msvc', ["LINK : fatal error LNK1104: cannot open file 'png.lib'"], { code: 'LNK1104' }],
  [
    'nuget',
    ['/w/App.csproj : error NU1102: Unable to find package Leftpad with version (>= 9.0.0)'],
    { code: 'NU1102' },
  ],
  ['msbuild', ['MSBUILD : error MSB1009: Project file does not exist.'], { code: 'MSB1009' }],
  [
    'msbuild',
    [
      '/sdk/Sdk.targets(90,5): error NETSDK1045: The current .NET SDK does not support targeting .NET 10.0. [/w/App.csproj]',
    ],
    { code: 'NETSDK1045' },
  ],
  [
    'cmake',
    [
      'CMake Error at CMakeLists.txt:9 (find_package):',
      '  Could not find a package configuration file provided by "Zlib"',
      '',
      'Call Stack (most recent call first):',
    ],
    { file: 'CMakeLists.txt', line: 9 },
  ],
  [
    'configure',
    [
      "configure: error: in `/w/src':",
      'configure: error: C compiler cannot create executables',
      "See `config.log' for more details",
    ],
    { message: 'C compiler cannot create executables' },
  ],
  [
    'configure',
    ['configure.ac:12: error: possibly undefined macro: AC_PROG_LIBTOOL'],
    { file: 'configure.ac', line: 12 },
  ],
  [
    'meson',
    ['meson.build:3:0: ERROR: Dependency "glib-2.0" not found, tried pkgconfig'],
    { file: 'meson.build', line: 3 },
  ],
  ['ninja', ["ninja: error: 'a.c', needed by 'a.o', missing and no known rule to make it"], {}],
  [
    'bazel',
    ['ERROR: /w/app/BUILD:3:11: Compiling app/main.cc failed: (Exit 1): gcc failed', '  1 error generated.'],
    { file: '/w/app/BUILD', line: 3 },
  ],
  [
    'bazel',
    ["ERROR: no such package 'lib/http': BUILD file not found"],
    { message: "no such package 'lib/http': BUILD file not found" },
  ],
  [
    'kotlinc',
    ['e: file:///w/src/A.kt:3:5 Unresolved reference: total'],
    { file: '/w/src/A.kt', line: 3, column: 5 },
  ],
  [
    'groovyc',
    ['/w/src/A.groovy: 3: unable to resolve class Total', ' @ line 3, column 5.'],
    { file: '/w/src/A.groovy', line: 3 },
  ],
  [
    'scalac',
    [
      '[error] -- [E006] Not Found Error: src/A.scala:3:5 ---',
      '[error] 3 |    total',
      '[error]   |    ^^^^^',
      '[error]   |    Not found: total',
    ],
    { code: 'E006', file: 'src/A.scala', line: 3, message: 'Not found: total' },
  ],
  ['go', ['vet: ./a.go:3:5: undefined: total'], { file: './a.go', line: 3, message: 'undefined: total' }],
  [
    'go',
    ['a.go:3:8: no required module provides package example.test/x; to add it:', '\tgo get example.test/x'],
    { file: 'a.go' },
  ],
  [
    'ghc',
    [
      'src/A.hs:3:5: error: [GHC-88464]',
      '    Variable not in scope: total :: Int',
      '  |',
      '3 | main = total',
    ],
    { code: 'GHC-88464', message: 'Variable not in scope: total :: Int' },
  ],
  [
    'elixir',
    ['** (CompileError) lib/a.ex:3: undefined function total/0'],
    { code: 'CompileError', file: 'lib/a.ex', line: 3 },
  ],
  [
    'elixir',
    [
      '    error: undefined function total/0 (expected A to define it)',
      '    │',
      '    └─ lib/a.ex:3:5: A.f/0',
    ],
    { file: 'lib/a.ex', line: 3, column: 5 },
  ],
  ['erlang', ['src/a.erl:3:5: function total/0 undefined'], { file: 'src/a.erl', line: 3 }],
  [
    'perl',
    [
      "Can't locate Text/Csv.pm in @INC (you may need to install the Text::Csv module) (@INC entries checked: /etc/perl) at x.pl line 3.",
      'BEGIN failed--compilation aborted at x.pl line 3.',
    ],
    { file: 'x.pl', line: 3 },
  ],
  ['r', ['Error in library(leftpad) : there is no package called ‘leftpad’', 'Execution halted'], {}],
  [
    'lua',
    ["lua: src/a.lua:3: attempt to index a nil value (global 'total')", 'stack traceback:', '\t[C]: in ?'],
    { file: 'src/a.lua', line: 3 },
  ],
  [
    'php',
    ['PHP Parse error:  syntax error, unexpected token ";" in /w/a.php on line 3'],
    { file: '/w/a.php', line: 3 },
  ],
  [
    'swift',
    ["/w/Sources/A.swift:3:5: error: cannot find 'total' in scope", '    total()', '    ^~~~~'],
    { file: '/w/Sources/A.swift', line: 3, message: "cannot find 'total' in scope" },
  ],
  [
    'xcodebuild',
    ['error: "App" requires a provisioning profile. Select one in the editor. (in target \'App\')'],
    {},
  ],
  [
    'webpack',
    ['ERROR in ./src/a.js 3:5', "Module not found: Error: Can't resolve 'leftpad' in '/w/src'"],
    { file: './src/a.js', line: 3, message: "Module not found: Error: Can't resolve 'leftpad' in '/w/src'" },
  ],
  [
    'esbuild',
    [
      '✘ [ERROR] Could not resolve "leftpad"',
      '',
      '    src/a.js:1:19:',
      '      1 │ import pad from "leftpad"',
    ],
    { file: 'src/a.js', line: 1, message: 'Could not resolve "leftpad"' },
  ],
  [
    'vite',
    ['error during build:', '[vite]: Rollup failed to resolve import "leftpad" from "/w/src/a.js".'],
    { message: 'Rollup failed to resolve import "leftpad" from "/w/src/a.js".' },
  ],
  [
    'babel',
    ['SyntaxError: /w/src/a.js: Unexpected token (3:5)', '', '  2 |', '> 3 | let = ;'],
    { file: '/w/src/a.js', line: 3, column: 5 },
  ],
]; // prettier-ignore

describe('compilers and builders', () => {
  it.each(ROWS)('are read: %s: %j', (tool, lines, known) => {
    const errors = readLines('building', ...lines).diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors[0]).toMatchObject({ tool, severity: 'error', ...known });
  });

  it('show errors despite hundreds of warnings', () => {
    const warnings = Array.from(
      { length: 400 },
      (_, at) => `src/a.c:${at + 1}:5: warning: unused variable 'v${at}' [-Wunused-variable]`,
    );
    const { diagnostics } = readLines(...warnings, "src/b.c:7:1: error: expected ';'");
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
      { file: 'src/b.c', line: 7 },
    ]);
  });

  it('report warnings as warnings', () => {
    const { diagnostics } = readLines(
      'main.c:3:5: warning: unused',
      'a.cpp(3): warning C4100: unreferenced',
      'src/A.hs:3:5: warning: [-Wunused]',
    );
    expect(diagnostics.map(({ severity }) => severity)).toEqual(['warning', 'warning', 'warning']);
  });
});
