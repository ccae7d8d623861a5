import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  CHART,
  COMPILING_MS,
  createReader,
  RELEASES,
  type Reader,
} from '../../scripts/parts/kubernetes/kubernetes.ts';
import { renderBase } from '../../scripts/parts/kubernetes/render-base.ts';
import { packChart } from '../../scripts/parts/release/artifacts.ts';
import { VARIABLES } from '../../src/config/schema.ts';
import { TERMINAL_VARIABLES } from '../../src/config/variable.ts';
import { startLoopback } from '../support/loopback-server.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const KNOWN = new Set([...VARIABLES, ...TERMINAL_VARIABLES].map(({ name }) => name));

const Variable = z.object({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown() });
const Container = z.object({
  image: z.string(),
  args: z.array(z.string()).default([]),
  command: z.array(z.string()).default([]),
  env: z.array(Variable.partial({ valueFrom: true })).default([]),
  envFrom: z.array(z.record(z.string(), z.object({ name: z.string() }))).default([]),
  securityContext: z.object({
    allowPrivilegeEscalation: z.boolean(),
    readOnlyRootFilesystem: z.boolean(),
    capabilities: z.object({ drop: z.array(z.string()) }),
  }),
});
const Pod = z.object({
  automountServiceAccountToken: z.literal(false),
  containers: z.array(Container),
  securityContext: z.object({ runAsNonRoot: z.boolean() }),
  volumes: z
    .array(
      z.object({ name: z.string(), persistentVolumeClaim: z.object({ claimName: z.string() }).optional() }),
    )
    .default([]),
});
const Manifest = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), annotations: z.record(z.string(), z.string()).default({}) }),
  data: z.record(z.string(), z.string()).optional(),
  spec: z
    .looseObject({ replicas: z.int().optional(), template: z.object({ spec: Pod }).optional() })
    .optional(),
});
type Manifest = z.infer<typeof Manifest>;

let newest: Reader;
let oldest: Reader;
beforeAll(async () => {
  oldest = await createReader(RELEASES[0]);
  newest = await createReader(RELEASES[1]);
}, COMPILING_MS);

async function render(values: object, reader: Reader = newest): Promise<Manifest[]> {
  return z.array(Manifest).parse((await reader.readChart(CHART, values)).objects);
}

const listNames = (manifests: readonly Manifest[]) =>
  manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted();
const listContainers = (manifests: readonly Manifest[]) =>
  manifests.flatMap(({ kind, spec }) =>
    kind === 'Pod' ? Pod.parse(spec).containers : (spec?.template?.spec.containers ?? []),
  );

