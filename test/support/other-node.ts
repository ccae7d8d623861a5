import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const CACHE = join(import.meta.dirname, '../../.faultline/nodes');

/**
 * Returns the program of another Node version, such as `20.20.2`, from the npm registry. It is downloaded
 * once. Throws if the registry cannot be reached.
 */
export async function installOtherNode(version: string): Promise<string> {
  const home = join(CACHE, version);
  const program = join(home, 'node_modules/node/bin/node');
  if (existsSync(program)) return program;
  await mkdir(CACHE, { recursive: true });
  const draft = await mkdtemp(join(CACHE, 'draft-'));
  try {
    await promisify(execFile)('npm', [
      'install',
      '--no-audit',
      '--no-fund',
      '--prefix',
      draft,
      `node@${version}`,
    ]);
    // Another process may have downloaded the same file in the meantime.
    await rename(draft, home).catch(() => undefined);
  } catch (cause) {
    throw new Error(`Node ${version} cannot be fetched from the npm registry; is it in reach?`, { cause });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return program;
}
