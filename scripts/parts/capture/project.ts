import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes a project: `files` contains the text of each file by its path. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** Quotes an argument for a shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Installs missing packages. It blocks, so that no two rows install at the same time. */
export function installDebian(packages: readonly string[]): void {
  const missing = packages.filter(
    (name) => spawnSync('dpkg', ['-s', name], { stdio: 'ignore' }).status !== 0,
  );
  if (missing.length === 0) return;
  const { status, stderr } = spawnSync(
    'apt-get',
    ['install', '--yes', '--no-install-recommends', ...missing],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`apt-get could not install ${missing.join(' ')}: ${stderr}`);
}
