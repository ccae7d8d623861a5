import type { RecordedKind } from '../../domain/environment-record.ts';
import { PACKAGE_ROWS } from './package-rows.ts';
import { TOOL_ROWS } from './tool-rows.ts';

/** One form in which logs show what a job works with. */
export interface RecordRow {
  readonly kind: RecordedKind;
  /** The name, where the pattern has no group `name`. */
  readonly name?: string;
  /** Groups: `name`, `version`; `to` goes before `version` where something was moved. */
  readonly pattern: RegExp;
  readonly matches: readonly (readonly [line: string, name: string, version: string])[];
  readonly ignores: readonly string[];
}

/** Rows of runners: actions, workflows and images. */
const RUNNER_ROWS: readonly RecordRow[] = [
  {
    kind: 'action',
    pattern: new RegExp(
      String.raw`^Download action repository '(?<name>[\w./-]{3,150}@[\w./-]{1,100})' \(SHA:` +
        String.raw`(?<version>[0-9a-f]{7,64})\)`,
    ),
    matches: [
      [
        "Download action repository 'actions/setup-node@v4' (SHA:39370e3970a6d050c480ffad4ff0ed4d3fdee5af)",
        'actions/setup-node@v4',
        '39370e3970a6d050c480ffad4ff0ed4d3fdee5af',
      ],
    ],
    ignores: [],
  },
  {
    kind: 'workflow',
    pattern: /^Uses: (?<name>[\w./-]{3,200}\.ya?ml@[\w./-]{1,100}) \((?<version>[0-9a-f]{7,64})\)$/,
    matches: [
      [
        'Uses: acme/ci/.github/workflows/build.yml@refs/heads/main (4f0e2d1c9b8a7f6e5d4' +
          'c3b2a1f0e9d8c7b6a5f4e)',
        'acme/ci/.github/workflows/build.yml@refs/heads/main',
        '4f0e2d1c9b8a7f6e5d4c3b2a1f0e9d8c7b6a5f4e',
      ],
    ],
    ignores: ['Uses: fetch'],
  },
  {
    kind: 'service',
    pattern: new RegExp(
      String.raw`^Using docker image sha256:[0-9a-f]{8,64} for (?<name>[\w./:-]{2,200}) with di` +
        String.raw`gest \S{1,200}@(?<version>sha256:[0-9a-f]{12})`,
    ),
    matches: [
      [
        'Using docker image sha256:0f1e2d3c4b5a for python:3.12 with digest python@sha2' +
          '56:5a4b3c2d1e0f99aa ...',
        'python:3.12',
        'sha256:5a4b3c2d1e0f',
      ],
    ],
    ignores: [],
  },
  {
    kind: 'service',
    pattern: new RegExp(
      String.raw`\bFROM (?:docker\.io/)?(?:library/)?(?<name>[\w./-]{2,200}(?::[\w.-]{1,100})?)` +
        '@(?<version>sha256:[0-9a-f]{12})',
    ),
    matches: [
      [
        '#5 [1/4] FROM docker.io/library/node:22@sha256:0a1b2c3d4e5f66778899',
        'node:22',
        'sha256:0a1b2c3d4e5f',
      ],
    ],
    ignores: ['FROM node:22'],
  },
];

/** Every form, in the order in which they are tried: the first that fits a line counts. */
export const RECORD_ROWS: readonly RecordRow[] = [...RUNNER_ROWS, ...PACKAGE_ROWS, ...TOOL_ROWS];

/** ASCII literals, case ignored: a line without any of them shows nothing that is recorded. */
export const RECORD_LITERALS: readonly string[] = [
  ...Array.from({ length: 10 }, (_, digit) => [`==${digit}`, `@${digit}`, `@npm:${digit}`]).flat(),
  'action repository',
  'uses: ',
  'docker image sha256',
  '@sha256:',
  'digest: sha256',
  'status: downlo',
  'status: image is',
  'image: ',
  'version: 20',
  'successfully installed ',
  'already satisfied: ',
  'collecting ',
  'installing ',
  'updating ',
  'upgrading ',
  '/-/',
  'ependencies:',
  'package  ',
  'compiling ',
  'checking ',
  'downloaded ',
  'adding ',
  'locking ',
  'go: ',
  ' v0.',
  ' v1.',
  ' v2.',
  ' v3.',
  '.jar',
  ':jar:',
  '--- ',
  'using ',
  'fetching ',
  'installed ',
  'setting up ',
  'pouring ',
  'node: v',
  'node.js v',
  'now using node',
  'npm: ',
  'pnpm: ',
  'yarn: ',
  'python 3',
  'cpython',
  'plugins: ',
  'go version',
  'set up go',
  '- rustc ',
  'jdk version',
  'java version',
  'run  v',
  'runner version',
  'with gitlab-runner',
  '--version',
  'env:',
  '##[group]run ',
  'section_start:',
  'section_end:',
  'pip 2',
  'uv 0',
  'ruff 0',
  'mypy 1',
  'mypy 2',
  'black, ',
  'flake8 ',
  'pylint ',
  'isort ',
  'poetry (',
  'poetry 1',
  'poetry 2',
  'tox ',
  'nox ',
  'cargo 1',
  'rustc 1',
  'vite v',
  'webpack 5',
  'webpack 6',
  'eslint: ',
  'eslint v',
  'prettier ',
  'terraform v',
  'helm v',
  'cmake version',
  'gcc (',
  'clang version',
  'ninja 1',
  'gnu make',
  'git version',
  'docker version',
  'apache maven',
  'gradle ',
  'ruby 3',
  'ruby 4',
  'bundler version',
  'php 8',
  'composer version',
  'golangci-lint has',
  'shellcheck',
  'phpunit ',
  'next.js 1',
  'bazel ',
];
