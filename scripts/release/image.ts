/**
 * Builds the image, starts it as docker-compose.yml does (read-only, no capabilities, not as root), triages an upload in it, and prints its
 * size over the base: `node scripts/release/image.ts [NAME] [--archive FILE]`. Exit code 1 where any of that fails, or the image is larger
 * than it may be. With --archive, saves it in Docker's format.
 *
 * By docker, podman, or buildah as root, which needs no daemon. Where no registry has the base, one is made of Debian's packages
 * (mmdebstrap), the pinned Node and npm.
 */
import { execFile, type SpawnOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');
const BASE = 'docker.io/library/node:24-bookworm-slim';
const OWN_BASE = 'localhost/faultline-base:bookworm';
/** The maximum size of the image without its base, in megabytes. */
const MOST = 350;
const STEP_MS = 900_000;
const READY_MS = 60_000;
const FAILURE = 'atlas-webpack-missing-file';

interface CommandLine {
  readonly program: string;
  readonly args: readonly string[];
}

interface Engine {
  readonly name: string;
  has(image: string): Promise<boolean>;
  build(image: string, folder: string, buildArgs: readonly string[]): Promise<void>;
  bytes(image: string): Promise<number>;
  /** Saves the image as an archive in Docker's format. */
  save(image: string, file: string): Promise<void>;
  /** Runs a command in the image with restricted rights. If `entrypoint` is null, the image's own is used. */
  inside(
    image: string,
    entrypoint: string | null,
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<CommandLine>;
  close(): Promise<void>;
}

const run = (program: string, args: readonly string[], cwd: string = ROOT) =>
  promisify(execFile)(program, [...args], { cwd, timeout: STEP_MS, maxBuffer: 64 * 1024 * 1024 });
const works = (program: string, ...args: string[]) =>
  run(program, args).then(
    () => true,
    () => false,
  );

async function findEngine(): Promise<Engine> {
  for (const name of ['docker', 'podman'] as const)
    if (await works(name, 'info')) return createContainerEngine(name);
  if (!(await works('buildah', '--version')))
    throw new Error('No image can be built: install buildah, podman or docker.');
  if (process.getuid?.() !== 0)
    throw new Error('buildah is used as root here: start again as root, or install podman.');
  return createBuildahEngine();
}

function createContainerEngine(name: 'docker' | 'podman'): Engine {
  const hardened = [
    '--rm',
    '--read-only',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    '--tmpfs=/tmp',
    '--network=host',
  ];
  const data = '--tmpfs=/var/lib/faultline:uid=1000,gid=1000';
  return {
    name,
    has: async (image) =>
      (await works(name, 'image', 'inspect', image)) || works(name, 'pull', '--quiet', image),
    build: async (image, folder, buildArgs) => {
      const format = name === 'podman' ? ['--format', 'docker'] : [];
      await streamProgram(name, ['build', ...format, ...buildArgs, '--tag', image, folder]);
    },
    bytes: async (image) =>
      Number((await run(name, ['image', 'inspect', '--format', '{{.Size}}', image])).stdout),
    save: async (image, file) => {
      const format = name === 'podman' ? ['--format', 'docker-archive'] : [];
      await streamProgram(name, ['save', ...format, '--output', file, image]);
    },
    inside: async (image, entrypoint, args, environment) => {
      const variables = Object.entries(environment).map(([key, value]) => `--env=${key}=${value}`);
      const own = entrypoint === null ? [] : [`--entrypoint=${entrypoint}`];
      return { program: name, args: ['run', ...hardened, data, ...variables, ...own, image, ...args] };
    },
    close: async () => undefined,
  };
}

const Config = z.object({
  Docker: z.object({
    config: z.object({
      Entrypoint: z.array(z.string()).nullish(),
      Env: z.array(z.string()),
      User: z.string(),
      WorkingDir: z.string(),
      Healthcheck: z.object({ Test: z.array(z.string()) }).nullish(),
    }),
  }),
});

/**
 * A script that creates the mount namespace of a container. $1 is the folder with the image's files, which
 * become the read-only root. The other arguments are the command.
 */
const NAMESPACE = `set -e
root=$1; user=$2; folder=$3; shift 3
mount --bind "$root" "$root"; mount -o remount,bind,ro "$root"
mount -t tmpfs tmpfs "$root/tmp"; mount -t tmpfs -o uid=1000,gid=1000 tmpfs "$root/var/lib/faultline"
mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
cd /
exec chroot "$root" setpriv "--reuid=$user" "--regid=$user" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all env -i -C "$folder" "$@"`;

/**
 * Runs a command in the image. Since buildah cannot run a container read-only, util-linux runs the command on
 * the mounted files.
 */
function createBuildahEngine(): Engine {
  const mounted = new Map<string, { readonly container: string; readonly root: string }>();
  const mount = async (image: string) => {
    const known = mounted.get(image);
    if (known !== undefined) return known.root;
    const container = (await run('buildah', ['from', '--pull-never', image])).stdout.trim();
    const root = (await run('buildah', ['mount', container])).stdout.trim();
    mounted.set(image, { container, root });
    return root;
  };
  return {
    name: 'buildah',
    has: async (image) =>
      (await works('buildah', 'inspect', '--type', 'image', image)) ||
      works('buildah', 'pull', '--quiet', image),
    // The isolation is chroot, because others need a runtime such as runc.
    build: (image, folder, buildArgs) =>
      streamProgram('buildah', [
        'build',
        '--format',
        'docker',
        '--isolation',
        'chroot',
        ...buildArgs,
        '--tag',
        image,
        folder,
      ]),
    bytes: async (image) =>
      Number.parseInt((await run('du', ['--summarize', '--block-size=1', await mount(image)])).stdout, 10),
    save: (image, file) =>
      streamProgram('buildah', ['push', '--quiet', image, `docker-archive:${file}:${image}`]),
    inside: async (image, entrypoint, args, environment) => {
      const root = await mount(image);
      const inspected = await run('buildah', ['inspect', '--type', 'image', image]);
      const { Entrypoint, Env, User, WorkingDir, Healthcheck } = Config.parse(JSON.parse(inspected.stdout))
        .Docker.config;
      if (Healthcheck == null) throw new Error('The image has no HEALTHCHECK.');
      const variables = [...Env, ...Object.entries(environment).map(([key, value]) => `${key}=${value}`)];
      const command = [...variables, ...(entrypoint === null ? (Entrypoint ?? []) : [entrypoint]), ...args];
      return {
        program: 'unshare',
        args: ['--mount', 'bash', '-c', NAMESPACE, 'namespace', root, User, WorkingDir, ...command],
      };
    },
    close: async () => {
      for (const { container } of mounted.values()) await run('buildah', ['rm', container]);
    },
  };
}

async function streamProgram(
  program: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<void> {
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: STEP_MS,
    ...options,
  });
  const [code, signal] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ${args[0]} ended with ${code ?? signal}, see above.`);
}

/**
 * Builds Debian's smallest system with the pinned Node, npm, the user `node`, and the certificates of this
 * machine.
 */
async function makeBase(engine: Engine): Promise<void> {
  if (!(await works('mmdebstrap', '--version')))
    throw new Error(
      `${BASE} cannot be pulled, and no base can be made here: install mmdebstrap, or bring the image's base into reach.`,
    );
  console.log(`${BASE} cannot be pulled: making a base of Debian's packages`);
  const folder = await mkdtemp(join(tmpdir(), 'faultline-base-'));
  try {
    const packages = '--include=ca-certificates,libstdc++6,passwd';
    await streamProgram('mmdebstrap', [
      '--quiet',
      '--variant=minbase',
      packages,
      'bookworm',
      join(folder, 'rootfs.tar'),
    ]);
    await copyFile(process.execPath, join(folder, 'node'));
    const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder, 'npm@11'], folder);
    await run('tar', ['--extract', '--file', join(folder, packed.stdout.trim())], folder);
    await rename(join(folder, 'package'), join(folder, 'npm'));
    await copyFile('/etc/ssl/certs/ca-certificates.crt', join(folder, 'ca-certificates.crt'));
    await writeFile(join(folder, 'npmrc'), 'cafile=/etc/ssl/certs/ca-certificates.crt\n');
    await writeFile(join(folder, 'Dockerfile'), BASE_FILE);
    await engine.build(OWN_BASE, folder, []);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const BASE_FILE = `FROM scratch
ADD rootfs.tar /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY npmrc /usr/local/etc/npmrc
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node
CMD ["node"]
`;

