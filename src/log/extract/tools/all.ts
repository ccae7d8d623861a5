import type { Extractor } from '../extraction.ts';
import { cmake } from './cmake.ts';
import { commands } from './commands.ts';
import { compilers } from './compilers.ts';
import { docker } from './docker.ts';
import { eslint } from './eslint.ts';
import { gcc } from './gcc.ts';
import { javac } from './javac.ts';
import { linters } from './linters.ts';
import { make } from './make.ts';
import { msbuild } from './msbuild.ts';
import { npm } from './npm.ts';
import { packages } from './packages.ts';
import { phrases } from './phrases.ts';
import { pip } from './pip.ts';
import { records } from './records.ts';
import { rustc } from './rustc.ts';
import { shell } from './shell.ts';
import { pythonTraceback, stackTrace } from './traces.ts';
import { tsc } from './tsc.ts';

/** Readers of build tools, linters, package managers and infrastructure, most specific first; they come after those of test frameworks. */
// biome-ignore format: one row for each kind of tool
export const TOOL_EXTRACTORS: readonly Extractor[] = [
  gcc, msbuild, rustc, javac, tsc, compilers,
  eslint, linters,
  cmake, make, npm, pip, packages, docker,
  pythonTraceback, stackTrace, records, shell, phrases, commands,
];
