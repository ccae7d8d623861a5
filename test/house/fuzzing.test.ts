import { globSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCpuMs } from '../support/cpu-time.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const targets = globSync('scripts/parts/fuzz/targets/*.ts', { cwd: ROOT });
const found = globSync('test/fixtures/fuzz/*/*', { cwd: ROOT });
const SEED = 'test/fixtures/failures/npm-eresolve/log.txt';

describe.each(targets)('the property that %s tests', (path) => {
  const name = basename(path, '.ts');
  const inputs = found.filter((input) => input.split('/').at(-2) === name);

  it.each([SEED, ...inputs])('holds for %s', async (input) => {
    const { fuzz } = (await import(join(ROOT, path))) as { fuzz(data: Buffer): void | Promise<void> };
    const begun = readCpuMs();
    await fuzz(readFileSync(join(ROOT, input)));
    expect(readCpuMs() - begun).toBeLessThan(5_000);
  });
});

it('every stored input belongs to a target that still exists', () => {
  const known = new Set(targets.map((path) => basename(path, '.ts')));
  expect(found.filter((input) => !known.has(input.split('/').at(-2) ?? ''))).toEqual([]);
});
