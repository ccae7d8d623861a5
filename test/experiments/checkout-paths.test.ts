import { expect, test } from 'vitest';
import { moveCommand } from '../../src/experiments/checkout-paths.ts';

const moved = (argv: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  moveCommand({ argv, env }, { folder: '/shop', cwd: '/shop/web' }, { folder: '/tmp/base', cwd: '/tmp/base/web' });

test.each([
  ['/shop/tests/test_a.py', '/tmp/base/tests/test_a.py'],
  ['--rootdir=/shop', '--rootdir=/tmp/base'],
  ['-I/shop/lib', '-I/tmp/base/lib'],
  ['a:/shop/lib:/shop', 'a:/tmp/base/lib:/tmp/base'],
  ['file:///shop/a.js', 'file:///tmp/base/a.js'],
  ['/shopping/a.js', '/shopping/a.js'],
  ['/old/shop/a.js', '/old/shop/a.js'],
  ['tests/a.js', 'tests/a.js'],
])('an argument that names a path of the checkout names that of the worktree: %s', (word, expected) => {
  expect(moved([word]).argv).toEqual([expected]);
});

test('variables that tell where the code is are those of the worktree, and no others', () => {
  const env = { PYTHONPATH: '/shop/src:/lib', GITHUB_WORKSPACE: '/shop', HOME: '/shop', PATH: '/shop/.venv/bin:/bin' };
  expect(moved([], env).env).toEqual({ ...env, PYTHONPATH: '/tmp/base/src:/lib', GITHUB_WORKSPACE: '/tmp/base' });
});

test('nothing is moved in the checkout itself, nor where there is none', () => {
  const command = { argv: ['/shop/a.js', '/a.js'], env: { PWD: '/shop' } };
  const shop = { folder: '/shop', cwd: '/shop' };
  expect(moveCommand(command, shop, { folder: '/shop', cwd: '/shop/web' })).toEqual(command);
  expect(moveCommand(command, { folder: '/', cwd: '/' }, shop)).toEqual(command);
});
