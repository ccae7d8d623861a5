import { PACKAGE_ROWS } from './package-rows.ts';
import type { RecordRow } from './record-row.ts';
import { TOOL_ROWS, TOOLS } from './tool-rows.ts';

/** Forms in which runners print actions, workflows and container images. */
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

/** All rows, in the order in which they are tried. The first one that matches a line is used. */
export const RECORD_ROWS: readonly RecordRow[] = [...RUNNER_ROWS, ...PACKAGE_ROWS, ...TOOL_ROWS];

const DIGITS = Array.from({ length: 10 }, (_, digit) => digit);

/** The beginnings of what follows the name of a tool that prints its version. */
const AFTER_NAME = [' v', ', ', ': ', ' is ', ' (', ...DIGITS.map((digit) => ` ${digit}`)];

/**
 * The literals that select the lines to read, without regard to case. Other lines are read only below a
 * heading of a list or a version command.
 */
export const RECORD_LITERALS: readonly string[] = [
  ...DIGITS.flatMap((digit) => [`==${digit}`, `@${digit}`, `@npm:${digit}`]),
  ...[...TOOLS, 'node', 'node.js', 'python'].flatMap((name) => AFTER_NAME.map((after) => name + after)),
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
];
