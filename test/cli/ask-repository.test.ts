import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { runFaultline } from './faultline.ts';

const Answer = z.object({
  text: z.string(),
  title: z.string(),
  shape: z.string(),
  threadId: z.string(),
  position: z.int(),
  citations: z.array(z.object({ source: z.string(), lineStart: z.int().optional() })),
});

const FILES = {
  'README.md': '# Shop\n\nA small shop that sells coffee to people in offices.\n',
  'llms.txt': '# Shop\n\n> The shop in one line for models that read it.\n',
  'package.json': '{ "name": "shop", "dependencies": { "fastify": "5" } }\n',
  'src/cart.js':
    "const fs = require('node:fs')\n\n/** Adds the tax of a country to the net price. */\nfunction addTax (net, country) {\n  return net * rateOf(country)\n}\n\nfunction checkout (cart) {\n  return addTax(cart.net, cart.country)\n}\n",
};

let folder = '';
const write = async (root: string, files: Readonly<Record<string, string>>) => {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
};
const make = async (name: string, files: Readonly<Record<string, string>>) => {
  const root = join(folder, name);
  await write(root, files);
  return root;
};
const ask = async (target: string, question: string, ...more: string[]) => {
  const args = ['ask', target, question, '--json', '--data', join(folder, 'data'), ...more];
  const { code, stdout, stderr } = await runFaultline(args);
  return { code, stderr, answer: code === 0 ? Answer.parse(JSON.parse(stdout)) : null };
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-ask-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

// Each question starts a process of its own.
describe('a folder without git', { timeout: 120_000 }, () => {
  it('answers where something is, what it does and who calls it, with file and line', async () => {
    const shop = await make('shop', FILES);
    const where = await ask(shop, 'where is addTax?');
    expect(where.answer?.text).toContain(
      'src/cart.js:4 defines the function addTax: “function addTax (net, country) {”',
    );
    expect(where.answer?.citations).toEqual([
      expect.objectContaining({ source: 'src/cart.js', lineStart: 3 }),
    ]);
    expect((await ask(shop, 'what does addTax do?')).answer?.text).toContain(
      'Its comment says: “Adds the tax of a country to the net price.”',
    );
    expect((await ask(shop, 'what calls addTax?')).answer?.text).toContain('src/cart.js:9 (in checkout)');
    expect((await ask(shop, 'how does addTax work?')).answer).toMatchObject({
      shape: 'journey',
      title: 'Life of addTax',
    });
  });

  it('reads llms.txt as documentation, not as a log', async () => {
    const { answer } = await ask(await make('documented', FILES), 'what is this project?');
    expect(answer?.text).toContain('llms.txt says: “The shop in one line for models that read it.”');
    expect(answer?.text).not.toMatch(/green|failed|build/i);
  });

  it('gives no answer about history, unknown names and unknown forms of question', async () => {
    const shop = await make('silent', FILES);
    expect((await ask(shop, 'who changed addTax?')).answer?.text).toContain('has no git history');
    expect((await ask(shop, 'where is addVat?')).answer?.text).toContain('I found no definition of addVat');
    const other = await ask(shop, 'is the tax of Norway right?');
    expect(other.answer?.text).toContain('I cannot answer this question');
    expect(other.answer?.citations).toEqual([]);
  });

  it('follows no link out of the folder, and reads no binary file and no line of 50 MB', async () => {
    const shop = await make('hostile', {
      ...FILES,
      'src/huge.js': `function hugeThing() {${'x'.repeat(50 * 1024 * 1024)}}\n`,
      'src/binary.js': 'function binaryThing() {}\0\0\0',
    });
    await writeFile(join(folder, 'secret.js'), 'function secretThing() {}\n');
    await symlink(join(folder, 'secret.js'), join(shop, 'src/link.js'));
    await symlink('cart.js', join(shop, 'src/inside.js'));
    await symlink('/', join(shop, 'src/root'));
    for (const name of ['secretThing', 'hugeThing', 'binaryThing'])
      expect((await ask(shop, `where is ${name}?`)).answer?.text).toContain('I found no definition');
    expect((await ask(shop, 'where is addTax?')).answer?.text).toContain('src/inside.js:4');
  });
});

describe('a clone', () => {
  let clone: GitRepository;
  beforeAll(() => {
    clone = createGitRepository();
    clone.commit(FILES, 'Add the shop');
    const rounded = FILES['src/cart.js'].replace(
      'net * rateOf(country)',
      'Math.round(net * rateOf(country))',
    );
    clone.commit({ 'src/cart.js': rounded }, 'Round the tax', 'Grace');
  });
  afterAll(() => clone.remove());

  it('answers who changed a function and a file', async () => {
    const text = (await ask(clone.folder, 'who changed addTax?')).answer?.text;
    expect(text).toMatch(/addTax was last changed by [0-9a-f]{10} Grace, 2026-01-01: Round the tax/);
    expect((await ask(clone.folder, 'who changed package.json?')).answer?.text).toContain('Ada, 2026-01-01');
  });

  it('uses the last commit, and names it', async () => {
    await write(clone.folder, { 'src/new.js': 'function notCommitted () {}\n' });
    const { answer, stderr } = await ask(clone.folder, 'where is notCommitted?');
    expect(answer?.text).toContain('I found no definition');
    expect(stderr).toContain('changes that are not committed are not read');
  });
});

describe('sessions', () => {
  it('are continued with --resume, in the folder that is given', async () => {
    const shop = await make('resumed', FILES);
    const sessions = join(folder, 'kept-sessions');
    const first = await ask(shop, 'where is addTax?', '--session-dir', sessions);
    const second = await ask(shop, 'what calls it?', '--session-dir', sessions, '--resume');
    expect(second.answer).toMatchObject({ threadId: first.answer?.threadId, position: 2 });
    expect(second.answer?.text).toContain('in checkout');
    const [name = ''] = await readdir(sessions);
    const file = z
      .object({ version: z.int(), learned: z.array(z.string()), stack: z.array(z.string()) })
      .parse(JSON.parse(await readFile(join(sessions, name), 'utf8')));
    expect(file.stack).toContain('JavaScript: 1 file');
    expect(file.learned[0]).toContain('src/cart.js');
  });

  it('of another version are refused with a sentence', async () => {
    const shop = await make('versioned', FILES);
    const sessions = join(folder, 'old-sessions');
    await ask(shop, 'where is addTax?', '--session-dir', sessions);
    const [name = ''] = await readdir(sessions);
    const text = await readFile(join(sessions, name), 'utf8');
    await writeFile(join(sessions, name), text.replace('"version": 1', '"version": 99'));
    const { code, stderr } = await ask(shop, 'and?', '--session-dir', sessions, '--resume');
    expect(code).not.toBe(0);
    expect(stderr).toContain('has version 99 of the session format');
  });
});

describe('a folder with several kinds of content', () => {
  it('is refused with the options to choose from', async () => {
    const mixed = await make('mixed', { ...FILES, 'build.log': 'Error: boom\n' });
    const { code, stderr } = await ask(mixed, 'why?');
    expect(code).not.toBe(0);
    for (const option of ['--logs', '--code']) expect(stderr).toContain(option);
    expect((await ask(mixed, 'where is addTax?', '--code')).answer?.text).toContain('src/cart.js:4');
  });

  it('is a repository even if its tests contain logs, and logs if it contains nothing else', async () => {
    const project = await make('with-fixtures', { ...FILES, 'test/fixtures/build.log': 'Error: boom\n' });
    expect((await ask(project, 'where is addTax?')).code).toBe(0);
    const logs = await make('only-logs', { 'console.log': 'npm test\nError: boom\nnpm ERR! Test failed.\n' });
    const { code, stdout } = await runFaultline([
      'ask',
      logs,
      'why?',
      '--json',
      '--data',
      join(folder, 'data'),
    ]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { kept: true, threadId: expect.stringMatching(/^thr_/) },
    ]);
  });
});
