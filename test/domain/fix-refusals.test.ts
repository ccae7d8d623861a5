import { describe, expect, test } from 'vitest';
import { refuseFix } from '../../src/domain/fix-refusals.ts';

const NOTHING = { tests: false, workflows: false };
const createDiff = (path: string, hunk: string) =>
  `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n${hunk}\n`;

describe('a diff', () => {
  test.each([
    ['package.json', '@@ -3 +3 @@\n-    "test": "node --test",\n+    "test": "true",', false],
    ['package.json', '@@ -9 +9 @@\n-    "left-pad": "^1.0.0",\n+    "left-pad": "^1.3.0",', true],
    ['Makefile', '@@ -1 +1 @@\n-check:\n+check: quick', false],
    ['conftest.py', '@@ -0,0 +1 @@\n+import shop', false],
    ['src/shop.py', '@@ -1 +1 @@\n-a = 1\n+a = 2', true],
    ['src/shop.py', '@@ -1 +1 @@\n-a = 1\n+def pytest_runtest_makereport(item, call):', false],
    ['pyproject.toml', '@@ -9 +9 @@\n-requests==2.0\n+requests==2.1', false],
    [
      'pyproject.toml',
      '@@ -1,3 +1,3 @@\n [dependency-groups]\n dev = [\n-  "requests==2.0",\n+  "requests==2.1",',
      true,
    ],
  ])('of %s that changes how tests run is refused because of its lines: %s', (path, hunk, isAllowed) => {
    const refusals = isAllowed
      ? []
      : [expect.stringMatching(/says (?:how the tests run|what the tests expect); allow it/)];
    expect(refuseFix(createDiff(path, hunk), NOTHING)).toEqual(refusals);
    expect(refuseFix(createDiff(path, hunk), { ...NOTHING, tests: true })).toEqual([]);
  });
});
