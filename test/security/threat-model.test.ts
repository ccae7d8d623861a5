import { glob, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const DOCS = [
  'explanation/threat-model.md',
  'explanation/outward-calls.md',
  'explanation/asvs.md',
  'explanation/asvs-input.md',
  'explanation/asvs-identity.md',
  'explanation/asvs-operation.md',
  'explanation/security.md',
  'explanation/masking.md',
  'how-to/access.md',
  'evidence/bad-days.md',
];

/** The files that a line of a document names, as globs from the root. */
function listFilesIn(line: string): string[] {
  return [...line.matchAll(/`((?:[\w.*-]+\/)*[\w.*-]+(?:\.ts|\/audit))`/g)]
    .map(([, path = '']) => path)
    .map((path) => (/^(?:src|test|scripts|docs|action)\//.test(path) ? path : `test/${path}`));
}

async function listMatches(pattern: string): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd: ROOT })) found.push(path);
  return found;
}

const lines = await Promise.all(
  DOCS.map(async (name) =>
    (await readFile(join(ROOT, 'docs', name), 'utf8')).split('\n').map((line) => ({ name, line })),
  ),
).then((all) => all.flat());

test('every file that the security documents name exists', async () => {
  const named = lines.flatMap(({ name, line }) => listFilesIn(line).map((path) => ({ name, path })));
  expect(named.length).toBeGreaterThan(60);
  const absent: string[] = [];
  for (const { name, path } of named)
    if ((await listMatches(path)).length === 0) absent.push(`${name}: ${path}`);
  expect(absent).toEqual([]);
});

test('every test number in a table row is in the title of a test in that row', async () => {
  const missing: string[] = [];
  let numbers = 0;
  for (const { name, line } of lines.filter(
    (other) => other.line.startsWith('|') && /\bT\d\d\b/.test(other.line),
  )) {
    const paths = (await Promise.all(listFilesIn(line).map(listMatches))).flat();
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

test('every check at a trust boundary names its test', () => {
  const model = lines.filter(({ name }) => name === 'explanation/threat-model.md').map(({ line }) => line);
  const from = model.indexOf('## Borders');
  const rows = model
    .slice(from, model.indexOf('## Not defended'))
    .filter((line) => line.startsWith('| ') && !line.startsWith('| check '));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => listFilesIn(row).length === 0)).toEqual([]);
});

test('each requirement of ASVS 5.0, levels 1 and 2, is listed once, with a test or a reason, and the counts are correct', () => {
  const page = lines
    .filter(({ name }) => name.startsWith('explanation/asvs'))
    .map(({ line }) => line.split('|').map((cell) => cell.trim()));
  const tabled = page.flatMap(([, id = '', , , state = '', proof = '']) =>
    /^V\d+\.\d+\.\d+$/.test(id) ? [{ id, state, proof }] : [],
  );
  const listed = page.flatMap(([line = '']) => {
    const [, ids = '', proof = ''] = /^- ((?:V[\d.]+(?:, )?)+): (.+)$/.exec(line) ?? [];
    return ids === '' ? [] : ids.split(', ').map((id) => ({ id, state: 'not applicable', proof }));
  });
  const rows = [...tabled, ...listed];
  expect(new Set(rows.map(({ id }) => id)).size).toBe(253);
  expect(rows).toHaveLength(253);
  expect(rows.filter(({ proof }) => proof === '')).toEqual([]);
  expect(
    rows.filter(({ state, proof }) => state === 'met' && !/`/.test(proof) && !/SECURITY\.md/.test(proof)),
  ).toEqual([]);
  for (const [, chapter = '', ...counts] of page) {
    const [, which] = /^(all|V\d+) /.exec(chapter) ?? [];
    if (which === undefined || counts.length !== 4) continue;
    const own = rows.filter(({ id }) => which === 'all' || id.startsWith(`${which}.`));
    const counted = ['met', '**not met**', 'not applicable'].map(
      (state) => own.filter((row) => row.state === state).length,
    );
    expect([chapter, ...counted.map(String)]).toEqual([chapter, ...counts.slice(0, 3)]);
  }
});
