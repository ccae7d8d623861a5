import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

it('the documentation states the figures that the command prints for sources left out', async () => {
  const command = join(ROOT, 'scripts/parts/bench/bench-figures.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [command]);
  for (const line of stdout.split('\n').filter((one) => one !== ''))
    expect(read('docs/evidence/bound.md')).toContain(line);
  const [, failures = '', found = ''] =
    /^\| source: all \| (\d+) \|.*\| [^|;]+; (\d+ of \d+)[^|]* \|$/m.exec(stdout) ?? [];
  expect(found).not.toBe('');
  expect(read('README.md')).toContain(`(found: ${found})`);
  expect(read('README.md')).toContain(`${Number(failures).toLocaleString('en')} failures`);
});