const HARDENED = `const { readFileSync, writeFileSync } = require('node:fs');
const status = readFileSync('/proc/self/status', 'utf8');
const of = (name) => new RegExp('^' + name + ':\\\\s+(\\\\S+)', 'm').exec(status)[1];
let written = true;
try { writeFileSync('/app/written', ''); } catch { written = false; }
console.log(JSON.stringify({ uid: process.getuid(), capabilities: of('CapEff'), bounding: of('CapBnd'), noNewPrivileges: of('NoNewPrivs'), written }));`;

async function checkHardened(engine: Engine, image: string): Promise<void> {
  const { program, args } = await engine.inside(image, 'node', ['-e', HARDENED], {});
  const found = (await run(program, args)).stdout.trim();
  const wanted =
    '{"uid":1000,"capabilities":"0000000000000000","bounding":"0000000000000000","noNewPrivileges":"1","written":false}';
  if (found !== wanted) throw new Error(`The container is not hardened: ${found}`);
}

const Received = z.object({ buildId: z.string() });
const Answers = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(z.object({ category: z.string() })),
});

/**
 * Starts the service in the image, uploads a captured failure, and waits for its answer. Throws with the
 * output of the service.
 */
async function triageUpload(engine: Engine, image: string): Promise<string> {
  const port = await freePort();
  const token = randomBytes(24).toString('hex');
  const environment = { FAULTLINE_PORT: String(port), FAULTLINE_TOKENS: `image:admin:${token}` };
  const { program, args } = await engine.inside(image, null, ['serve'], environment);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const exited = once(child, 'exit');
  const address = `http://127.0.0.1:${port}`;
  const headers = { authorization: `Bearer ${token}` };
  try {
    await retryUntilFound(() =>
      fetch(`${address}/healthz`).then(
        ({ ok }) => ok || null,
        () => null,
      ),
    );
    const form = new FormData();
    form.append(
      'metadata',
      JSON.stringify({ repository: 'shop/api', pipeline: 'ci', number: '1', status: 'failed' }),
    );
    form.append(
      'log',
      new Blob([await readFile(join(ROOT, 'test/fixtures/failures', FAILURE, 'log.txt'))]),
      'log.txt',
    );
    const received = await fetch(`${address}/api/builds`, { method: 'POST', headers, body: form });
    const { buildId } = Received.parse(await received.json());
    return await retryUntilFound(async () => {
      const { triage, analyses } = Answers.parse(
        await (await fetch(`${address}/api/builds/${buildId}/analyses`, { headers })).json(),
      );
      return triage?.state === 'done' ? (analyses[0]?.category ?? null) : null;
    });
  } catch (cause) {
    throw new Error(`The image does not serve: ${said.join('').slice(-3_000)}`, { cause });
  } finally {
    child.kill('SIGTERM');
    await Promise.race([exited, sleep(30_000)]);
    child.kill('SIGKILL');
  }
}

