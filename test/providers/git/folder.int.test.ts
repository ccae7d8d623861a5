import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLocalGitHost } from '../../../src/providers/git/clone.ts';
import { createFolderHost } from '../../../src/providers/git/folder.ts';
import { listFiles } from '../../../src/tools/list-files.ts';
import { searchCode } from '../../../src/tools/search-code.ts';
import { createToolbox } from '../../../src/tools/toolbox.ts';
import { createGitRepository } from '../../support/git-repository.ts';
import { sampleBuild } from '../../support/sample-build.ts';
import { sampleSubject } from '../../support/subject.ts';

const FILES = {
  'src/cart.ts': 'export const rate = 0.19;\nexport function addTax() {}\n',
  'src/deep/er/total.py': 'def total_of_cart():\n    return 1\n',
  'docs/a.md': 'the function addTax adds the tax\n',
};
const signal = new AbortController().signal;
const at = { repository: 'shop', ref: 'folder' } as const;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-folder-'));
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await symlink('/etc/passwd', join(folder, 'passwd'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a folder lists and reads its files, and refuses every path that leads outside', async () => {
  const host = createFolderHost('shop', folder);
  expect((await host.listFiles({ ...at, limit: 10 }, signal)).paths).toEqual(Object.keys(FILES).sort());
  expect((await host.readFile({ ...at, path: 'src/cart.ts' }, signal))?.totalLines).toBe(2);
  await expect(host.readFile({ ...at, path: '../outside' }, signal)).rejects.toMatchObject({
    code: 'invalid-input',
  });
  await expect(host.readFile({ ...at, path: 'passwd' }, signal)).rejects.toMatchObject({
    code: 'unsupported-type',
  });
  expect(await host.search({ ...at, text: 'root:', limit: 5 }, signal)).toEqual([]);
  expect(await host.canRead('other/repository')).toBe(false);
});

it('a regular expression that would backtrack is searched for in linear time', async () => {
  const host = createFolderHost('shop', folder);
  await writeFile(join(folder, 'src/aaa.ts'), `${'a'.repeat(900)}!\n`.repeat(100));
  expect(await host.search({ ...at, text: '(a+)+$', limit: 5, isPattern: true }, signal)).toEqual([]);
  await rm(join(folder, 'src/aaa.ts'));
});

it('a folder and a clone find the same lines by regular expression and globs', async () => {
  const clone = createGitRepository();
  clone.commit(FILES, 'Add the shop');
  const hosts = [
    { host: createFolderHost('shop', folder), commit: 'folder' },
    { host: createLocalGitHost({ clones: { shop: clone.folder } }), commit: clone.git('rev-parse', 'HEAD') },
  ];
  for (const { host, commit } of hosts) {
    const toolbox = createToolbox([searchCode(host), listFiles(host)], { mask: (text) => text });
    const subject = sampleSubject({ build: { ...sampleBuild(), repository: 'shop', commit } });
    const run = (tool: string, args: Record<string, unknown>) =>
      toolbox.run({ tool, args, why: '' }, subject, 'CODE_ERROR', signal);
    const found = await run('search_code', { text: 'add[A-Z]\\w+', pattern: true, files: ['*.{ts,py}'] });
    expect(found.findings.map(({ source, lineStart }) => `${source}:${lineStart}`)).toEqual([
      'src/cart.ts:2',
    ]);
    expect(await run('search_code', { text: '(', pattern: true })).toMatchObject({
      status: 'invalid-arguments',
    });
    const listed = await run('list_files', { depth: 1 });
    expect(listed.findings[0]?.text.split('\n').sort()).toEqual(['docs/ (1)', 'src/ (2)']);
    const globbed = await run('list_files', { globs: ['src/**/*.py'] });
    expect(globbed.findings[0]?.text).toBe('src/deep/er/total.py');
  }
  clone.remove();
});
