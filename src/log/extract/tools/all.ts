import type { Extractor } from '../extraction.ts';
import { ansible } from './ansible.ts';
import { autotools } from './autotools.ts';
import { bazel } from './bazel.ts';
import { elixir, erlang } from './beam.ts';
import { babel, vite, webpack } from './bundlers.ts';
import { cmake } from './cmake.ts';
import { commands } from './commands.ts';
import { compilers } from './compilers.ts';
import { crashes } from './crashes.ts';
import { clouds, kubernetes, terraform } from './deploy.ts';
import { docker } from './docker.ts';
import { eslint, jsLinters } from './eslint.ts';
import { cppcheck, gcc } from './gcc.ts';
import { goBuild } from './go-build.ts';
import { haskell } from './haskell.ts';
import { javac } from './javac.ts';
import { julia } from './julia.ts';
import { lua } from './lua.ts';
import { make } from './make.ts';
import { maven } from './maven.ts';
import { meson } from './meson.ts';
import { moreTraces } from './more-traces.ts';
import { msbuild } from './msbuild.ts';
import { ninja } from './ninja.ts';
import { npm } from './npm.ts';
import { packages } from './packages.ts';
import { perl } from './perl.ts';
import { composer, php, phpTables } from './php.ts';
import { phrases } from './phrases.ts';
import { conda, pip, poetry, uv } from './pip.ts';
import { pnpm } from './pnpm.ts';
import { preCommit, pythonLinters, ruff } from './python-linters.ts';
import { r } from './r.ts';
import { records } from './records.ts';
import { gradleBuild, sbt } from './resolution.ts';
import { bundler, rubocop } from './ruby.ts';
import { rustc } from './rustc.ts';
import { sanitizers } from './sanitizers.ts';
import { shell } from './shell.ts';
import { linters } from './text-linters.ts';
import { pythonTraceback, stackTrace } from './traces.ts';
import { transfer } from './transfer.ts';
import { tsc } from './tsc.ts';
import { cocoapods, xcode } from './xcode.ts';
import { yarn } from './yarn.ts';

/** Readers of build tools, linters, package managers and infrastructure, most specific first; they come after those of test frameworks. */
// biome-ignore format: one row for each kind of tool
export const TOOL_EXTRACTORS: readonly Extractor[] = [
  cppcheck, linters, pythonLinters, ruff, gcc, msbuild, rustc, javac, tsc, goBuild, xcode, haskell, elixir, erlang, rubocop, php, phpTables, perl, lua, r, julia, compilers,
  eslint, jsLinters, webpack, vite, babel,
  cmake, autotools, meson, ninja, bazel, make,
  npm, yarn, pnpm, pip, poetry, uv, conda, maven, sbt, gradleBuild, bundler, composer, cocoapods, packages,
  docker, kubernetes, terraform, ansible, clouds, transfer, preCommit,
  sanitizers, crashes, pythonTraceback, stackTrace, moreTraces, records, ...shell, phrases, commands,
];
