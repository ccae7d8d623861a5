import type { Extractor } from '../extraction.ts';
import { COMPILED_RUNNERS } from './compiled-runners.ts';
import { harness } from './harness.ts';
import { goPanics, rustPanics } from './panics.ts';
import { SCRIPT_RUNNERS } from './script-runners.ts';
import { readerOf } from './shapes.ts';
import { structural } from './structural.ts';
import { TAP } from './tap.ts';
import { teamcity } from './teamcity.ts';

/** Readers of test runners' console output, most specific first; they come before those of build tools. */
export const TEST_EXTRACTORS: readonly Extractor[] = [
  ...[...SCRIPT_RUNNERS, TAP, ...COMPILED_RUNNERS].map(readerOf),
  teamcity,
  goPanics,
  rustPanics,
  harness,
  structural,
];
