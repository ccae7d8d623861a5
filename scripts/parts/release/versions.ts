import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** The files that name the version of this package, besides package.json, its lock file and the changelog. */
const FILES = [
  'deploy/helm/faultline/Chart.yaml',
  'deploy/kubernetes/faultline.yaml',
  'docker-compose.yml',
  'docs/how-to/deploy.md',
  'docs/how-to/helm.md',
  'skills/ci-triage/SKILL.md',
  'src/domain/trust.ts',
];

const Manifest = z.looseObject({ version: z.string() });
const Lock = Manifest.extend({ packages: z.record(z.string(), z.looseObject({})) });

/** Reads the version of the package in a folder. */
export async function readVersion(folder: string): Promise<string> {
  return Manifest.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).version;
}

/**
 * Writes a version into all files of a checkout that name the present one. Throws if one of them does not name it.
 */
export async function writeVersion(folder: string, from: string, to: string): Promise<void> {
  for (const name of FILES)
    await change(join(folder, name), (text) => {
      const changed = text.replaceAll(from, to).replaceAll(toName(from), toName(to));
      if (changed === text) throw new Error(`${name} does not name version ${from}.`);
      return changed;
    });
  await changeJson(join(folder, 'package.json'), Manifest, (manifest) => ({ ...manifest, version: to }));
  await changeJson(join(folder, 'package-lock.json'), Lock, ({ packages, ...lock }) => ({
    ...lock,
    version: to,
    packages: { ...packages, '': { ...packages[''], version: to } },
  }));
}

/** Changes a file of JSON as npm writes it. */
async function changeJson<Schema extends z.ZodType<object>>(
  file: string,
  schema: Schema,
  by: (value: z.output<Schema>) => object,
): Promise<void> {
  await change(file, (text) => `${JSON.stringify(by(schema.parse(JSON.parse(text))), null, 2)}\n`);
}

/** Converts a version to a part of a name of Kubernetes. */
function toName(version: string): string {
  return version.replaceAll('.', '-');
}

async function change(file: string, by: (text: string) => string): Promise<void> {
  await writeFile(file, by(await readFile(file, 'utf8')));
}

const UNRELEASED = '## [Unreleased]\n';

/**
 * Cuts the changelog: what was unreleased gets the version and the date, and is also returned as notes. Throws if nothing is unreleased.
 */
export function cutChangelog(
  text: string,
  version: string,
  date: string,
): { changelog: string; notes: string } {
  const start = text.indexOf(UNRELEASED);
  const next = text.indexOf('\n## [', start + UNRELEASED.length);
  const notes = text.slice(start + UNRELEASED.length, next === -1 ? undefined : next).trim();
  if (start === -1 || notes === '') throw new Error('CHANGELOG.md has nothing under [Unreleased].');
  const heading = `## [${version}] - ${date}`;
  const changelog = `${text.slice(0, start)}${UNRELEASED}\n${heading}\n\n${notes}\n${next === -1 ? '' : text.slice(next)}`;
  return { changelog, notes: `# Faultline ${version}\n\n${notes}\n` };
}

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

/** Throws if the new version is not a version, or not newer than the present one. */
export function requireNewer(version: string, present: string): void {
  const numbers = toNumbers(version);
  if (numbers === null) throw new Error(`"${version}" is not a version such as 1.2.3.`);
  const older = toNumbers(present) ?? [];
  const differs = numbers.findIndex((number, index) => number !== older[index]);
  if (differs === -1 || (numbers[differs] ?? 0) < (older[differs] ?? 0))
    throw new Error(`${version} is not newer than ${present}.`);
}

function toNumbers(version: string): number[] | null {
  return VERSION.exec(version)?.slice(1).map(Number) ?? null;
}
