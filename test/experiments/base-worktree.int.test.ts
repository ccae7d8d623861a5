import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findBase } from '../../src/experiments/base-worktree.ts';
import { type Checkout, withCheckout } from '../../src/experiments/checkout.ts';
import { findBaseCommit } from '../../src/experiments/history.ts';
import { openRepository } from '../../src/experiments/repository.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';

let origin: GitRepository;
let checkout: GitRepository;
beforeEach(() => {
  origin = createGitRepository();
  origin.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  checkout = createGitRepository();
  checkout.git('remote', 'add', 'origin', `file://${origin.folder}`);
});
afterEach(() => {
  origin.remove();
  checkout.remove();
});

const place = () => ({ cwd: checkout.folder, env: process.env });
const repository = () => openRepository(place());
const within = async <Found>(ask: (found: Checkout) => Promise<Found>) =>
  (await withCheckout(place(), async (need) => ({ notes: [], found: await ask(need()) }))).found;

/** Main went on after the branch had begun; as actions/checkout has it. */
function createBranchClone(...depth: readonly string[]) {
  const began = origin.commit({ 'a.txt': '1' }, 'begin');
  origin.git('checkout', '--quiet', '-b', 'work');
  origin.commit({ 'b.txt': '1' }, 'work');
  const head = origin.commit({ 'b.txt': '2' }, 'work on');
  origin.git('checkout', '--quiet', 'main');
  const main = origin.commit({ 'a.txt': '2' }, 'go on');
  const check = (commit: string) => {
    checkout.git('fetch', '--quiet', ...depth, 'origin', commit);
    checkout.git('checkout', '--quiet', '--detach', commit);
  };
  return { began, head, main, check };
}

describe('the base of a commit', () => {
  test.each([
    ['shallow', ['--depth=1']],
    ['whole', []],
  ] as const)('is where its branch began, not the present main, in a %s clone', async (kind, depth) => {
    const { began, head, main, check } = createBranchClone(...depth);
    check(head);

    expect(await findBaseCommit(await repository(), main)).toBe(began);
    expect(await findBaseCommit(await repository(), 'main')).toBe(began);
    expect(checkout.git('rev-parse', '--is-shallow-repository')).toEqual(
      kind === 'whole' ? 'false' : expect.any(String),
    );
  });

  test('is the parent of a merge in a clone without its history', async () => {
    const { head, main, check } = createBranchClone('--depth=1');
    origin.git('checkout', '--quiet', '--detach', main);
    origin.git('-c', 'user.name=Ada', 'merge', '--quiet', '--no-edit', head);
    check(origin.git('rev-parse', 'HEAD'));

    expect(await findBaseCommit(await repository(), main)).toBe(main);
    expect(checkout.git('rev-list', '--count', main)).toBe('1');
  });

  test('is unknown if it cannot be fetched, has no common commit, or is the built commit itself', async () => {
    const { head, check } = createBranchClone();
    origin.git('checkout', '--quiet', '--orphan', 'other');
    const other = origin.commit({ 'c.txt': '1' }, 'other');
    check(head);

    for (const name of [head, other, 'no-such-branch', '0123456789'.repeat(4), '--upload-pack=touch'])
      expect(await findBaseCommit(await repository(), name), name).toBeNull();
  });

  test('of a named branch is the merge base', async () => {
    const { began, head, check } = createBranchClone();
    check(head);
    checkout.git('fetch', '--quiet', 'origin', 'main:main');

    expect(await within(async (found) => await findBase(found, 'main'))).toBe(began);
  });
});

test('a checkout whose files were only copied or touched counts as unchanged', async () => {
  const head = checkout.commit({ 'a.txt': '1' }, 'begin');
  utimesSync(join(checkout.folder, 'a.txt'), new Date(0), new Date(0));
  expect(await within((found) => found.currentState())).toEqual({ commit: head, isCommitted: true });
  writeFileSync(join(checkout.folder, 'a.txt'), '2');
  expect((await within((found) => found.currentState())).isCommitted).toBe(false);
});
