import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { VARIABLES } from '../../src/config/schema.ts';
import { TERMINAL_VARIABLES } from '../../src/config/variable.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Kustomize is compiled first. */
const COMPILING_MS = 600_000;

const Container = z.object({
  image: z.string(),
  args: z.array(z.string()),
  envFrom: z.array(z.record(z.string(), z.object({ name: z.string() }))),
  securityContext: z.object({
    allowPrivilegeEscalation: z.boolean(),
    readOnlyRootFilesystem: z.boolean(),
    capabilities: z.object({ drop: z.array(z.string()) }),
  }),
});
const Pod = z.object({
  spec: z.object({
    containers: z.array(Container),
    securityContext: z.object({ runAsNonRoot: z.boolean() }),
  }),
});
const Manifest = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  data: z.record(z.string(), z.string()).optional(),
  spec: z.object({ replicas: z.int().optional(), template: Pod.optional() }).optional(),
});
type Manifest = z.infer<typeof Manifest>;

/** What `kubectl apply -k` would apply. Throws with what Kustomize or Kubernetes' types say of a manifest that they refuse. */
async function readManifests(folder: string): Promise<Manifest[]> {
  const options = { cwd: join(ROOT, 'test/support/kubernetes'), timeout: COMPILING_MS };
  const { stdout } = await promisify(execFile)('go', ['run', '.', join(ROOT, 'deploy', folder)], options);
  return z.array(Manifest).parse(JSON.parse(stdout));
}

let base: Manifest[];
beforeAll(async () => {
  base = await readManifests('kubernetes');
}, COMPILING_MS);

const containersOf = (manifests: readonly Manifest[]) =>
  manifests.flatMap(({ spec }) => spec?.template?.spec.containers ?? []);

describe('deploy/kubernetes', () => {
  it('is a base that Kustomize makes and Kubernetes knows every field of', () => {
    expect(base.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'ConfigMap faultline',
      expect.stringMatching(/^Job faultline-migrate-/),
      'Deployment faultline-api',
      'Service faultline',
      'Deployment faultline-worker',
      'ScaledObject faultline-worker',
      'PodDisruptionBudget faultline-api',
      'NetworkPolicy faultline',
    ]);
  });

  it('runs every process without privileges, with the variables of the ConfigMap and the Secret', () => {
    const containers = containersOf(base);
    expect(containers.map(({ args }) => args)).toEqual([['migrate'], ['serve'], ['worker']]);
    for (const { securityContext, envFrom } of containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(envFrom).toEqual([
        { configMapRef: { name: 'faultline' } },
        { secretRef: { name: 'faultline' } },
      ]);
    }
    expect(base.flatMap(({ spec }) => spec?.template?.spec.securityContext.runAsNonRoot ?? [])).toEqual([
      true,
      true,
      true,
    ]);
    const known = new Set([...VARIABLES, ...TERMINAL_VARIABLES].map(({ name }) => name));
    expect(base.flatMap(({ data }) => Object.keys(data ?? {})).filter((name) => !known.has(name))).toEqual(
      [],
    );
  });

  it('names the version of this package, also in the name of the migration', async () => {
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));

    expect(new Set(containersOf(base).map(({ image }) => image))).toEqual(new Set([`faultline:${version}`]));
    expect(
      base.some(({ metadata }) => metadata.name === `faultline-migrate-${version.replaceAll('.', '-')}`),
    ).toBe(true);
  });

  it('can do without KEDA', async () => {
    const without = await readManifests('kubernetes-without-keda');

    expect(without.some(({ kind }) => kind === 'ScaledObject')).toBe(false);
    expect(without.find(({ metadata }) => metadata.name === 'faultline-worker')?.spec?.replicas).toBe(2);
  });
});
