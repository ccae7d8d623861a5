import { cmake, docker, make, npm, packages, pip } from './builders.ts';
import { cargo } from './cargo.ts';
import { commands } from './commands.ts';
import { compilers, gcc, javac, msbuild, rustc, tsc } from './compilers.ts';
import type { Extractor } from './extraction.ts';
import { golang } from './golang.ts';
import { gradle } from './gradle.ts';
import { harness } from './harness.ts';
import { jest } from './jest.ts';
import { junitConsole } from './junit-console.ts';
import { eslint, linters } from './linters.ts';
import { mocha } from './mocha.ts';
import { moreTests } from './more-tests.ts';
import { phrases } from './phrases.ts';
import { prove } from './prove.ts';
import { pytest } from './pytest.ts';
import { records } from './records.ts';
import { shell } from './shell.ts';
import { surefire } from './surefire.ts';
import { tap } from './tap.ts';
import { pythonTraceback, stackTrace } from './traces.ts';
import { unittest } from './unittest.ts';

/** Every reader of tool output, most specific first. A new family is one file and one line here. */
// biome-ignore format: one row for each kind of tool
export const EXTRACTORS: readonly Extractor[] = [
  pytest, unittest, jest, mocha, tap, surefire, gradle, junitConsole, golang, cargo, moreTests, harness, prove,
  gcc, msbuild, rustc, javac, tsc, compilers, eslint, linters, cmake, make, npm, pip, packages, docker,
  pythonTraceback, stackTrace, records, shell, phrases, commands,
];
