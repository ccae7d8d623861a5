import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { create } from 'tar';

const STEP_MS = 1_800_000;

/** Runs a program in a folder and returns its output. Its messages are shown. */
export async function run(folder: string, program: string, ...args: string[]): Promise<string> {
  const options = { cwd: folder, timeout: STEP_MS, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(program, args, options);
  return stdout.trim();
}

/** Packs the npm package of a checkout, with its bill of materials, which is also written next to it. */
export async function packPackage(code: string, folder: string, version: string): Promise<void> {
  await run(code, 'npm', 'pack', '--silent', '--pack-destination', folder);
  await copyFile(join(code, 'dist/sbom.cdx.json'), join(folder, `faultline-${version}.cdx.json`));
}

/**
 * Packs the Helm chart of a checkout. Equal files make equal bytes.
 */
export async function packChart(code: string, file: string): Promise<void> {
  const cwd = join(code, 'deploy/helm');
  const files = await readdir(join(cwd, 'faultline'), { recursive: true, withFileTypes: true });
  const paths = files
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(cwd.length + 1))
    .toSorted();
  await create({ cwd, file, gzip: true, portable: true, mtime: new Date(0) }, paths);
}

/** Tags a commit with the Action's bundle, and packs the Action. */
export async function packAction(code: string, folder: string, version: string): Promise<void> {
  const tag = `action-v${version}`;
  await run(code, join(code, 'scripts/release/release-action'), tag);
  const file = join(folder, `faultline-action-${version}.tar.gz`);
  await run(code, 'git', 'archive', '--format=tar.gz', `--output=${file}`, tag, 'action');
}

/** Builds the image of a checkout, tries it, and saves it as an archive that docker, podman and buildah load. */
export async function packImage(code: string, folder: string, version: string): Promise<void> {
  const file = join(folder, `faultline-image-${version}.tar`);
  await mkdir(folder, { recursive: true });
  const image = `localhost/faultline:${version}`;
  console.log(await run(code, process.execPath, 'scripts/release/image.ts', image, '--archive', file));
}
