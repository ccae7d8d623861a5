import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');
const Bill = z.object({
  bomFormat: z.literal('CycloneDX'),
  metadata: z.object({ component: z.object({ name: z.string(), version: z.string() }) }),
  components: z.array(
    z.object({
      'bom-ref': z.string(),
      name: z.string(),
      version: z.string(),
      hashes: z.array(z.object({ alg: z.literal('SHA-512') })).optional(),
    }),
  ),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      name: z.string().optional(),
      version: z.string(),
      dev: z.boolean().optional(),
      integrity: z.string().optional(),
    }),
  ),
});
const Own = z.object({
  version: z.string(),
  dependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
});

function read<Schema extends z.ZodType>(schema: Schema, path: string): z.output<Schema> {
  return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
}

it('the bill of materials names exactly what the lock file installs at run time, with its hashes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-sbom-'));
  const file = join(folder, 'sbom.cdx.json');
  execFileSync('node', ['scripts/release/write-sbom.ts', file], { cwd: ROOT, stdio: 'pipe' });
  const { metadata, components, dependencies } = read(Bill, file);
  rmSync(folder, { recursive: true });
  const { version, ...own } = read(Own, join(ROOT, 'package.json'));
  expect(metadata.component).toMatchObject({ name: 'faultline', version });
  const listed = components.map(
    ({ name, version: one, hashes }) => `${name}@${one} ${hashes === undefined ? 'without' : 'with'} hash`,
  );
  const installed = Object.entries(read(Lock, join(ROOT, 'package-lock.json')).packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { name, version: one, integrity }]) => {
      const installedAs = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return `${name ?? installedAs}@${one} ${integrity === undefined ? 'without' : 'with'} hash`;
    });
  expect(new Set(listed)).toEqual(new Set(installed));
  const names = new Set(components.map(({ name }) => name));
  for (const name of [...Object.keys(own.dependencies), ...Object.keys(own.optionalDependencies)])
    expect(names).toContain(name);
  const refs = new Set([...components.map((component) => component['bom-ref']), `faultline@${version}`]);
  for (const { ref, dependsOn } of dependencies)
    for (const one of [ref, ...dependsOn]) expect(refs).toContain(one);
});
