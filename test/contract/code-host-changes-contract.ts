import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeHost } from '../../src/ports/code-host.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';

const REPOSITORY = 'shop/api';
const signal = new AbortController().signal;
const LFS_POINTER = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n';
const PRICES = [
  'export const net = 1;',
  'export const tax = 2;',
  'export const gross = 3;',
  'export const fee = 4;',
];

interface Commits {
  readonly first: string;
  readonly fee: string;
  readonly moved: string;
  readonly branch: string;
  readonly head: string;
}

/** A file whose lines change one by one and that is moved; odd kinds of files; a branch that main does not have. */
function commitStory(repository: GitRepository): Commits {
  // Alike enough to be known again where it was moved and changed.
  const rest = Array.from({ length: 20 }, (_, row) => `// row ${row}`);
  const price = (lines: readonly string[]) => `${[...lines, ...rest].join('\n')}\n`;
  symlinkSync('lib/price.ts', join(repository.folder, 'link.ts'));
  symlinkSync('../outside', join(repository.folder, 'away'));
  mkdirSync(join(repository.folder, 'vendor/lib'), { recursive: true });
  repository.git('update-index', '--add', '--cacheinfo', `160000,${'ab'.repeat(20)},vendor/lib`);
  const first = repository.commit(
    { 'lib/price.ts': price(PRICES), 'logo.bin': 'a\0b', 'big.dat': LFS_POINTER },
    'Add prices (#7)',
  );
  const dearer = [...PRICES.slice(0, 3), 'export const fee = 40;'];
  const fee = repository.commit({ 'lib/price.ts': price(dearer) }, 'Raise the fee');
  const noted = ['// Prices', ...dearer];
  repository.commit(
    { 'lib/price.ts': price(noted), 'README.md': 'Price and TAX, price\n' },
    'Say what it is',
    'Grace',
  );
  repository.git('switch', '--quiet', '--create', 'side', first);
  const branch = repository.commit({ 'side.txt': 'tax\n' }, 'Work aside');
  repository.git('switch', '--quiet', 'main');
  const moved = repository.commit({ 'lib/price.ts': null, 'src/price.ts': price(noted) }, 'Move the prices');
  const untaxed = [...noted.slice(0, 2), 'export const tax = 0;', ...noted.slice(3)];
  const head = repository.commit(
    { 'src/price.ts': price(untaxed), 'link.ts': null, 'logo.bin': 'c\0d' },
    'Drop the tax',
    'Grace',
  );
  return { first, fee, moved, branch, head };
}

