import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
/** How many promises there are. */
const PROMISES = 73;

const rows = (await readFile(join(ROOT, 'docs/evidence/acceptance.md'), 'utf8'))
  .split('\n')
  .flatMap((line) => {
    const [, number, , files = ''] = /^\| (\d{1,2}) \| (.+) \| ([^|]+) \|$/.exec(line) ?? [];
    return number === undefined
      ? []
      : [
          {
            number: Number(number),
            files: Array.from(files.matchAll(/`([^`]+)`/g), ([, file = '']) => file),
          },
        ];
  });

/** Numbers in titles: "9, 10: …", "UX 47: …", and "… (UX 47)". */
function numbersIn(text: string): Set<number> {
  const before = text.matchAll(/['`](?:UX )?(\d{1,2}(?:, \d{1,2})*): /g);
  const behind = text.matchAll(/ \((?:UX )?(\d{1,2})\)/g);
  return new Set([...before, ...behind].flatMap(([, found = '']) => found.split(', ').map(Number)));
}

test('every promise has one row', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: PROMISES }, (_, at) => at + 1));
});

test('every file of a row exists, and names the number in the title of a test', async () => {
  const missing: string[] = [];
  for (const { number, files } of rows) {
    if (files.length === 0) missing.push(`${number}: no file`);
    for (const file of files) {
      const text = await readFile(join(ROOT, file), 'utf8').catch(() => null);
      if (text === null) missing.push(`${number}: ${file} does not exist`);
      else if (!numbersIn(text).has(number)) missing.push(`${number}: not in a title of ${file}`);
    }
  }
  expect(missing).toEqual([]);
});
