import type { Extractor } from '../extraction.ts';
import { cargo } from './cargo.ts';
import { golang } from './golang.ts';
import { gradle } from './gradle.ts';
import { harness } from './harness.ts';
import { jest } from './jest.ts';
import { junitConsole } from './junit-console.ts';
import { mocha } from './mocha.ts';
import { moreTests } from './more-tests.ts';
import { prove } from './prove.ts';
import { pytest } from './pytest.ts';
import { surefire } from './surefire.ts';
import { tap } from './tap.ts';
import { unittest } from './unittest.ts';

/** Readers of test frameworks' console output, most specific first; they come before those of build tools. */
// biome-ignore format: one row for each kind of tool
export const TEST_EXTRACTORS: readonly Extractor[] = [
  pytest, unittest, jest, mocha, tap, surefire, gradle, junitConsole, golang, cargo, moreTests, harness, prove,
];
