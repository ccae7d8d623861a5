/**
 * `node scripts/release/release.ts VERSION [--dry-run] [--no-image] [--out FOLDER]`: makes a release of HEAD: cuts the changelog, writes the
 * version, commits and tags that, and leaves all files of the release in a folder (.faultline/releases/VERSION). Nothing is published.
 *
 * Everything is made in a clone, so that only what is committed gets into it. With --dry-run the clone is all that changes.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packAction, packChart, packImage, packPackage, run } from '../parts/release/artifacts.ts';
import { createProvenance, formatChecksums, readArtifact } from '../parts/release/provenance.ts';
import { cutChangelog, readVersion, requireNewer, writeVersion } from '../parts/release/versions.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const USAGE = 'usage: node scripts/release/release.ts VERSION [--dry-run] [--no-image] [--out FOLDER]';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'dry-run': { type: 'boolean', default: false },
    'no-image': { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const [version] = positionals;
if (version === undefined) throw new Error(USAGE);
requireNewer(version, await readVersion(ROOT));
await requireClean();
const folder = resolve(values.out ?? join(ROOT, '.faultline/releases', version));
await mkdir(folder, { recursive: true });
if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty.`);
const startedOn = new Date().toISOString();
const clones = join(ROOT, '.faultline');
await mkdir(clones, { recursive: true });
const code = await mkdtemp(join(clones, 'release-'));
try {
  await cloneInto(code);
  const commit = await commitRelease(code, version);
  await packPackage(code, folder, version);
  await packChart(code, join(folder, `faultline-chart-${version}.tgz`));
  await packAction(code, folder, version);
  if (!values['no-image']) await packImage(code, folder, version);
  await describe(commit, version);
  if (!values['dry-run']) await takeOver(code, version);
} finally {
  await rm(code, { recursive: true, force: true });
}
console.log(`${folder}:\n${(await readdir(folder)).map((name) => `  ${name}`).join('\n')}`);
console.log(
  values['dry-run']
    ? 'A dry run: nothing was committed or tagged.'
    : `Tagged v${version} and action-v${version}. How to publish them: docs/how-to/releases.md`,
);

async function requireClean(): Promise<void> {
  const changed = await run(ROOT, 'git', 'status', '--porcelain', '--untracked-files=no');
  if (changed === '') return;
  if (!values['dry-run']) throw new Error('There are changes that are not committed. Commit or stash them.');
  console.warn('Changes that are not committed are left out.');
}

/** Clones this checkout with its author's name, which may be set for this repository only. */
async function cloneInto(target: string): Promise<void> {
  await run(ROOT, 'git', 'clone', '--quiet', '--no-tags', ROOT, target);
  for (const key of ['user.name', 'user.email'])
    await run(target, 'git', 'config', key, await run(ROOT, 'git', 'config', key));
}

/** Commits and tags the version and the changelog, and returns the commit. */
async function commitRelease(target: string, to: string): Promise<string> {
  const file = join(target, 'CHANGELOG.md');
  const date = startedOn.slice(0, 'YYYY-MM-DD'.length);
  const { changelog, notes } = cutChangelog(await readFile(file, 'utf8'), to, date);
  await writeFile(file, changelog);
  await writeFile(join(folder, `faultline-${to}-notes.md`), notes);
  await writeVersion(target, await readVersion(target), to);
  await run(target, 'git', 'commit', '--quiet', '--all', '--message', `Release ${to}`);
  await run(target, 'git', 'tag', '--annotate', `v${to}`, '--message', `Faultline ${to}`);
  return await run(target, 'git', 'rev-parse', 'HEAD');
}

/** Writes the provenance of all files, and the checksums of those and of it. */
async function describe(commit: string, to: string): Promise<void> {
  const artifacts = await readArtifacts();
  const provenance = createProvenance(artifacts, {
    version: to,
    commit,
    repository: await findRepository(),
    lockFileSha256: (await readArtifact(code, 'package-lock.json')).sha256,
    tools: { node: process.version, npm: await run(code, 'npm', '--version') },
    startedOn,
    finishedOn: new Date().toISOString(),
  });
  await writeFile(join(folder, `faultline-${to}.intoto.json`), `${JSON.stringify(provenance, null, 2)}\n`);
  await writeFile(join(folder, 'SHA256SUMS'), formatChecksums(await readArtifacts()));
}

async function readArtifacts() {
  return await Promise.all((await readdir(folder)).toSorted().map((name) => readArtifact(folder, name)));
}

/** Returns the address of the remote repository, or null if there is none that others can reach. */
async function findRepository(): Promise<string | null> {
  const url = await run(ROOT, 'git', 'remote', 'get-url', 'origin').catch(() => '');
  return /^https:\/\/[^@\s]+$/.test(url) ? url : null;
}

async function takeOver(from: string, to: string): Promise<void> {
  for (const tag of [`v${to}`, `action-v${to}`])
    await run(ROOT, 'git', 'fetch', '--quiet', from, `refs/tags/${tag}:refs/tags/${tag}`);
  await run(ROOT, 'git', 'merge', '--quiet', '--ff-only', `v${to}`);
}
