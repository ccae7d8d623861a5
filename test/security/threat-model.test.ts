import { glob, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const DOCS = ['threat-model.md', 'security.md', 'access.md', 'bad-days.md'];

/** The files that a line of a document names, as globs from the root. */
function filesIn(line: string): string[] {
  return [...line.matchAll(/`((?:[\w.*-]+\/)*[\w.*-]+(?:\.ts|\/audit))`/g)]
    .map(([, path = '']) => path)
    .map((path) => (/^(?:src|test|scripts|docs|action)\//.test(path) ? path : `test/${path}`));
}

async function matches(pattern: string): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd: ROOT })) found.push(path);
  return found;
}

const lines = await Promise.all(
  DOCS.map(async (name) => (await readFile(join(ROOT, 'docs', name), 'utf8')).split('\n').map((line) => ({ name, line }))),
).then((all) => all.flat());

test('every file that the documents on security name exists', async () => {
  const named = lines.flatMap(({ name, line }) => filesIn(line).map((path) => ({ name, path })));
  expect(named.length).toBeGreaterThan(60);
  const absent: string[] = [];
  for (const { name, path } of named) if ((await matches(path)).length === 0) absent.push(`${name}: ${path}`);
  expect(absent).toEqual([]);
});

test('every number of a test in a row stands in the title of a test in that row', async () => {
  const missing: string[] = [];
  let numbers = 0;
  for (const { name, line } of lines.filter((one) => one.line.startsWith('|') && /\bT\d\d\b/.test(one.line))) {
    const paths = (await Promise.all(filesIn(line).map(matches))).flat();
    const texts = await Promise.all(paths.map((path) => readFile(join(ROOT, path), 'utf8')));
    for (const [number] of line.matchAll(/\bT\d\d\b/g)) {
      numbers += 1;
      if (!texts.some((text) => new RegExp(`['"\`][^'"\`]*\\b${number}\\b`).test(text)))
        missing.push(`${name}: ${number} in ${line.slice(0, 60)}`);
    }
  }
  expect(numbers).toBeGreaterThan(10);
  expect(missing).toEqual([]);
});

test('every row of the inputs names what proves it', () => {
  const model = lines.filter(({ name }) => name === 'threat-model.md').map(({ line }) => line);
  const from = model.indexOf('## Inputs');
  const rows = model.slice(from, model.indexOf('## Outward calls')).filter((line) => line.startsWith('| ') && !line.startsWith('| input '));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => filesIn(row).length === 0)).toEqual([]);
});
