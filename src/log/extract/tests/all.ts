import type { Extractor } from '../extraction.ts';
import { cargo } from './cargo.ts';
import { cucumber } from './cucumber.ts';
import { golang } from './golang.ts';
import { gradle } from './gradle.ts';
import { harness } from './harness.ts';
import { jest } from './jest.ts';
import { junitConsole } from './junit-console.ts';
import { mocha } from './mocha.ts';
import { phpunit } from './phpunit.ts';
import { prove } from './prove.ts';
import { pytest } from './pytest.ts';
import { rspec } from './rspec.ts';
import { RUNNERS } from './runners.ts';
import { readerOf } from './shapes.ts';
import { structural } from './structural.ts';
import { surefire } from './surefire.ts';
import { tap } from './tap.ts';
import { teamcity } from './teamcity.ts';
import { tox } from './tox.ts';

/** Readers of test runners' console output, most specific first; they come before those of build tools. */
export const TEST_EXTRACTORS: readonly Extractor[] = [
  cargo,
  cucumber,
  gradle,
  harness,
  jest,
  junitConsole,
  mocha,
  phpunit,
  prove,
  pytest,
  rspec,
  surefire,
  tap,
  teamcity,
  tox,
  ...RUNNERS.map(readerOf),
  golang,
  structural,
];
