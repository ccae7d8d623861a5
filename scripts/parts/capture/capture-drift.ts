import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DRIFT_CASES, type DriftCase } from '../bench/drift/cases.ts';

/**
 * `node scripts/parts/capture/capture-drift.ts [ID…]`: installs each case's dependencies from the registries as of its two days, runs its
 * step, and writes test/fixtures/drift/ID/{green,red}.log. What the installer and the step print is as printed, but for the folder's
 * name; the marks of steps and the runner's image around it are written by this script. Needs uv and pip of 26 or newer on PATH.
 */
const ROOT = join(import.meta.dirname, '../../../test/fixtures/drift');
const TIMEOUT_MS = 240_000;

const wanted = process.argv.slice(2);
for (const one of DRIFT_CASES.filter(({ id }) => wanted.length === 0 || wanted.includes(id))) {
  const [green, red] = [capture(one, 'green'), capture(one, 'red')];
  const isPair = green.passed && !red.passed;
  console.log(`${isPair ? 'kept' : 'LEFT OUT'}  ${one.id}`);
  const folder = join(ROOT, one.id);
  if (!isPair) {
    rmSync(folder, { recursive: true, force: true });
    if (process.env.DRIFT_SHOW !== undefined) console.log(green.passed ? red.log : green.log);
    continue;
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'green.log'), green.log);
  writeFileSync(join(folder, 'red.log'), red.log);
}

interface Captured {
  readonly log: string;
  readonly passed: boolean;
}

function capture(one: DriftCase, side: 'green' | 'red'): Captured {
  const folder = mkdtempSync(join(tmpdir(), 'drift-'));
  try {
    const files = {
      ...one.files,
      ...(one.by === 'npm' ? { 'package.json': createManifest(one, side) } : listRequirements(one)),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    if (one.kind === 'image') prepareImage(folder, one, side);
    const steps = [...installSteps(one, side), one.run];
    const lines = [...formatImageLines(one, side)];
    let passed = true;
    for (const step of steps) {
      const { status, output } = runStep(step, folder, one, side);
      lines.push(
        `##[group]Run ${formatStep(step)}`,
        formatStep(step),
        'shell: /usr/bin/bash -e {0}',
        '##[endgroup]',
        output.trimEnd(),
      );
      passed = status === 0;
      if (!passed) lines.push(`##[error]Process completed with exit code ${status}.`);
      if (!passed) break;
    }
    const text = `${lines.filter((line) => line !== '').join('\n')}\n`;
    return {
      passed,
      log: text.replaceAll(folder, '/home/runner/work/app/app').replaceAll(/\/tmp\/\.tmp\w+/g, '/tmp/build'),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function installSteps({ by, green, red }: DriftCase, side: 'green' | 'red'): string[] {
  const day = side === 'green' ? green : red;
  if (by === 'npm') return ['npm install --no-audit --no-fund', 'npm ls --all'];
  const venv = 'uv venv -q .venv';
  return by === 'uv'
    ? [venv, `uv pip install --exclude-newer ${day} -r requirements.txt`]
    : [
        venv,
        `pip --python .venv/bin/python install --uploaded-prior-to ${day}T00:00:00Z -r requirements.txt`,
      ];
}

/** Formats a step as a workflow has it. The option for the day belongs to this script, not to the project. */
function formatStep(step: string): string {
  return step
    .replace(/ --(?:exclude-newer|uploaded-prior-to) \S+/, '')
    .replace(' --python .venv/bin/python', '');
}

function listRequirements({ asks }: DriftCase): Record<string, string> {
  return { 'requirements.txt': `${asks.join('\n')}\n` };
}

function createManifest({ green, red }: DriftCase, side: 'green' | 'red'): string {
  const packages = (side === 'green' ? green : red) as readonly string[];
  const dependencies = Object.fromEntries(
    packages.map((one) => [one.replace(/(?<=.)@.*$/, ''), one.replace(/^.+@/, '')]),
  );
  return JSON.stringify({ name: 'app', private: true, dependencies });
}

function formatImageLines({ images }: DriftCase, side: 'green' | 'red'): string[] {
  if (images === undefined) return [];
  const [name, version] = (side === 'green' ? images[0] : images[1]).split(' ');
  return [
    "Current runner version: '2.330.0'",
    '##[group]Runner Image',
    `Image: ${name}`,
    `Version: ${version}`,
    '##[endgroup]',
  ];
}

/** Prepares what the older image contains: a program that does nothing. */
function prepareImage(folder: string, { run }: DriftCase, side: 'green' | 'red'): void {
  if (side === 'red') return;
  mkdirSync(join(folder, '.venv-bin'));
  const [first = ''] = run.split(' ');
  const names = [first === 'node' ? 'phantomjs' : first];
  for (const name of names)
    writeFileSync(join(folder, '.venv-bin', name), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
}

function runStep(step: string, folder: string, one: DriftCase, side: 'green' | 'red') {
  const isStep = step === one.run;
  const own = isStep ? `${join(folder, '.venv-bin')}:` : '';
  const path = `${own}${join(folder, '.venv/bin')}:${process.env.PATH}`;
  const env = {
    PATH: path,
    HOME: process.env.HOME,
    VIRTUAL_ENV: join(folder, '.venv'),
    UV_PYTHON_DOWNLOADS: 'never',
    UV_LINK_MODE: 'copy',
    PIP_NO_INPUT: '1',
    PIP_PROGRESS_BAR: 'off',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    NO_COLOR: '1',
    CI: 'true',
    ...(side === 'red' && isStep ? one.redEnvironment : {}),
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) =>
        /^(?:UV_|PIP_CERT|PIP_INDEX|SSL_|NODE_EXTRA|npm_config_)/.test(name),
      ),
    ),
  };
  const ran = spawnSync('bash', ['--norc', '-ec', `{ ${step}\n} 2>&1`], {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });
  return { status: ran.status ?? 1, output: ran.stdout };
}
