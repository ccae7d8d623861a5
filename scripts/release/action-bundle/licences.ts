import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the name, version and license of every package whose code is in the bundle, as the licenses
 * require.
 */
export function readLicenses(root: string, modules: Iterable<string>): string {
  const folders = new Set<string>();
  for (const id of modules) {
    const folder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
    if (folder !== undefined) folders.add(folder);
  }
  return [...folders]
    .sort()
    .map((folder) => readLicense(join(root, folder)))
    .join('\n');
}

function readLicense(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text =
    file === undefined
      ? 'No licence file is in the package.'
      : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text.replaceAll('\r', '')}\n\n${'-'.repeat(72)}\n`;
}
