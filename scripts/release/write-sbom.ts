/**
 * `node scripts/release/write-sbom.ts FILE`: writes what the package needs at run time as a CycloneDX bill of materials. `npm sbom --omit dev` leaves out what
 * packages of development need as well (npm 11: zod, commander), so npm lists everything, and the lock file says which of it is of development only.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '../..');
/** The mark of npm for a package of which one of several copies is only for development. */
const DEVELOPMENT = 'cdx:npm:package:development';

const Component = z.looseObject({
  'bom-ref': z.string(),
  properties: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
});
const Bill = z.looseObject({
  metadata: z.looseObject({ component: z.looseObject({ 'bom-ref': z.string() }) }),
  components: z.array(Component),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()).default([]) })),
});

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({ name: z.string().optional(), version: z.string(), dev: z.boolean().optional() }),
  ),
});

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: node scripts/release/write-sbom.ts FILE');
const said = execFileSync(
  'npm',
  ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'],
  {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const bill = Bill.parse(JSON.parse(said));
const installed = new Set(
  Object.entries(Lock.parse(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))).packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(
      ([path, { name, version }]) =>
        `${name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`,
    ),
);
const components = bill.components
  .filter((component) => installed.has(component['bom-ref']))
  .map((component) => ({
    ...component,
    properties: component.properties.filter(({ name }) => name !== DEVELOPMENT),
  }));
const own = { ...bill.metadata.component, name: 'faultline' };
const kept = new Set([own['bom-ref'], ...components.map((component) => component['bom-ref'])]);
const dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
writeFileSync(
  file,
  `${JSON.stringify({ ...bill, metadata: { ...bill.metadata, component: own }, components, dependencies }, null, 2)}\n`,
);
