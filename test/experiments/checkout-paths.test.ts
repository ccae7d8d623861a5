import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findWorkFolder, moveCommand, toFileArgument } from '../../src/experiments/checkout-paths.ts';

const moved = (argv: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  moveCommand(
    { argv, env },
    { folder: '/shop', cwd: '/shop/web', named: '/shop/web' },
    { folder: '/tmp/base', cwd: '/tmp/base/web' },
  );

test.each([
  ['/shop/tests/test_a.py', '/tmp/base/tests/test_a.py'],
  ['--rootdir=/shop', '--rootdir=/tmp/base'],
  ['-I/shop/lib', '-I/tmp/base/lib'],
  ['a:/shop/lib:/shop', 'a:/tmp/base/lib:/tmp/base'],
  ['file:///shop/a.js', 'file:///tmp/base/a.js'],
  ['/shopping/a.js', '/shopping/a.js'],
  ['/old/shop/a.js', '/old/shop/a.js'],
  ['tests/a.js', 'tests/a.js'],
])(
  'an argument that names a path of the checkout names the same path of the worktree: %s',
  (word, expected) => {
    expect(moved([word]).argv).toEqual([expected]);
  },
);

test('variables that contain the path of the code name the worktree, and all others are unchanged', () => {
  const env = {
    PYTHONPATH: '/shop/src:/lib',
    GITHUB_WORKSPACE: '/shop',
    HOME: '/shop',
    PATH: '/shop/.venv/bin:/bin',
  };
  expect(moved([], env).env).toEqual({
    ...env,
    PYTHONPATH: '/tmp/base/src:/lib',
    GITHUB_WORKSPACE: '/tmp/base',
  });
});

test('paths are not replaced in the checkout itself, or without one', () => {
  const command = { argv: ['/shop/a.js', '/a.js'], env: { PWD: '/shop' } };
  const shop = { folder: '/shop', cwd: '/shop', named: '/shop' };
  expect(moveCommand(command, shop, { folder: '/shop', cwd: '/shop/web' })).toEqual(command);
  expect(moveCommand(command, { folder: '/', cwd: '/', named: '/' }, shop)).toEqual(command);
});

test('a folder behind a symbolic link is recognized by both of its paths', () => {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'faultline-paths-')));
  onTestFinished(() => rmSync(outside, { recursive: true }));
  const [shop, web] = [join(outside, 'shop'), join(outside, 'shop/web')];
  for (const folder of ['.git', 'web']) mkdirSync(join(shop, folder), { recursive: true });
  symlinkSync(shop, join(outside, 'link'));
  symlinkSync(web, join(outside, 'web'));
  const base = { folder: '/tmp/base', cwd: '/tmp/base/web' };
  const names: readonly (readonly [string, string, string])[] = [
    ['link/web', 'link/lib/a.js', '/tmp/base/lib/a.js'],
    ['web', 'web/a.js', '/tmp/base/web/a.js'],
    ['shop/web', 'link/a.js', join(outside, 'link/a.js')],
  ];
  for (const [name, word, expected] of names) {
    const found = findWorkFolder(join(outside, name));
    expect(found).toEqual({ folder: shop, cwd: web, named: join(outside, name) });
    expect(
      moveCommand({ argv: [join(outside, word), join(shop, 'b.js')], env: {} }, found, base).argv,
    ).toEqual([expected, '/tmp/base/b.js']);
    expect(toFileArgument(found, join(outside, 'link/web/a.js'))).toBe('a.js');
  }
});
