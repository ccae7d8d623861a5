import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { VARIABLES } from '../../src/config/schema.ts';
import { TERMINAL_VARIABLES } from '../../src/config/variable.ts';
import { type ComposeModel, createEnvironment, ROOT, readCompose } from '../support/compose/compose.ts';

const OURS = ['api', 'worker', 'migrate'];
const KNOWN = new Set([...VARIABLES, ...TERMINAL_VARIABLES].map(({ name }) => name));

let values: Record<string, string> = {};
let model: ComposeModel;
beforeAll(async () => {
  values = await createEnvironment();
  model = await readCompose(values);
});

describe('docker-compose.yml', () => {
  it('is valid with the output of scripts/new-env, and names a missing value', async () => {
    expect(Object.keys(model.services).toSorted()).toEqual(
      [
        'api',
        'grafana',
        'migrate',
        'mongo',
        'otel-collector',
        'postgres',
        'prometheus',
        'redis',
        'worker',
      ].toSorted(),
    );
    for (const name of Object.keys(values)) {
      const { [name]: _left, ...others } = values;
      await expect(readCompose(others), name).rejects.toThrow(/scripts\/new-env/);
    }
  });

  it('gives our processes only variables that they know', () => {
    for (const name of OURS) {
      const given = Object.entries(model.services[name]?.environment ?? {}).filter(
        ([, value]) => value !== '',
      );
      expect(
        given.flatMap(([variable]) => (KNOWN.has(variable) ? [] : variable)),
        name,
      ).toEqual([]);
    }
  });

  it('passes on every setting of .env, but none of another service', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'faultline-compose-'));
    const file = join(folder, 'docker-compose.yml');
    await copyFile(join(ROOT, 'docker-compose.yml'), file);
    const settings = {
      ...values,
      FAULTLINE_PORT: '9000',
      FAULTLINE_CONCURRENCY: '7',
      FAULTLINE_GITEA_URL: 'https://git.example.com',
    };
    await writeFile(
      join(folder, '.env'),
      Object.entries(settings).map((entry) => `${entry.join('=')}\n`),
    );
    const { services } = await readCompose(settings, file);
    await rm(folder, { recursive: true });

    for (const name of OURS)
      expect(services[name]?.environment).toMatchObject({
        FAULTLINE_CONCURRENCY: '7',
        FAULTLINE_GITEA_URL: 'https://git.example.com',
        FAULTLINE_PORT: '4600',
        GRAFANA_PASSWORD: '',
      });
    expect(services.api?.ports).toMatchObject([{ target: 4600, published: '9000' }]);
  });

  it('quotes every value that YAML would read as a number or boolean: podman-compose accepts only strings', async () => {
    const text = await readFile(join(ROOT, 'docker-compose.yml'), 'utf8');

    expect(text.match(/^ +[A-Z][A-Z0-9_]*: *(?:[\d.]+|true|false|yes|no|null)? *$/gm)).toBeNull();
  });

  it('runs our processes without privileges, on a read-only file system', () => {
    for (const name of OURS)
      expect(model.services[name]).toMatchObject({ user: 'node', read_only: true, cap_drop: ['ALL'] });
  });

  it('pins a version of every image, and opens every port to this machine only', () => {
    for (const [name, { image, ports }] of Object.entries(model.services)) {
      expect(image, name).toMatch(/:[^:]*\d/);
      for (const port of ports) expect(port.host_ip, name).toBe('127.0.0.1');
    }
  });

  it('waits for dependencies, and checks the health of every lasting service', () => {
    for (const [name, { healthcheck, depends_on }] of Object.entries(model.services)) {
      if (!['migrate', 'otel-collector'].includes(name)) expect(healthcheck?.test, name).toBeDefined();
      for (const [other, { condition }] of Object.entries(depends_on)) {
        if (condition === 'service_healthy')
          expect(model.services[other]?.healthcheck?.test, other).toBeDefined();
      }
    }
  });

  it('mounts only files that exist', async () => {
    for (const { volumes } of Object.values(model.services)) {
      for (const { type, source } of volumes)
        if (type === 'bind') await expect(readFile(source).catch(isFolder)).resolves.toBeDefined();
    }
  });

  it('is described: docs/how-to/deploy.md names every service, image and published port', async () => {
    const page = await readFile(join(ROOT, 'docs/how-to/deploy.md'), 'utf8');
    for (const [name, { image, ports }] of Object.entries(model.services)) {
      expect(page).toContain(`\`${name}\``);
      expect(page).toContain(image.replace(/:.*/, ''));
      for (const { published } of ports) expect(page).toContain(published);
    }
  });
});

function isFolder(error: NodeJS.ErrnoException): string {
  if (error.code === 'EISDIR') return 'a folder';
  throw error;
}