async function retryUntilFound<Value>(ask: () => Promise<Value | null>): Promise<Value> {
  for (const last = Date.now() + READY_MS; ; await sleep(250)) {
    const found = await ask();
    if (found !== null) return found;
    if (Date.now() > last) throw new Error(`Waited ${READY_MS / 1000} s in vain.`);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { archive: { type: 'string' } },
});
const image = positionals[0] ?? `localhost/faultline:${version}`;
const engine = await findEngine();
try {
  const base = (await engine.has(BASE)) ? BASE : OWN_BASE;
  if (base === OWN_BASE && !(await engine.has(OWN_BASE))) await makeBase(engine);
  await engine.build(image, ROOT, ['--build-arg', `BASE=${base}`]);
  const over = Math.round(((await engine.bytes(image)) - (await engine.bytes(base))) / 1e6);
  await checkHardened(engine, image);
  const category = await triageUpload(engine, image);
  console.log(
    `${image} by ${engine.name}: ${over} MB over ${base} (at most ${MOST}); read-only, no capabilities; 1 upload answered: ${category}`,
  );
  if (over > MOST) throw new Error(`The image is ${over - MOST} MB larger than it may be.`);
  if (values.archive !== undefined) await engine.save(image, values.archive);
} finally {
  await engine.close();
}
