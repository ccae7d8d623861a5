import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
/** A call of the platform's fetch, or of a client that dials by itself. */
const CALLS =
  /(?<![\w.])fetch\(|new (?:pg\.)?(?:Octokit|PatientOctokit|MongoClient|Redis|Pool|Client|WebSocket)\(|request(?: as \w+)? \} from 'node:https?'|from 'undici'|import\(PACKAGE\)/;
const FETCH = /(?<![\w.])fetch\(/;

async function readSources(): Promise<{ readonly path: string; readonly text: string }[]> {
  const below = async (folder: string) =>
    (await readdir(join(ROOT, folder), { recursive: true })).map((name) => `${folder}/${name}`);
  const paths = (await Promise.all(['src', 'action/src'].map(below)))
    .flat()
    .filter((path) => path.endsWith('.ts'));
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(ROOT, path), 'utf8') })));
}

const calling = (await readSources()).filter(({ text }) => CALLS.test(withoutComments(text)));

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
}

test('T59: every file that makes outward calls is in the table of docs/explanation/outward-calls.md', async () => {
  const table = await readFile(join(ROOT, 'docs/explanation/outward-calls.md'), 'utf8');
  expect(calling.length).toBeGreaterThan(10);
  expect(calling.map(({ path }) => path).filter((path) => !table.includes(`\`${path}\``))).toEqual([]);
});

test('T60: every fetch states its redirect handling and its time limit', () => {
  const careless = calling
    .filter(({ path, text }) => FETCH.test(withoutComments(text)) && !path.startsWith('src/ports/'))
    .filter(({ text }) => !/redirect: '(?:manual|error)'/.test(text) || !/\bsignal\b/.test(text));
  expect(careless.map(({ path }) => path)).toEqual([]);
});
