/**
 * Attacks the HTTP API with its own description: schemathesis with all checks, and spectral and redocly with
 * all recommended rules.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type AttackedService, reportService, startService } from './shared/service.ts';
import { installNpmTools, installPythonTools, report, run } from './shared/tools.ts';

/** The number of cases of each operation, in addition to those that are derived from its schema. */
const EXAMPLES = 50;
const Redocly = z.object({ totals: z.object({ errors: z.int(), warnings: z.int() }) });

const service = await startService();
const folder = await mkdtemp(join(tmpdir(), 'faultline-openapi-'));
try {
  const description = join(folder, 'openapi.json');
  await writeFile(description, await (await fetch(`${service.url}/openapi.json`)).text());
  const linters = await installNpmTools('linters', ['@stoplight/spectral-cli@6.16.3', '@redocly/cli@2.77.0']);
  const fine = [
    await lintWithSpectral(linters, description),
    await lintWithRedocly(linters, description),
    await attackWithSchemathesis(service),
    // Builds from Jenkins webhooks have no log, because no Jenkins address is configured.
    reportService(service, /The log could not be read/),
  ];
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}

async function lintWithSpectral(programs: string, description: string): Promise<boolean> {
  const ruleset = join(folder, 'spectral.yaml');
  await writeFile(ruleset, 'extends: ["spectral:oas"]\n');
  const args = [
    'lint',
    description,
    '--ruleset',
    ruleset,
    '--format',
    'json',
    '--quiet',
    '--fail-severity',
    'hint',
  ];
  const { stdout, stderr } = await run(join(programs, 'spectral'), args);
  const findings = z.array(z.unknown()).parse(JSON.parse(stdout)).length;
  return report('spectral', `${findings} findings`, findings, stdout + stderr);
}

async function lintWithRedocly(programs: string, description: string): Promise<boolean> {
  const args = ['lint', description, '--extends', 'recommended', '--format', 'json'];
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { stdout, stderr } = await run(join(programs, 'redocly'), args, { env });
  const { errors, warnings } = Redocly.parse(JSON.parse(stdout)).totals;
  return report('redocly', `${errors} errors, ${warnings} warnings`, errors + warnings, stdout + stderr);
}

async function attackWithSchemathesis({ url, token, secret }: AttackedService): Promise<boolean> {
  const packages = await installPythonTools('schemathesis', ['schemathesis==4.32.5']);
  const [config, hooks] = ['schemathesis.toml', 'schemathesis-hooks.py'].map((name) =>
    resolve('scripts/parts/attack/shared', name),
  ) as [string, string];
  const args = [
    '--config-file',
    config,
    'run',
    `${url}/openapi.json`,
    '--checks',
    'all',
    '--max-examples',
    String(EXAMPLES),
  ];
  const { code, stdout, stderr } = await run(
    join(packages, 'bin/schemathesis'),
    [...args, '--generation-database', 'none'],
    {
      // The tool leaves a cache in its working directory.
      cwd: folder,
      env: {
        PYTHONPATH: packages,
        SCHEMATHESIS_HOOKS: hooks,
        FAULTLINE_ATTACK_TOKEN: token,
        FAULTLINE_ATTACK_SECRET: secret,
      },
    },
  );
  const operations = /Tested:\s*(\d+)/.exec(stdout)?.[1] ?? 'no';
  const cases = /\d+ generated[^\n]*/.exec(stdout)?.[0] ?? 'nothing was generated';
  const findings = code === 0 && operations !== 'no' ? 0 : 1;
  return report('schemathesis', `${operations} operations, ${cases}`, findings, stdout + stderr);
}
