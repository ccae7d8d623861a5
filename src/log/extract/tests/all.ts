import type { Extractor } from '../extraction.ts';
import { ava } from './ava.ts';
import { bats } from './bats.ts';
import { bazel } from './bazel.ts';
import { boostTest } from './boost-test.ts';
import { busted } from './busted.ts';
import { cargo } from './cargo.ts';
import { catch2 } from './catch2.ts';
import { ctest } from './ctest.ts';
import { cucumber } from './cucumber.ts';
import { doctest } from './doctest.ts';
import { dotnet } from './dotnet.ts';
import { erlangTests } from './erlang-tests.ts';
import { exunit } from './exunit.ts';
import { ginkgo } from './ginkgo.ts';
import { golang } from './golang.ts';
import { googletest } from './googletest.ts';
import { gradle } from './gradle.ts';
import { harness } from './harness.ts';
import { haskellTests } from './haskell-tests.ts';
import { jest } from './jest.ts';
import { juliaTest } from './julia-test.ts';
import { junitConsole } from './junit-console.ts';
import { karma } from './karma.ts';
import { minitest } from './minitest.ts';
import { mocha } from './mocha.ts';
import { nodeTest } from './node-test.ts';
import { pest } from './pest.ts';
import { pester } from './pester.ts';
import { phpRunTests } from './php-run-tests.ts';
import { phpunit } from './phpunit.ts';
import { playwright } from './playwright.ts';
import { prove } from './prove.ts';
import { pytest } from './pytest.ts';
import { qtTest } from './qt-test.ts';
import { robot } from './robot.ts';
import { rspec } from './rspec.ts';
import { sbtTests } from './sbt-tests.ts';
import { stestr } from './stestr.ts';
import { surefire } from './surefire.ts';
import { tap } from './tap.ts';
import { teamcity } from './teamcity.ts';
import { testUnit } from './test-unit.ts';
import { testng } from './testng.ts';
import { testthat } from './testthat.ts';
import { tox } from './tox.ts';
import { trial } from './trial.ts';
import { unittest } from './unittest.ts';
import { uvu } from './uvu.ts';
import { xctest } from './xctest.ts';

/** Readers of test frameworks' console output, most specific first; they come before those of build tools. */
// biome-ignore format: one row for each language
export const TEST_EXTRACTORS: readonly Extractor[] = [
  pytest, unittest, trial, stestr, tox, robot, cucumber,
  jest, mocha, tap, nodeTest, ava, playwright, karma, uvu,
  surefire, gradle, junitConsole, testng, sbtTests, bazel,
  golang, ginkgo, cargo,
  googletest, ctest, catch2, doctest, boostTest, qtTest,
  dotnet, pester, rspec, minitest, testUnit, phpunit, pest, phpRunTests,
  xctest, haskellTests, exunit, erlangTests, testthat, juliaTest, busted, bats, teamcity,
  harness, prove,
];
