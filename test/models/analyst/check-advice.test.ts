import { describe, expect, test } from 'vitest';
import { keepFoundedAdvice } from '../../../src/models/analyst/check-advice.ts';

const SEEN =
  'npm error notarget No matching version found for pear@9.9.9\n/srv/app/src/scales.ts:4:9 - error\nnearest is 2.4.1\npackage.json';

describe("a model's advice", () => {
  test.each([
    ['a version of the log', 'Use pear 2.4.1 instead of 9.9.9.'],
    ['a file of the log', 'Correct src/scales.ts at line 4.'],
    ['a command of the log', 'Run `npm install pear` and commit package.json.'],
    ['a file that it adds', 'Create src/weights.ts with the missing constant.'],
    [
      'a diff of a known file',
      'Change it:\n```diff\n--- a/src/scales.ts\n+++ b/src/scales.ts\n@@ -4 +4 @@\n-a\n+b\n```',
    ],
  ])('is kept with %s', (_, advice) => {
    expect(keepFoundedAdvice(advice, SEEN)).toBe(advice);
  });

  test.each([
    ['a version that nobody saw', 'Raise pear. Use pear 3.7.2 for that.', 'Raise pear.'],
    ['a file that nobody saw', 'Correct src/basket.ts at line 4.', ''],
    [
      'a program that nobody saw',
      'Update the lock file. Run `yarn install --force` first.',
      'Update the lock file.',
    ],
    [
      'a diff with an address left out',
      'Do this:\n```diff\n--- a/src/scales.ts\n+++ b/src/scales.ts\n+[address left out]\n```',
      'Do this:',
    ],
    [
      'such a diff without a fence',
      'Not tried:\n--- a/src/basket.ts\n+++ b/src/basket.ts\n@@ -1 +1 @@\n-a 1.2.3\n+b\n',
      'Not tried:',
    ],
    [
      'a diff of a file that nobody saw',
      '```diff\n--- a/src/basket.ts\n+++ b/src/basket.ts\n@@ -1 +1 @@\n-a\n+b\n```',
      '',
    ],
  ])('loses %s', (_, advice, kept) => {
    expect(keepFoundedAdvice(advice, SEEN)).toBe(kept);
  });
});
