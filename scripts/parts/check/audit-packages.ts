// Checks the packages that the lock file names. `--offline`: only what the lock file and node_modules tell. `--strict`: a
// registry that does not tell known weaknesses is a failure, not a remark.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { append } from '../../../src/lib/collections.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/**
 * Licenses under which people may distribute a product that contains the package without publishing its
 * source. They are identifiers of SPDX.
 */
const FINE = [
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'MPL-2.0',
  'Unlicense',
  'Zlib',
  'CC0-1.0',
];
const AUDIT_MS = 60_000;

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      link: z.boolean().optional(),
      dev: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
    }),
  ),
});
const Own = z.object({ allowScripts: z.record(z.string(), z.boolean()) });
const Licences = z.object({
  license: z.union([z.string(), z.object({ type: z.string() })]).optional(),
  licenses: z.array(z.object({ type: z.string() })).optional(),
});
const Audit = z.object({
  metadata: z.object({
    vulnerabilities: z.object({ low: z.int(), moderate: z.int(), high: z.int(), critical: z.int() }),
  }),
});

interface Installed {
  readonly path: string;
  readonly name: string;
  readonly entry: z.infer<typeof Lock>['packages'][string];
}

const read = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const all = Object.entries(Lock.parse(read('package-lock.json')).packages)
  .filter(([path, entry]) => path !== '' && entry.link !== true)
  .map(
    ([path, entry]): Installed => ({
      path,
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      entry,
    }),
  );
const installed = all.filter(({ path }) => existsSync(join(ROOT, path, 'package.json')));
const problems: string[] = [];

checkIntegrity();
checkInstallScripts();
checkLicences();
if (!process.argv.includes('--offline')) checkWeaknesses();
for (const problem of problems) console.error(`problem: ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);

/**
 * Packages for other systems are not installed here, and npm writes no hash of packages that it never
 * downloaded.
 */
function checkIntegrity(): void {
  const loose = installed.filter(({ entry }) => entry.integrity?.startsWith('sha512-') !== true);
  append(
    problems,
    loose.map(({ path }) => `${path} is not pinned by a sha512 hash`),
  );
  const elsewhere = all.filter(
    ({ entry }) => entry.resolved !== undefined && !entry.resolved.startsWith('https://'),
  );
  append(
    problems,
    elsewhere.map(({ path }) => `${path} does not come over https`),
  );
  const absent = all.filter(({ entry }) => entry.integrity === undefined).length;
  console.log(
    `integrity   ${installed.length} installed packages, ${loose.length} without a hash; ${absent} for other machines have none yet`,
  );
}

function checkInstallScripts(): void {
  const { allowScripts } = Own.parse(read('package.json'));
  const running = [
    ...new Set(all.filter(({ entry }) => entry.hasInstallScript === true).map(({ name }) => name)),
  ];
  const undecided = running.filter((name) => allowScripts[name] === undefined);
  append(
    problems,
    undecided.map(
      (name) => `${name} has an install script; say in package.json, allowScripts, whether it may run`,
    ),
  );
  const told = running.map((name) => `${name}: ${allowScripts[name] === true ? 'allowed' : 'not run'}`);
  console.log(`scripts     ${told.join(', ')}`);
}

function checkLicences(): void {
  const counts = new Map<string, number>();
  for (const { path, entry } of installed) {
    const licence = readLicense(path);
    counts.set(licence, (counts.get(licence) ?? 0) + 1);
    // With "or", one acceptable license is enough.
    const fine = licence
      .split(/ OR /)
      .some((choice) => choice.split(/ AND /).every((word) => FINE.includes(word.replace(/[()]/g, ''))));
    if (!fine && entry.dev !== true)
      problems.push(`${path} is under ${licence}, which nobody has judged yet`);
  }
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  console.log(`licences    ${sorted.map(([licence, count]) => `${licence} ${count}`).join(', ')}`);
}

function readLicense(path: string): string {
  const { license, licenses = [] } = Licences.parse(read(join(path, 'package.json')));
  if (license !== undefined) return typeof license === 'string' ? license : license.type;
  return licenses.map(({ type }) => type).join(' OR ') || 'unknown';
}

function checkWeaknesses(): void {
  const { stdout, error } = spawnSync('npm', ['audit', '--json', '--omit=dev'], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: AUDIT_MS,
  });
  const told = Audit.safeParse(parseJson(stdout ?? ''));
  if (!told.success) {
    const why = error === undefined ? 'the registry has no audit endpoint, or did not answer' : error.message;
    console.log(`weaknesses  NOT CHECKED: ${why}`);
    if (process.argv.includes('--strict')) problems.push('known weaknesses could not be checked');
    return;
  }
  const { low, moderate, high, critical } = told.data.metadata.vulnerabilities;
  console.log(
    `weaknesses  critical ${critical}, high ${high}, moderate ${moderate}, low ${low} (packages of production)`,
  );
  if (critical + high > 0)
    problems.push(
      `${critical + high} known weaknesses are high or critical: npm audit --omit=dev names them`,
    );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
