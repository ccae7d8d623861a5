import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DatedOptions, runByDate } from '../../src/experiments/by-date.ts';
import { outputReader } from '../../src/experiments/outcome.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';

/** A registry with one package, whose second version no longer has the function `pick`. */
const RELEASED = { '1.0.0': '2026-01-10T00:00:00.000Z', '2.0.0': '2026-02-20T12:00:00.000Z' } as const;
const SOURCES = { '1.0.0': 'exports.pick = () => 1;\n', '2.0.0': 'exports.choose = () => 1;\n' } as const;
const never = new AbortController().signal;

let folder = '';
let registry: Server;
let address = '';
let hasTimes = true;
let repository: GitRepository;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'faultline-registry-'));
  for (const [version, source] of Object.entries(SOURCES)) {
    const inside = join(folder, version, 'package');
    mkdirSync(inside, { recursive: true });
    writeFileSync(join(inside, 'package.json'), JSON.stringify({ name: 'orchard', version }));
    writeFileSync(join(inside, 'index.js'), source);
    execFileSync('tar', ['-czf', join(folder, `${version}.tgz`), '-C', join(folder, version), 'package']);
  }
  registry = createServer((request, response) => {
    const version = /(\d\.\d\.\d)\.tgz$/.exec(request.url ?? '')?.[1];
    if (version !== undefined) response.end(readFileSync(join(folder, `${version}.tgz`)));
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(describePackage()));
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  repository = createGitRepository();
  repository.commit(
    {
      'package.json': JSON.stringify({ name: 'shop', private: true, dependencies: { orchard: '*' } }),
      'app.js': "console.log(require('orchard').pick());\n",
    },
    'shop',
  );
}, 60_000);
afterAll(() => {
  registry.close();
  repository.remove();
  rmSync(folder, { recursive: true, force: true });
});

function describePackage(): object {
  const versions = Object.keys(SOURCES).map((version) => {
    const dist = { tarball: `${address}/orchard/-/orchard-${version}.tgz` };
    return [version, { name: 'orchard', version, dist }] as const;
  });
  const time = hasTimes ? { time: { created: '2026-01-10T00:00:00.000Z', ...RELEASED } } : {};
  return {
    name: 'orchard',
    'dist-tags': { latest: '2.0.0' },
    versions: Object.fromEntries(versions),
    ...time,
  };
}

function createOptions(change: Partial<DatedOptions> = {}): DatedOptions {
  return {
    argv: [process.execPath, 'app.js'],
    cwd: repository.folder,
    env: {
      ...process.env,
      npm_config_registry: address,
      npm_config_cache: join(folder, 'cache'),
      npm_config_audit: 'false',
    },
    runs: 1,
    limitMs: 300_000,
    tests: [],
    install: ['npm', 'install'],
    good: new Date('2026-02-01'),
    bad: null,
    search: false,
    ...change,
  };
}

const run = (change: Partial<DatedOptions> = {}) =>
  runByDate(createOptions(change), { read: outputReader() }, never);

describe('a command with dependencies as of a date', () => {
  it('passes with the versions of that date, and the version that broke it is named', async () => {
    const found = await run();
    expect(found.verdict).toBe('versions');
    expect(found.sentence).toBe(
      'It passes with the versions of 2026-02-01 and fails with those of now. What changed: orchard 1.0.0 → 2.0.0.',
    );
    expect(found.changes[0]?.link).toContain('pick is not a function');
    expect(repository.git('status', '--short')).toBe('');
  }, 300_000);

  it('is tried until the first day on which it fails is found', async () => {
    const found = await run({ search: true, bad: new Date('2026-03-10') });
    expect(found.day).toEqual({ lastGood: '2026-02-20', firstBad: '2026-02-21' });
    expect(found.runs.map(({ at }) => at.slice(0, 10))).toContain('2026-02-20');
  }, 300_000);

  it('fails with the earlier versions too, so versions are not the cause', async () => {
    const argv = [process.execPath, '-e', 'throw new Error("own")'];
    expect((await run({ argv })).verdict).toBe('not-versions');
  }, 300_000);

  it('is reported to pass now', async () => {
    const argv = [process.execPath, '-e', ''];
    expect((await run({ argv })).verdict).toBe('not-reproduced');
  }, 300_000);

  it('is not judged if the index does not state when versions were uploaded', async () => {
    hasTimes = false;
    try {
      await expect(
        run({ env: { ...createOptions().env, npm_config_cache: join(folder, 'other') } }),
      ).rejects.toThrow('its index does not say when they were uploaded');
    } finally {
      hasTimes = true;
    }
  }, 300_000);

  it('is refused for programs that cannot choose versions by date, with an alternative', async () => {
    await expect(run({ install: ['cargo', 'fetch'] })).rejects.toThrow(/Cargo builds what Cargo\.lock has/);
    await expect(run({ install: ['yarn'] })).rejects.toThrow(/yarn cannot choose versions by time/);
  });
});
