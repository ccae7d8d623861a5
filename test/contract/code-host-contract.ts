import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeHost } from '../../src/ports/code-host.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';

const REPOSITORY = 'shop/api';
const signal = new AbortController().signal;

interface SampleCommits {
  readonly first: string;
  readonly second: string;
}

/** Two commits by two people: the second changes line 2 of `src/cart/tax.ts` and adds a long file. */
function commitSample(repository: GitRepository): SampleCommits {
  const tax = ['export function tax(net: number) {', '  return net * 0.19;', '}'];
  const first = repository.commit(
    {
      'src/cart/tax.ts': `${tax.join('\n')}\n`,
      'src/index.ts': 'export {};\n',
      'lib/index.ts': 'export {};\n',
      'README.md': 'tax\n',
    },
    'Add the tax',
  );
  const rounded = [tax[0], '  return Math.round(net * 19) / 100;', tax[2]];
  const long = Array.from({ length: 500 }, (_, index) => `row ${index + 1}`);
  const second = repository.commit(
    { 'src/cart/tax.ts': `${rounded.join('\n')}\n`, 'data/rows.txt': long.join('\n') },
    'Round the tax',
    'Grace',
  );
  return { first, second };
}

/** What every code host promises. `open` is given a real repository to serve as `shop/api`. */
export function testCodeHostContract(
  name: string,
  open: (repository: GitRepository) => CodeHost | Promise<CodeHost>,
): void {
  describe(`code host: ${name}`, () => {
    let repository: GitRepository;
    let commits: SampleCommits;
    let host: CodeHost;
    const at = (path: string, ref: string | null = null) => ({ repository: REPOSITORY, ref, path });

    beforeAll(async () => {
      repository = createGitRepository();
      commits = commitSample(repository);
      host = await open(repository);
    });
    afterAll(() => repository.remove());

    it('lists the repositories that it can read', async () => {
      expect(await host.canRead(REPOSITORY)).toBe(true);
      expect(await host.canRead('someone/else')).toBe(false);
      expect(await host.canRead('constructor')).toBe(false);
    });

    it('names the commit that was used, with a note if it replaces another', async () => {
      expect(await host.resolve({ repository: REPOSITORY, ref: commits.first }, signal)).toEqual({
        ref: commits.first,
        note: null,
      });
      expect(
        await host.resolve({ repository: REPOSITORY, ref: commits.first.slice(0, 10) }, signal),
      ).toMatchObject({ note: null });
      expect(await host.resolve({ repository: REPOSITORY, ref: null }, signal)).toEqual({
        ref: commits.second,
        note: null,
      });
      const missing = await host.resolve({ repository: REPOSITORY, ref: 'deadbeef'.repeat(5) }, signal);
      expect(missing.ref).toBe(commits.second);
      expect(missing.note).toContain('deadbeefde is not ');
      expect(await host.resolve({ repository: 'someone/else', ref: null }, signal)).toEqual({
        ref: null,
        note: null,
      });
    });

    it('reads a file of a commit, whole or in part', async () => {
      const old = await host.readFile({ ...at('src/cart/tax.ts', commits.first) }, signal);
      expect(old).toEqual({
        path: 'src/cart/tax.ts',
        lineStart: 1,
        lines: ['export function tax(net: number) {', '  return net * 0.19;', '}'],
        totalLines: 3,
      });
      const window = await host.readFile({ ...at('data/rows.txt'), lineStart: 499, lineEnd: 700 }, signal);
      expect(window).toMatchObject({ lineStart: 499, lines: ['row 499', 'row 500'], totalLines: 500 });
    });

    it('reads at most 200 lines per call', async () => {
      expect((await host.readFile({ ...at('data/rows.txt') }, signal))?.lines).toHaveLength(200);
      expect(
        (await host.readFile({ ...at('data/rows.txt'), lineStart: 1, lineEnd: 500 }, signal))?.lines,
      ).toHaveLength(200);
    });

    it('returns null or an empty list for what does not exist', async () => {
      expect(await host.readFile(at('src/absent.ts'), signal)).toBeNull();
      expect(await host.readFile(at('src'), signal)).toBeNull();
      expect(await host.readFile(at('src/cart/tax.ts', 'deadbeef'), signal)).toBeNull();
      expect(
        await host.readFile({ ...at('src/cart/tax.ts'), repository: 'someone/else' }, signal),
      ).toBeNull();
      expect(await host.blame({ ...at('src/absent.ts'), lineStart: 1, lineEnd: 2 }, signal)).toEqual([]);
      expect(await host.blame({ ...at('src/cart/tax.ts'), lineStart: 90, lineEnd: 99 }, signal)).toEqual([]);
      expect(await host.history({ ...at('src/absent.ts'), limit: 5 }, signal)).toEqual([]);
      expect(
        await host.search({ repository: REPOSITORY, ref: null, text: 'no such text', limit: 5 }, signal),
      ).toEqual([]);
      expect(
        await host.findFiles({ repository: REPOSITORY, ref: null, suffix: 'absent.ts', limit: 5 }, signal),
      ).toEqual([]);
    });

    it('searches literally, case-sensitively, up to the limit', async () => {
      const hits = await host.search(
        { repository: REPOSITORY, ref: null, text: 'Math.round(net', limit: 5 },
        signal,
      );
      expect(hits).toEqual([
        { path: 'src/cart/tax.ts', line: 2, text: '  return Math.round(net * 19) / 100;' },
      ]);
      expect(
        await host.search({ repository: REPOSITORY, ref: null, text: 'Math.r.und', limit: 5 }, signal),
      ).toEqual([]);
      expect(
        await host.search({ repository: REPOSITORY, ref: null, text: 'math.round', limit: 5 }, signal),
      ).toEqual([]);
      expect(
        await host.search({ repository: REPOSITORY, ref: null, text: 'row', limit: 7 }, signal),
      ).toHaveLength(7);
      expect(
        await host.search(
          { repository: REPOSITORY, ref: commits.first, text: 'Math.round(net', limit: 5 },
          signal,
        ),
      ).toEqual([]);
    });

    it('finds files by the end of their path, in whole segments, shortest first', async () => {
      const find = (suffix: string) =>
        host.findFiles({ repository: REPOSITORY, ref: null, suffix, limit: 9 }, signal);
      expect(await find('cart/tax.ts')).toEqual(['src/cart/tax.ts']);
      expect(await find('index.ts')).toEqual(['lib/index.ts', 'src/index.ts']);
      expect(await find('dex.ts')).toEqual([]);
    });

    it('returns the author of each line', async () => {
      const lines = await host.blame({ ...at('src/cart/tax.ts'), lineStart: 1, lineEnd: 9 }, signal);
      expect(lines.map(({ line, author, commit }) => [line, author, commit])).toEqual([
        [1, 'Ada', commits.first],
        [2, 'Grace', commits.second],
        [3, 'Ada', commits.first],
      ]);
      expect(lines[1]).toMatchObject({
        subject: 'Round the tax',
        text: '  return Math.round(net * 19) / 100;',
      });
      expect(Date.parse(lines[1]?.at ?? '')).toBe(Date.UTC(2026, 0, 1, 1));
    });

    it('returns the history, newest first, with the files of each commit', async () => {
      const all = await host.history({ repository: REPOSITORY, ref: null, limit: 9 }, signal);
      expect(all.map(({ commit }) => commit)).toEqual([commits.second, commits.first]);
      expect(all[0]).toMatchObject({ author: 'Grace', subject: 'Round the tax' });
      expect([...(all[0]?.files ?? [])].sort()).toEqual(['data/rows.txt', 'src/cart/tax.ts']);
      const ofOne = await host.history({ ...at('README.md'), limit: 9 }, signal);
      expect(ofOne.map(({ commit }) => commit)).toEqual([commits.first]);
    });

    it.each(['../../etc/passwd', '/etc/passwd', 'src/../../x', 'C:\\Windows\\win.ini', 'a\0b', ''])(
      'refuses the path %j',
      async (path) => {
        const refusal = { code: 'invalid-input' };
        await expect(host.readFile(at(path), signal)).rejects.toMatchObject(refusal);
        await expect(host.blame({ ...at(path), lineStart: 1, lineEnd: 2 }, signal)).rejects.toMatchObject(
          refusal,
        );
        await expect(host.history({ ...at(path), limit: 1 }, signal)).rejects.toMatchObject(refusal);
        await expect(
          host.findFiles({ repository: REPOSITORY, ref: null, suffix: path, limit: 1 }, signal),
        ).rejects.toMatchObject(refusal);
      },
    );

    it.each([
      '--upload-pack=touch /tmp/owned',
      '-x',
      'main..other',
      'main:src',
      '@{-1}',
      'HEAD~1',
      ' main',
      '',
    ])('refuses the ref %j', async (ref) => {
      await expect(host.readFile(at('README.md', ref), signal)).rejects.toMatchObject({
        code: 'invalid-input',
      });
      await expect(host.resolve({ repository: REPOSITORY, ref }, signal)).rejects.toMatchObject({
        code: 'invalid-input',
      });
    });

    it('treats text and paths that look like options as text and paths', async () => {
      expect(
        await host.search(
          { repository: REPOSITORY, ref: null, text: '--open-files-in-pager=id', limit: 5 },
          signal,
        ),
      ).toEqual([]);
      expect(await host.readFile(at('--output=x'), signal)).toBeNull();
      expect(await host.history({ ...at('--output=x'), limit: 1 }, signal)).toEqual([]);
      expect(await host.blame({ ...at('--contents=/etc/passwd'), lineStart: 1, lineEnd: 1 }, signal)).toEqual(
        [],
      );
      await expect(
        host.search({ repository: REPOSITORY, ref: null, text: 'a\nb', limit: 5 }, signal),
      ).rejects.toMatchObject({
        code: 'invalid-input',
      });
    });

    it('stops when its signal is aborted', async () => {
      await expect(host.readFile(at('README.md'), AbortSignal.abort())).rejects.toThrow();
    });
  });
}
