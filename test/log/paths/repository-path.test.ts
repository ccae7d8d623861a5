import { describe, expect, it } from 'vitest';
import { listRepositoryPaths } from '../../../src/log/paths.ts';

describe('a path from a log', () => {
  it.each([
    ['src/cart/tax.ts', 'src/cart/tax.ts'],
    ['./src/cart/tax.ts', 'src/cart/tax.ts'],
    ['/home/runner/work/api/api/src/tax.ts', 'src/tax.ts'],
    ['D:\\a\\api\\api\\src\\tax.ts', 'src/tax.ts'],
    ['/__w/api/api/src/tax.ts', 'src/tax.ts'],
    ['/github/workspace/src/tax.ts', 'src/tax.ts'],
    ['/builds/shop/api/src/tax.ts', 'src/tax.ts'],
    ['/var/lib/jenkins/workspace/api-main/src/tax.ts', 'src/tax.ts'],
    ['/var/jenkins_home/workspace/api_PR-7@2/src/tax.ts', 'src/tax.ts'],
    ['C:\\Jenkins\\workspace\\api\\src\\tax.ts', 'src/tax.ts'],
    ['/home/circleci/project/src/tax.ts', 'src/tax.ts'],
    ['file:///github/workspace/src/tax.ts', 'src/tax.ts'],
    ['webpack:///./src/tax.ts', 'src/tax.ts'],
    ['src/../lib/tax.ts', 'lib/tax.ts'],
  ])('%s most likely means %s', (logged, path) => {
    expect(listRepositoryPaths(logged)[0]).toBe(path);
  });

  it('is tried with ever shorter ends, down to two segments', () => {
    expect(listRepositoryPaths('/mnt/ci/one/two/three.c')).toEqual([
      'mnt/ci/one/two/three.c',
      'ci/one/two/three.c',
      'one/two/three.c',
      'two/three.c',
    ]);
    expect(listRepositoryPaths('three.c')).toEqual(['three.c']);
    expect(listRepositoryPaths('/app/three.c')).toEqual(['app/three.c', 'three.c']);
  });

  it.each([
    '',
    'node:internal/process',
    'node_modules/a/b.js',
    '/home/x/.m2/repository/a/b.jar',
    '/usr/lib/python3/dist-packages/a.py',
    '/opt/hostedtoolcache/node/a.js',
    'a\0b',
    '..',
    'x'.repeat(5_000),
  ])('is not in the repository for %j', (logged) => {
    expect(listRepositoryPaths(logged)).toEqual([]);
  });

  it('never leads outside of the repository', () => {
    for (const logged of ['../../../etc/passwd', 'a/../../../etc/passwd', '/../../etc/passwd']) {
      for (const path of listRepositoryPaths(logged)) expect(path.split('/')).not.toContain('..');
    }
  });
});
