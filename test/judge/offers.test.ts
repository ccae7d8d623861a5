import { describe, expect, test } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { insightOf } from './subject.ts';

/** What is advised on a step that runs a command and prints some lines; null where nothing is. */
function adviseOn(command: string, ...output: readonly string[]): string | null {
  const lines = [`##[group]Run ${command}`, command, '##[endgroup]', ...output, '##[error]Process completed with exit code 2.', ''];
  const { fixRecommendation } = composeAnswer(insightOf(lines.join('\n')));
  return fixRecommendation.startsWith('No fix found') ? null : fixRecommendation;
}

describe('what a failing tool offers', () => {
  test.each([
    [
      'the values it supports',
      ['baler pack', 'baler: error: unknown format "roudn"', '  valid choices: round, square'],
      'Use one of the supported values instead of `roudn`: round, square.',
    ],
    [
      'a name that is nearly right',
      ['baler pack --tihgt', "error: unexpected argument '--tihgt' found", '', "  tip: a similar argument exists: '--tight'"],
      'Use `--tight` instead of --tihgt in `baler pack --tihgt`.',
    ],
    [
      'the version it needs, and the one that is there',
      ['baler pack', 'baler: error: this field requires thresher 2.4 or later', '  found thresher 1.9.3 on the path'],
      'Upgrade thresher from 1.9.3 to 2.4 or newer.',
    ],
    [
      'an option that corrects findings',
      ['hayfmt barn/', 'error: barn/loft.hay has 7 problems', '  7 problems, 5 problems fixable with the `--write` option'],
      'Run `hayfmt barn/ --write` and commit the result: that corrects 5 of the findings.',
    ],
    [
      'a permission',
      ['baler sell', 'baler: error: refused to sell the bales', '  the key has bales.read, it lacks the permission bales.sell'],
      'Grant bales.sell to the identity that the job uses: it has bales.read.',
    ],
    [
      'the files that it counts',
      ['hayfmt --check barn', 'hayfmt: error: 2 files are not sorted', '  barn/loft.hay', '  barn/stall.hay'],
      'Correct barn/loft.hay and barn/stall.hay: “hayfmt: error: 2 files are not sorted”.',
    ],
    [
      'a file of another spelling',
      ['baler pack', 'baler: error: a field has no map', '  expected maps/North.map, but found maps/north.map'],
      'Rename maps/north.map to maps/North.map, or correct the name where it is used: only upper and lower case differ.',
    ],
    [
      'a size and its limit',
      ['baler weigh', 'baler: error: a bale is too heavy', '  bales/b7.json has 512 MB, the maximum is 400 MB'],
      'Bring bales/b7.json from 512 MB down to 400 MB, or raise the limit if the growth is intended.',
    ],
    [
      'a place, and what is wrong there',
      ['baler check', 'error: the plan cannot be used', '  plan.hay:8: the field "north" is mown twice'],
      'Correct plan.hay:8: “the field "north" is mown twice”.',
    ],
  ])('is advised: %s', (_, [command = '', ...output], advice) => expect(adviseOn(command, ...output)).toBe(advice));

  test('is not advised where the values are gone', () => expect(adviseOn('baler pack', 'baler: error: unknown format "roudn"')).toBeNull());
});

describe('what is not advised', () => {
  test("a shell's own word, an option or a function as a program to be installed", () => {
    for (const word of ['export', '--strict', 'load_bales'])
      expect(adviseOn('sh ci/pack.sh', `ci/pack.sh: line 4: ${word}: command not found`) ?? '').not.toMatch(/install/i);
  });

  test('more memory for what the step stopped itself', () => {
    const advice = adviseOn(
      './pack-and-weigh',
      'weigh: want 7 bales, got 6',
      'shutting down baler',
      'baler: signal: killed (exit status 137)',
    );
    expect(advice ?? '').not.toMatch(/memory/);
  });

  test('a comment in source that a compiler shows', () => {
    const shown = [
      "src/loft.c:9:3: error: expected ';' before 'int'",
      '    int bales = 7 // TODO: remove this before the harvest',
      '    ^~~',
    ];
    expect(adviseOn('make', ...shown)).not.toMatch(/remove this/);
  });
});
