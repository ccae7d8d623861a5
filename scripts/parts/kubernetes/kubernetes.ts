import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../../..');
export const CHART = join(ROOT, 'deploy/helm/faultline');
const CACHE = join(ROOT, 'node_modules/.cache/faultline-kubernetes');
/** The oldest and the newest release of Kubernetes that the chart supports. */
export const RELEASES = ['v1.25.16', 'v1.37.2'] as const;
const KEDA = 'github.com/kedacore/keda/v2@v2.21.0';
/** The time limit of compiling Helm in milliseconds. It is compiled only once. */
export const COMPILING_MS = 1_200_000;

const Objects = z.array(z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) }));
const Chart = z.object({ objects: Objects, yaml: z.string(), notes: z.string() });
const Kustomization = z.object({ objects: Objects });

/** Reads deployments for Kubernetes. Both methods throw if the libraries or a schema reject the input. */
export interface Reader {
  /** Lints a chart and renders it with these values. */
  readChart(chart: string, values: object): Promise<z.infer<typeof Chart>>;
  /** Renders what `kubectl apply -k` would apply. */
  readKustomization(folder: string): Promise<z.infer<typeof Kustomization>>;
}

/** Creates a reader that checks against the schemas of a release of Kubernetes. Needs Go. */
export async function createReader(release: (typeof RELEASES)[number]): Promise<Reader> {
  await mkdir(CACHE, { recursive: true });
  const program = join(CACHE, 'read');
  await run('go', ['build', '-o', program, '.']);
  const schemas = join(CACHE, release);
  const modules = await Promise.all([`k8s.io/kubernetes@${release}`, KEDA].map(download));
  await run(program, ['schemas', ...modules, schemas]);
  const read = async (args: string[]): Promise<unknown> => JSON.parse(await run(program, args));
  return {
    readChart: (chart, values) =>
      withFile(values, async (file) => Chart.parse(await read(['chart', chart, schemas, file]))),
    readKustomization: async (folder) => Kustomization.parse(await read(['kustomize', folder, schemas])),
  };
}

async function download(module: string): Promise<string> {
  const said = await run('go', ['mod', 'download', '-json', module]);
  return z.object({ Dir: z.string() }).parse(JSON.parse(said)).Dir;
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const options = { cwd: import.meta.dirname, timeout: COMPILING_MS, maxBuffer: 32 * 1024 * 1024 };
  return (await promisify(execFile)(program, [...args], options)).stdout;
}

/** Calls `use` with a file that contains the values. JSON is valid YAML. */
async function withFile<Result>(values: object, use: (file: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-values-'));
  try {
    const file = join(folder, 'values.yaml');
    await writeFile(file, JSON.stringify(values));
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
