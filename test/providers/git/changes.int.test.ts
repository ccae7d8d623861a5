import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalGitHost } from '../../../src/providers/git/clone.ts';
import { createGitRepository, type GitRepository } from '../../support/git-repository.ts';

const signal = new AbortController().signal;

describe('changes in a local clone', () => {
  let repository: GitRepository;
  beforeEach(() => {
    repository = createGitRepository();
  });
  afterEach(() => repository.remove());
  const open = (folder = repository.folder, options = {}) =>
    createLocalGitHost({ clones: { 'shop/api': folder }, ...options });
  const createDiff = (commit: string, host = open()) =>
    host.commitDiff({ repository: 'shop/api', commit }, signal);

  it('include the pull request of a commit, found in its merge', async () => {
    repository.commit({ 'a.txt': 'one\n' }, 'One');
    repository.git('switch', '--quiet', '--create', 'work');
    const inside = repository.commit({ 'b.txt': 'two\n' }, 'Work');
    repository.git('switch', '--quiet', 'main');
    const between = repository.commit({ 'c.txt': 'three\n' }, 'Meanwhile');
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.test'];
    repository.git(
      ...identity,
      'merge',
      '--quiet',
      '--no-ff',
      '-m',
      'Merge pull request #31 from shop/work',
      'work',
    );
    const merge = repository.git('rev-parse', 'HEAD');
    repository.commit({ 'd.txt': 'four\n' }, 'Later (#40)');
    expect((await createDiff(inside))?.commit.pullRequest).toBe(31);
    expect((await createDiff(between))?.commit.pullRequest).toBeNull();
    const merged = await createDiff(merge);
    expect(merged?.commit.pullRequest).toBe(31);
    expect(merged?.files.map(({ path }) => path)).toEqual(['b.txt']);
  });

  it('do not include every file at the boundary of a shallow clone', async () => {
    repository.commit({ 'a.txt': 'one\n', 'b.txt': 'two\n' }, 'One');
    const end = repository.commit({ 'a.txt': 'changed\n' }, 'Two');
    const folder = mkdtempSync(join(tmpdir(), 'faultline-shallow-'));
    execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${repository.folder}`, folder]);
    expect(await createDiff(end, open(folder))).toMatchObject({
      commit: { commit: end, files: [] },
      files: [],
      truncated: true,
    });
    rmSync(folder, { recursive: true });
  });

  it('are marked as incomplete above the limit, with long patches cut', async () => {
    const long = Array.from({ length: 3_000 }, (_, row) => `a line with the number ${row}`).join('\n');
    const files = Object.fromEntries(
      Array.from({ length: 310 }, (_, index) => [`f${String(index).padStart(3, '0')}.txt`, 'x\n']),
    );
    const commit = repository.commit({ ...files, 'a-long.txt': long }, 'Many');
    const diff = await createDiff(commit);
    expect(diff?.truncated).toBe(true);
    expect(diff?.files).toHaveLength(300);
    expect(diff?.files[0]).toMatchObject({ path: 'a-long.txt', additions: 3_000 });
    expect(diff?.files[0]?.patch).toHaveLength(20_000);
    const small = await createDiff(commit, open(repository.folder, { maxOutputBytes: 40_000 }));
    expect(small?.truncated).toBe(true);
  });

  it('keep patches with their files, whatever they contain', async () => {
    repository.commit({ 'a.txt': 'one\n', 'kind.txt': 'text\n', 'ü "q".txt': 'one\n' }, 'One');
    rmSync(join(repository.folder, 'kind.txt'));
    execFileSync('ln', ['-s', 'a.txt', join(repository.folder, 'kind.txt')]);
    const forged = 'diff --git a/x b/x\n@@ -1 +1 @@\n-:100644 100644 aaaaaaa bbbbbbb M\n';
    const commit = repository.commit({ 'a.txt': forged, 'ü "q".txt': 'two\n' }, 'Two');
    const files = (await createDiff(commit))?.files ?? [];
    expect(files.map(({ path, additions, deletions }) => [path, additions, deletions])).toEqual([
      ['a.txt', 3, 1],
      ['kind.txt', 1, 1],
      ['ü "q".txt', 1, 1],
    ]);
    expect(files[0]?.patch).toContain('+diff --git a/x b/x\n');
    expect(files[1]?.patch).toContain('+a.txt');
    expect(files[2]?.patch).toBe('@@ -1 +1 @@\n-one\n+two');
  });

  it('are read without starting a program of the clone', async () => {
    const first = repository.commit(
      { 'a.txt': 'one\n', '.gitattributes': '*.txt diff=evil filter=evil\n' },
      'One',
    );
    const second = repository.commit({ 'a.txt': 'two\n' }, 'Two');
    const owned = join(repository.folder, 'owned');
    const program = join(repository.folder, 'program.sh');
    writeFileSync(program, `#!/bin/sh\ntouch ${owned}\n`, { mode: 0o755 });
    for (const name of [
      'diff.external',
      'diff.evil.textconv',
      'diff.evil.command',
      'filter.evil.smudge',
      'core.fsmonitor',
      'core.pager',
    ]) {
      repository.git('config', name, program);
    }
    const host = open();
    expect((await createDiff(second, host))?.files[0]?.patch).toBe('@@ -1 +1 @@\n-one\n+two');
    expect(
      (await host.compare({ repository: 'shop/api', base: first, head: second }, signal))?.files,
    ).toHaveLength(1);
    const lines = { repository: 'shop/api', ref: null, path: 'a.txt', lineStart: 1, lineEnd: 1, limit: 5 };
    expect(await host.lineHistory(lines, signal)).toHaveLength(2);
    await host.searchFiles({ repository: 'shop/api', ref: null, words: ['two'], limit: 5 }, signal);
    expect(() => execFileSync('test', ['-e', owned])).toThrow();
  });

  it("are read independently of the clone's own diff settings", async () => {
    repository.commit({ 'lib/a.txt': 'one\n' }, 'One');
    const second = repository.commit({ 'lib/a.txt': null, 'lib/b.txt': 'one\n' }, 'Two');
    const taste = {
      'diff.renames': 'false',
      'diff.noprefix': 'true',
      'diff.mnemonicPrefix': 'true',
      'color.ui': 'always',
      'log.showRoot': 'false',
    };
    for (const [name, value] of Object.entries(taste)) repository.git('config', name, value);
    expect((await createDiff(second))?.files).toMatchObject([
      { path: 'lib/b.txt', previousPath: 'lib/a.txt', status: 'renamed' },
    ]);
  });

  it('are absent between unrelated histories', async () => {
    repository.commit({ 'a.txt': 'one\n' }, 'One');
    repository.git('switch', '--quiet', '--orphan', 'other');
    repository.commit({ 'b.txt': 'two\n' }, 'Two');
    expect(await open().compare({ repository: 'shop/api', base: 'main', head: 'other' }, signal)).toBeNull();
  });
});
