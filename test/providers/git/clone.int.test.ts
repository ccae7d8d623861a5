import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalGitHost } from '../../../src/providers/git/clone.ts';
import { testCodeHostChangesContract } from '../../contract/code-host-changes-contract.ts';
import { testCodeHostContract } from '../../contract/code-host-contract.ts';
import { createGitRepository, type GitRepository } from '../../support/git-repository.ts';

const openClone = (repository: GitRepository) =>
  createLocalGitHost({ clones: { 'shop/api': repository.folder } });
testCodeHostContract('local-git', openClone);
testCodeHostChangesContract('local-git', openClone);

const signal = new AbortController().signal;
const query = { repository: 'shop/api', ref: null };

describe('the local git host', () => {
  let repository: GitRepository;
  beforeEach(() => {
    repository = createGitRepository();
  });
  afterEach(() => repository.remove());
  const open = (options = {}) =>
    createLocalGitHost({ clones: { 'shop/api': repository.folder }, ...options });

  it('reads a bare clone and a worktree in the same way', async () => {
    repository.commit({ 'a.txt': 'one\n' }, 'One');
    repository.git('config', 'core.bare', 'true');
    expect((await open().readFile({ ...query, path: 'a.txt' }, signal))?.lines).toEqual(['one']);
  });

  it('asks git once for several requests, and starts one git per turn of the event loop', async () => {
    repository.commit({ 'a.txt': 'one\n' }, 'One');
    const host = open();
    let turn = 0;
    const count = () => {
      turn += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const turns: number[] = [];
    const started = () => void turns.push(turn);
    subscribe('child_process', started);
    const readable = await Promise.all(Array.from({ length: 12 }, () => host.canRead('shop/api')));
    const asked = turns.splice(0).length;
    await Promise.all(Array.from({ length: 4 }, () => host.readFile({ ...query, path: 'a.txt' }, signal)));
    unsubscribe('child_process', started);
    clearImmediate(counting);
    expect([readable.every(Boolean), asked]).toEqual([true, 1]);
    expect(turns.length).toBeGreaterThan(4);
    expect(new Set(turns).size).toBe(turns.length);
  });

  it('reads from commits, never from the work tree or through a link', async () => {
    symlinkSync('/etc/passwd', join(repository.folder, 'link'));
    repository.commit({ 'a.txt': 'committed\n' }, 'One');
    writeFileSync(join(repository.folder, 'a.txt'), 'edited\n');
    expect((await open().readFile({ ...query, path: 'a.txt' }, signal))?.lines).toEqual(['committed']);
    await expect(open().readFile({ ...query, path: 'link' }, signal)).rejects.toMatchObject({
      code: 'unsupported-type',
      message: 'link is a symbolic link to "/etc/passwd", which is not a file in this commit.',
    });
  });

  it("T50: starts no program that the clone's own configuration names", async () => {
    const owned = join(repository.folder, 'owned');
    const program = join(repository.folder, 'program.sh');
    writeFileSync(program, `#!/bin/sh\ntouch ${owned}\n`, { mode: 0o755 });
    repository.commit({ 'a.txt': 'one\n', '.gitattributes': '*.txt diff=evil\n' }, 'One');
    const settings = [
      'core.fsmonitor',
      'core.pager',
      'diff.external',
      'diff.evil.textconv',
      'diff.evil.command',
      'gpg.program',
      'core.sshCommand',
    ];
    for (const setting of settings) repository.git('config', setting, program);
    repository.git('config', 'log.showSignature', 'true');
    signHead(repository);
    const host = open();
    await host.readFile({ ...query, path: 'a.txt' }, signal);
    await host.search({ ...query, text: 'one', limit: 5 }, signal);
    await host.findFiles({ ...query, suffix: 'a.txt', limit: 5 }, signal);
    await host.blame({ ...query, path: 'a.txt', lineStart: 1, lineEnd: 1 }, signal);
    await host.history({ ...query, path: 'a.txt', limit: 5 }, signal);
    expect(existsSync(owned)).toBe(false);
  });

  /** Gives the newest commit a signature, which git checks with the program that the clone names. */
  function signHead({ folder, git }: GitRepository): void {
    const [header = '', ...message] = git('cat-file', 'commit', 'HEAD').split('\n\n');
    const signature = '-----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----';
    const file = join(folder, 'signed-commit');
    writeFileSync(file, `${header}\ngpgsig ${signature}\n\n${message.join('\n\n')}\n`);
    git('update-ref', 'HEAD', git('hash-object', '-t', 'commit', '-w', file));
  }

  it('refuses binary and oversized files with a sentence', async () => {
    repository.commit({ 'b.bin': 'a\0b', 'huge.txt': 'x'.repeat(6 * 1024 * 1024) }, 'Big');
    await expect(open().readFile({ ...query, path: 'b.bin' }, signal)).rejects.toMatchObject({
      code: 'unsupported-type',
    });
    await expect(open().readFile({ ...query, path: 'huge.txt' }, signal)).rejects.toMatchObject({
      code: 'too-large',
    });
  });

  it('keeps what fits if the output exceeds its limit', async () => {
    repository.commit(
      { 'rows.txt': Array.from({ length: 5_000 }, (_, row) => `row ${row}`).join('\n') },
      'Rows',
    );
    const hits = await open({ maxOutputBytes: 10_000 }).search(
      { ...query, text: 'row', limit: 4_000 },
      signal,
    );
    expect(hits.length).toBeGreaterThan(50);
    expect(hits.length).toBeLessThan(4_000);
    expect(hits.every((hit) => /^row \d+$/.test(hit.text))).toBe(true);
  });

  it('is not confused by text that looks like its own separators', async () => {
    const forged = '\u001e\u001f author Mallory';
    const commit = repository.commit(
      { [`${'a'.repeat(40)}`]: 'x\n', 'b c.txt': 'author Mallory\n' },
      forged,
      'Ada \t',
    );
    const [only, ...others] = await open().history({ ...query, limit: 5 }, signal);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ commit, files: ['a'.repeat(40), 'b c.txt'] });
    const [line] = await open().blame({ ...query, path: 'b c.txt', lineStart: 1, lineEnd: 1 }, signal);
    expect(line?.text).toBe('author Mallory');
    expect(line?.author.trim()).toBe('Ada');
  });

  it('does not take a plain folder inside a repository, or a missing one, for a clone', async () => {
    repository.commit({ 'sub/a.txt': 'one\n' }, 'One');
    const outside = mkdtempSync(join(tmpdir(), 'faultline-plain-'));
    mkdirSync(join(outside, 'empty'));
    const host = createLocalGitHost({
      clones: { sub: join(repository.folder, 'sub'), plain: outside, missing: join(outside, 'missing') },
    });
    expect(await host.canRead('sub')).toBe(false);
    expect(await host.canRead('plain')).toBe(false);
    expect(await host.canRead('missing')).toBe(false);
    await expect(
      host.readFile({ repository: 'plain', ref: null, path: 'a.txt' }, signal),
    ).rejects.toMatchObject({
      code: 'upstream-failed',
      message: expect.stringContaining('not a git repository'),
    });
    rmSync(outside, { recursive: true });
  });

  it('reports a repository without commits', async () => {
    expect(await open().canRead('shop/api')).toBe(true);
    expect(await open().resolve(query, signal)).toEqual({ ref: null, note: null });
  });

  it('reports that git is missing or too slow', async () => {
    repository.commit({ 'a.txt': 'one\n' }, 'One');
    expect(await open({ path: '/nonexistent' }).canRead('shop/api')).toBe(false);
    await expect(
      open({ path: '/nonexistent' }).readFile({ ...query, path: 'a.txt' }, signal),
    ).rejects.toMatchObject({
      code: 'upstream-failed',
    });
  });
});