describe('deploy/helm/faultline', () => {
  it('deploys a server: API, workers, migrations before each version, and a test', async () => {
    for (const reader of [oldest, newest]) {
      const manifests = await render({}, reader);
      expect(listNames(manifests)).toEqual([
        'ConfigMap faultline',
        'Deployment faultline-api',
        'Deployment faultline-worker',
        expect.stringMatching(/^Job faultline-migrate-/),
        'NetworkPolicy faultline',
        'Pod faultline-test',
        'PodDisruptionBudget faultline-api',
        'Service faultline',
      ]);
      const hooks = manifests.flatMap(({ kind, metadata }) =>
        metadata.annotations['helm.sh/hook'] === undefined
          ? []
          : [[kind, metadata.annotations['helm.sh/hook']]],
      );
      expect(hooks).toEqual([
        ['Pod', 'test'],
        ['Job', 'pre-install,pre-upgrade'],
      ]);
    }
  });

  it('runs every process without privileges, with the settings of the ConfigMap and the Secret', async () => {
    const manifests = await render({ settings: { FAULTLINE_CONCURRENCY: 6 } });
    const containers = listContainers(manifests);

    expect(containers.map(({ args }) => args.join())).toEqual(['', 'migrate', 'serve', 'worker']);
    for (const { securityContext } of containers)
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    const both = [{ configMapRef: { name: 'faultline' } }, { secretRef: { name: 'faultline' } }];
    expect(containers.map(({ envFrom }) => envFrom)).toEqual([[], [both[1]], both, both]);
    const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
    expect(settings).toMatchObject({ FAULTLINE_CONCURRENCY: '6' });
    expect(Object.keys(settings).filter((name) => !KNOWN.has(name))).toEqual([]);
    const migration = containers.find(({ args }) => args[0] === 'migrate')?.env ?? [];
    expect(Object.fromEntries(migration.map(({ name, value }) => [name, value]))).toEqual(settings);
  });

  it('reads the addresses of existing stores from the Secrets of their operators', async () => {
    const manifests = await render({
      database: { secretName: 'postgres-app', secretKey: 'uri' },
      redis: { secretName: 'redis', secretKey: 'url' },
      mongodb: { secretName: 'mongodb' },
    });

    const refer = (name: string, secret: string, key: string) => ({
      name,
      valueFrom: { secretKeyRef: { name: secret, key } },
    });
    for (const { args, env } of listContainers(manifests).filter(({ args }) => args.length > 0))
      expect(
        env.filter(({ valueFrom }) => valueFrom !== undefined),
        args[0],
      ).toEqual([
        refer('FAULTLINE_DATABASE_URL', 'postgres-app', 'uri'),
        refer('FAULTLINE_MONGODB_URL', 'mongodb', 'uri'),
        refer('FAULTLINE_REDIS_URL', 'redis', 'url'),
      ]);
  });

  it('leaves the number of workers to KEDA if it is enabled', async () => {
    const scaled = await render({ keda: { enabled: true, maxReplicas: 7 } });

    expect(scaled.find(({ kind }) => kind === 'ScaledObject')?.spec).toMatchObject({ maxReplicaCount: 7 });
    const count = (manifests: readonly Manifest[]) =>
      manifests.find(({ metadata }) => metadata.name === 'faultline-worker')?.spec?.replicas;
    expect(count(scaled)).toBeUndefined();
    expect(count(await render({ worker: { replicas: 5 } }))).toBe(5);
  });

  it('deploys one process with a volume in embedded mode', async () => {
    const manifests = await render({ mode: 'embedded' });

    expect(listNames(manifests)).toEqual([
      'ConfigMap faultline',
      'Deployment faultline-api',
      'NetworkPolicy faultline',
      'PersistentVolumeClaim faultline-data',
      'Pod faultline-test',
      'Service faultline',
    ]);
    const api = manifests.find(({ kind }) => kind === 'Deployment')?.spec;
    expect(api).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(api?.template?.spec.volumes.map(({ persistentVolumeClaim }) => persistentVolumeClaim)).toEqual([
      undefined,
      { claimName: 'faultline-data' },
    ]);
  });

  it('creates an ingress for the public address, limits connections, and passes on annotations', async () => {
    const from = [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }];
    const egress = [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }];
    const manifests = await render({
      publicUrl: 'https://triage.acme.example/',
      ingress: { enabled: true, className: 'nginx', tlsSecretName: 'triage-tls' },
      networkPolicy: { from, egress },
      image: { tag: '1.2.3@sha256:0123', pullSecrets: ['registry'] },
      nodeSelector: { pool: 'ci' },
      tolerations: [{ operator: 'Exists' }],
    });

    expect(manifests.find(({ kind }) => kind === 'Ingress')?.spec).toMatchObject({
      ingressClassName: 'nginx',
      tls: [{ secretName: 'triage-tls', hosts: ['triage.acme.example'] }],
      rules: [{ host: 'triage.acme.example' }],
    });
    expect(manifests.find(({ kind }) => kind === 'NetworkPolicy')?.spec).toMatchObject({
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from }],
      egress: expect.arrayContaining(egress),
    });
    expect(manifests.find(({ kind }) => kind === 'Job')?.metadata.name).toBe('faultline-migrate-1-2-3');
    expect(new Set(listContainers(manifests).map(({ image }) => image))).toEqual(
      new Set(['faultline:1.2.3@sha256:0123']),
    );
  });

  it('refuses unknown values, and creates only objects that Kubernetes accepts', async () => {
    await expect(render({ replicas: 2 })).rejects.toThrow(/additional properties 'replicas' not allowed/);
    await expect(render({ networkPolicy: { from: [{ everybody: true }] } })).rejects.toThrow(
      /NetworkPolicy faultline: .*additional properties 'everybody' not allowed/,
    );
  });

  it('is tested by `helm test`, which fails while the service accepts no builds', async () => {
    const [program, ...args] =
      listContainers(await render({})).find(({ command }) => command.length > 0)?.command ?? [];
    expect([program, args.at(-1)]).toEqual(['node', 'http://faultline:80/readyz']);
    let status = 200;
    const { url, close } = await startLoopback((_request, response) =>
      response.writeHead(status).end('ready'),
    );
    const test = () => promisify(execFile)(process.execPath, args.with(-1, `${url}/readyz`));
    try {
      expect((await test()).stdout).toBe('ready\n');
      status = 503;
      await expect(test()).rejects.toMatchObject({ code: 1 });
    } finally {
      await close();
    }
  });

  it('gives the same output as a packed archive', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'faultline-chart-'));
    await packChart(ROOT, join(folder, 'chart.tgz'));

    expect(await newest.readChart(join(folder, 'chart.tgz'), {})).toEqual(await newest.readChart(CHART, {}));
    await rm(folder, { recursive: true });
  });

  it('prints the next steps', async () => {
    const { notes } = await newest.readChart(CHART, {});

    expect(notes).toContain('helm test faultline --namespace default');
    expect(notes).toContain('https://faultline.example.com/webhooks/github');
  });
});

describe('deploy/kubernetes', () => {
  it('is generated from the chart', async () => {
    expect(await readFile(join(ROOT, 'deploy/kubernetes/faultline.yaml'), 'utf8')).toBe(
      await renderBase(newest, CHART),
    );
  });

  it('works without KEDA', async () => {
    const read = async (folder: string) =>
      z.array(Manifest).parse((await newest.readKustomization(join(ROOT, 'deploy', folder))).objects);
    const base = await read('kubernetes');
    const without = await read('kubernetes-without-keda');

    expect(listNames(base).filter((name) => !listNames(without).includes(name))).toEqual([
      'ScaledObject faultline-worker',
    ]);
    expect(without.find(({ metadata }) => metadata.name === 'faultline-worker')?.spec?.replicas).toBe(2);
  });
});
