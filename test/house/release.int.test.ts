import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');
const VERSION = '99.1.0';
const LIMIT_MS = 1_800_000;
const FILES = [
  'SHA256SUMS',
  `faultline-${VERSION}-notes.md`,
  `faultline-${VERSION}.cdx.json`,
  `faultline-${VERSION}.intoto.json`,
  `faultline-${VERSION}.tgz`,
  `faultline-action-${VERSION}.tar.gz`,
  `faultline-chart-${VERSION}.tgz`,
];
const IMAGE = `faultline-image-${VERSION}.tar`;
/** The reference implementation of in-toto statements reads and validates a file. */
const VALIDATE = `
import json, sys
from google.protobuf import json_format
from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
text = open(sys.argv[1]).read()
Statement.copy_from_pb(json_format.Parse(text, statement_pb2.Statement())).validate()
json_format.Parse(json.dumps(json.loads(text)["predicate"]), provenance_pb2.Provenance())
`;

const Provenance = z.object({
  subject: z.array(z.object({ name: z.string(), digest: z.object({ sha256: z.string() }) })),
  predicate: z.object({
    buildDefinition: z.object({
      externalParameters: z.object({ version: z.string() }),
      resolvedDependencies: z.array(z.object({ digest: z.record(z.string(), z.string()) })),
    }),
  }),
});

let folder = '';
let checkout = '';
const run = async (program: string, ...args: string[]) => {
  const options = { cwd: checkout, timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 };
  return (await promisify(execFile)(program, args, options)).stdout.trim();
};
const release = (out: string, ...args: string[]) =>
  run(process.execPath, 'scripts/release/release.ts', VERSION, '--out', join(folder, out), ...args);
const readOut = (out: string, name: string) => readFile(join(folder, out, name), 'utf8');
const listTar = async (out: string, name: string) =>
  (await run('tar', '--list', '--file', join(folder, out, name))).split('\n');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-release-'));
  checkout = join(folder, 'checkout');
  await promisify(execFile)('git', ['clone', '--quiet', ROOT, checkout]);
  await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  await run('git', 'config', 'user.name', 'Ada');
  await run('git', 'config', 'user.email', 'ada@shop.example');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('scripts/release/release.ts', () => {
  it(
    'creates all files of a release in a folder with --dry-run, and changes nothing else',
    async () => {
      const before = await run('git', 'rev-parse', 'HEAD');
      const canBuildImage =
        process.getuid?.() === 0 &&
        (await run('buildah', '--version').then(
          () => true,
          () => false,
        ));
      console.info(await release('dry', '--dry-run', ...(canBuildImage ? [] : ['--no-image'])));

      expect((await readdir(join(folder, 'dry'))).toSorted()).toEqual(
        (canBuildImage ? [...FILES, IMAGE] : FILES).toSorted(),
      );
      expect(await run('git', 'rev-parse', 'HEAD')).toBe(before);
      expect(await run('git', 'tag', '--list', '*99*')).toBe('');
      expect(await run('git', 'status', '--porcelain', '--untracked-files=no')).toBe('');
      if (canBuildImage) expect(await listTar('dry', IMAGE)).toContain('manifest.json');
    },
    LIMIT_MS,
  );

  it(
    'commits and tags the version and the changelog, and writes correct checksums',
    async () => {
      await release('real', '--no-image');

      expect(await run('git', 'log', '-1', '--format=%an: %s')).toBe(`Ada: Release ${VERSION}`);
      expect(await run('git', 'rev-parse', `v${VERSION}^{commit}`)).toBe(
        await run('git', 'rev-parse', 'HEAD'),
      );
      expect(await run('git', 'rev-parse', `action-v${VERSION}~1`)).toBe(
        await run('git', 'rev-parse', 'HEAD'),
      );
      expect(await run('git', 'status', '--porcelain', '--untracked-files=no')).toBe('');
      expect(await run('git', 'grep', '-l', '--fixed-strings', `version": "${VERSION}"`)).toBe(
        'package-lock.json\npackage.json',
      );
      expect(await run(process.execPath, 'src/cli/main.ts', '--version')).toBe(VERSION);
      const heading = `## [${VERSION}] - `;
      expect(await readFile(join(checkout, 'CHANGELOG.md'), 'utf8')).toContain(
        `## [Unreleased]\n\n${heading}`,
      );
      expect(await readOut('real', `faultline-${VERSION}-notes.md`)).toContain('### Added');
      const checked = await promisify(execFile)('sha256sum', ['--check', 'SHA256SUMS'], {
        cwd: join(folder, 'real'),
      });
      expect(checked.stdout.trim().split('\n')).toEqual(
        FILES.filter((name) => name !== 'SHA256SUMS').map((name) => `${name}: OK`),
      );
    },
    LIMIT_MS,
  );

  it('packs the package, the Action with its bundle, and the chart', async () => {
    expect(await listTar('real', `faultline-${VERSION}.tgz`)).toEqual(
      expect.arrayContaining(['package/dist/src/cli/main.js', 'package/dist/sbom.cdx.json']),
    );
    expect(await listTar('real', `faultline-action-${VERSION}.tar.gz`)).toEqual(
      expect.arrayContaining(['action/action.yml', 'action/dist/main.mjs']),
    );
    expect(await listTar('real', `faultline-chart-${VERSION}.tgz`)).toEqual(
      expect.arrayContaining(['faultline/Chart.yaml', 'faultline/templates/api.yaml']),
    );
    const file = (out: string) => readFile(join(folder, out, `faultline-chart-${VERSION}.tgz`));
    expect((await file('real')).equals(await file('dry'))).toBe(true);
  });

  it(
    "records what each file was built from, in a form that in-toto's reference implementation reads",
    async () => {
      const name = `faultline-${VERSION}.intoto.json`;
      const { subject, predicate } = Provenance.parse(JSON.parse(await readOut('real', name)));
      const { externalParameters, resolvedDependencies } = predicate.buildDefinition;
      expect(externalParameters.version).toBe(VERSION);
      expect(resolvedDependencies[0]?.digest).toEqual({ gitCommit: await run('git', 'rev-parse', 'HEAD') });
      const checksums = await readOut('real', 'SHA256SUMS');
      for (const { name: built, digest } of subject)
        expect(checksums).toContain(`${digest.sha256}  ${built}\n`);
      expect(subject).toHaveLength(FILES.length - 2);

      const python = join(folder, 'python');
      await run(
        'python3',
        '-m',
        'pip',
        'install',
        '--quiet',
        '--target',
        python,
        'in-toto-attestation==0.9.3',
      );
      await promisify(execFile)('python3', ['-c', VALIDATE, join(folder, 'real', name)], {
        env: { ...process.env, PYTHONPATH: python },
      });
    },
    LIMIT_MS,
  );

  it('refuses a version that is not newer, and a folder that is not empty', async () => {
    await expect(release('real', '--dry-run', '--no-image')).rejects.toThrow(/99\.1\.0 is not newer/);
    await run('git', 'reset', '--quiet', '--hard', 'HEAD~1');
    await expect(release('real', '--dry-run', '--no-image')).rejects.toThrow(/is not empty/);
  });
});