/** What every code host promises of changes, of lists and of odd files. */
export function testCodeHostChangesContract(
  name: string,
  open: (repository: GitRepository) => CodeHost | Promise<CodeHost>,
): void {
  describe(`code host, changes: ${name}`, () => {
    let repository: GitRepository;
    let commits: Commits;
    let host: CodeHost;
    const all = { repository: REPOSITORY, ref: null };

    beforeAll(async () => {
      repository = createGitRepository();
      commits = commitStory(repository);
      host = await open(repository);
    });
    afterAll(() => repository.remove());

    it('follows a line back through changes and renames', async () => {
      const of = async (lineStart: number, lineEnd: number, limit = 9) => {
        const found = await host.lineHistory(
          { ...all, path: 'src/price.ts', lineStart, lineEnd, limit },
          signal,
        );
        return found.map(({ subject }) => subject);
      };
      expect(await of(5, 5)).toEqual(['Raise the fee', 'Add prices (#7)']);
      expect(await of(2, 3)).toEqual(['Drop the tax', 'Add prices (#7)']);
      expect(await of(1, 1)).toEqual(['Say what it is']);
      expect(await of(1, 5, 2)).toEqual(['Drop the tax', 'Say what it is']);
      expect(await of(90, 99)).toEqual([]);
      expect(
        await host.lineHistory({ ...all, path: 'absent.ts', lineStart: 1, lineEnd: 2, limit: 3 }, signal),
      ).toEqual([]);
    });

    it('returns author, time, files and pull request of the commits of a line', async () => {
      const query = { ...all, ref: commits.fee, path: 'lib/price.ts', lineStart: 4, lineEnd: 4, limit: 9 };
      const [raised, added] = await host.lineHistory(query, signal);
      expect(raised).toMatchObject({
        commit: commits.fee,
        author: 'Ada',
        files: ['lib/price.ts'],
        pullRequest: null,
      });
      expect(Date.parse(raised?.at ?? '')).toBe(Date.UTC(2026, 0, 1, 1));
      expect(added).toMatchObject({ commit: commits.first, pullRequest: 7 });
    });

    it('returns the changes of a commit', async () => {
      const diff = await host.commitDiff({ repository: REPOSITORY, commit: commits.head }, signal);
      expect(diff?.commit).toMatchObject({ commit: commits.head, author: 'Grace', subject: 'Drop the tax' });
      expect(diff?.truncated).toBe(false);
      expect(
        diff?.files.map(({ path, status, additions, deletions }) => [path, status, additions, deletions]),
      ).toEqual([
        ['link.ts', 'removed', 0, 1],
        ['logo.bin', 'modified', 0, 0],
        ['src/price.ts', 'modified', 1, 1],
      ]);
      expect(diff?.files[1]?.patch).toBeNull();
      expect(diff?.files[2]?.patch).toMatch(
        /^@@ -1,6 \+1,6 @@[\s\S]*\n-export const tax = 2;\n\+export const tax = 0;\n/,
      );
    });

    it('returns where a file was moved from, and the files of the first commit', async () => {
      const move = await host.commitDiff(
        { repository: REPOSITORY, commit: commits.moved.slice(0, 12) },
        signal,
      );
      const file = {
        path: 'src/price.ts',
        previousPath: 'lib/price.ts',
        status: 'renamed',
        additions: 0,
        deletions: 0,
        patch: null,
      };
      expect(move?.files).toEqual([file]);
      const first = await host.commitDiff({ repository: REPOSITORY, commit: commits.first }, signal);
      expect(first?.commit.pullRequest).toBe(7);
      expect(first?.files.map(({ path }) => path)).toContain('lib/price.ts');
      expect(first?.files.every(({ status }) => status === 'added')).toBe(true);
      expect(
        await host.commitDiff({ repository: REPOSITORY, commit: 'deadbeef'.repeat(5) }, signal),
      ).toBeNull();
      expect(await host.commitDiff({ repository: 'someone/else', commit: commits.first }, signal)).toBeNull();
    });

    it('compares from the merge base on, newest commit first', async () => {
      const ahead = await host.compare(
        { repository: REPOSITORY, base: commits.branch, head: 'main' },
        signal,
      );
      expect(ahead?.commits.map(({ subject }) => subject)).toEqual([
        'Drop the tax',
        'Move the prices',
        'Say what it is',
        'Raise the fee',
      ]);
      expect(ahead?.commits[0]?.files).toContain('src/price.ts');
      expect(ahead?.files.map(({ path }) => path)).not.toContain('side.txt');
      expect(ahead?.files.find(({ path }) => path === 'src/price.ts')).toMatchObject({
        status: 'renamed',
        previousPath: 'lib/price.ts',
      });
      expect(ahead?.truncated).toBe(false);
      const same = await host.compare(
        { repository: REPOSITORY, base: commits.head, head: commits.head },
        signal,
      );
      expect(same).toEqual({ commits: [], files: [], truncated: false });
      expect(
        await host.compare({ repository: REPOSITORY, base: 'deadbeef'.repeat(5), head: 'main' }, signal),
      ).toBeNull();
      expect(
        await host.compare({ repository: 'someone/else', base: 'main', head: 'side' }, signal),
      ).toBeNull();
    });

    it('lists files by name, in the whole repository or in a folder', async () => {
      const paths = ['README.md', 'away', 'big.dat', 'logo.bin', 'src/price.ts'];
      expect(await host.listFiles({ ...all, limit: 50 }, signal)).toEqual({ paths, truncated: false });
      expect(await host.listFiles({ ...all, limit: 2 }, signal)).toEqual({
        paths: paths.slice(0, 2),
        truncated: true,
      });
      expect(await host.listFiles({ ...all, under: 'src', limit: 50 }, signal)).toEqual({
        paths: ['src/price.ts'],
        truncated: false,
      });
      expect(await host.listFiles({ ...all, under: 'sr', limit: 50 }, signal)).toEqual({
        paths: [],
        truncated: false,
      });
      expect((await host.listFiles({ ...all, ref: commits.first, limit: 50 }, signal)).paths).toContain(
        'lib/price.ts',
      );
      expect(await host.listFiles({ ...all, repository: 'someone/else', limit: 5 }, signal)).toEqual({
        paths: [],
        truncated: false,
      });
    });

    it('finds files by words in any case, those with the most different words first', async () => {
      const find = (words: string[], limit = 9) => host.searchFiles({ ...all, words, limit }, signal);
      expect(await find(['price', 'tax'])).toEqual([
        { path: 'README.md', occurrences: 3, words: 2 },
        { path: 'src/price.ts', occurrences: 2, words: 2 },
      ]);
      expect(await find(['EXPORT', 'exp'], 1)).toEqual([{ path: 'src/price.ts', occurrences: 8, words: 2 }]);
      expect(await find(['no such word', '--output=x', '.*'])).toEqual([]);
      const refusal = { code: 'invalid-input' };
      await expect(find([])).rejects.toMatchObject(refusal);
      await expect(find(['a\nb'])).rejects.toMatchObject(refusal);
      await expect(find(Array.from({ length: 17 }, (_, index) => `w${index}`))).rejects.toMatchObject(
        refusal,
      );
    });

    it('follows a link within the commit, and reports files that are not text', async () => {
      const read = (path: string, ref: string | null = commits.first) =>
        host.readFile({ ...all, ref, path }, signal);
      expect(await read('link.ts')).toMatchObject({ path: 'lib/price.ts', totalLines: 24 });
      const kinds = { code: 'unsupported-type' };
      await expect(read('vendor/lib')).rejects.toMatchObject({
        ...kinds,
        message: expect.stringContaining('submodule'),
      });
      await expect(read('big.dat')).rejects.toMatchObject({
        ...kinds,
        message: expect.stringContaining('Git LFS (12345 bytes)'),
      });
      await expect(read('logo.bin')).rejects.toMatchObject({
        ...kinds,
        message: 'logo.bin is not a text file.',
      });
      await expect(read('away')).rejects.toMatchObject({
        ...kinds,
        message: expect.stringContaining('symbolic link to "../outside"'),
      });
      await expect(read('link.ts', commits.moved)).rejects.toMatchObject({
        ...kinds,
        message: expect.stringContaining('lib/price.ts'),
      });
    });

    it('lists the repositories that it can read', async () => {
      expect(await host.listRepositories({ limit: 9 }, signal)).toMatchObject([
        { repository: REPOSITORY, defaultBranch: 'main' },
      ]);
      expect(await host.listRepositories({ limit: 0 }, signal)).toEqual([]);
    });

    it.each(['--output=/tmp/x', 'a..b', '../x', 'main^', ''])('refuses %j as a commit', async (ref) => {
      const refusal = { code: 'invalid-input' };
      await expect(host.commitDiff({ repository: REPOSITORY, commit: ref }, signal)).rejects.toMatchObject(
        refusal,
      );
      await expect(
        host.compare({ repository: REPOSITORY, base: ref, head: 'main' }, signal),
      ).rejects.toMatchObject(refusal);
      await expect(
        host.compare({ repository: REPOSITORY, base: 'main', head: ref }, signal),
      ).rejects.toMatchObject(refusal);
      await expect(host.listFiles({ ...all, ref, limit: 1 }, signal)).rejects.toMatchObject(refusal);
    });
  });
}
