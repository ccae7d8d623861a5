import { describe, expect, test } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { createInsight } from './subject.ts';

/** What is advised on a step that runs a command and prints some lines; null where nothing is. */
function adviseOn(command: string, ...output: readonly string[]): string | null {
  const lines = [
    `##[group]Run ${command}`,
    command,
    '##[endgroup]',
    ...output,
    '##[error]Process completed with exit code 2.',
    '',
  ];
  const { fixRecommendation } = composeAnswer(createInsight(lines.join('\n')));
  return fixRecommendation.startsWith('No fix found') ? null : fixRecommendation;
}

describe('a fix that a failing tool suggests', () => {
  test.each([
    [
      'the values it supports',
      ['baler pack', 'baler: error: unknown format "roudn"', '  valid choices: round, square'],
      'Use one of the supported values instead of `roudn`: round, square.',
    ],
    [
      'a name that is nearly right',
      [
        'baler pack --tihgt',
        "error: unexpected argument '--tihgt' found",
        '',
        "  tip: a similar argument exists: '--tight'",
      ],
      'Use `--tight` instead of --tihgt in `baler pack --tihgt`.',
    ],
    [
      'the version it needs, and the one that is there',
      [
        'baler pack',
        'baler: error: this field requires thresher 2.4 or later',
        '  found thresher 1.9.3 on the path',
      ],
      'Upgrade thresher from 1.9.3 to 2.4 or newer.',
    ],
    [
      'an option that corrects findings',
      [
        'hayfmt barn/',
        'error: barn/loft.hay has 7 problems',
        '  7 problems, 5 problems fixable with the `--write` option',
      ],
      'Run `hayfmt barn/ --write` and commit the result; this fixes 5 of the findings.',
    ],
    [
      'a permission',
      [
        'baler sell',
        'baler: error: refused to sell the bales',
        '  the key has bales.read, it lacks the permission bales.sell',
      ],
      'Grant bales.sell to the identity that the job uses, which has bales.read.',
    ],
    [
      'the files that it counts',
      ['hayfmt --check barn', 'hayfmt: error: 2 files are not sorted', '  barn/loft.hay', '  barn/stall.hay'],
      'Fix barn/loft.hay and barn/stall.hay: “hayfmt: error: 2 files are not sorted”.',
    ],
    [
      'a file of another spelling',
      [
        'baler pack',
        'baler: error: a field has no map',
        '  expected maps/North.map, but found maps/north.map',
      ],
      'Rename maps/north.map to maps/North.map, or correct the name where it is used; the two differ only in case.',
    ],
    [
      'a size and its limit',
      [
        'baler weigh',
        'baler: error: a bale is too heavy',
        '  bales/b7.json has 512 MB, the maximum is 400 MB',
      ],
      'Reduce bales/b7.json from 512 MB to 400 MB, or raise the limit if the growth is intended.',
    ],
    [
      'a setting that a file lacks',
      ['baler pack', 'baler: error: BALE_WEIGHT is missing in barn/.baler'],
      'Add BALE_WEIGHT to barn/.baler.',
    ],
    [
      'what a setting needs',
      ['./configure', 'WITH_SCALES=ON requires thresher for the weighing'],
      'Install thresher in the job before this step, or change WITH_SCALES=ON.',
    ],
    [
      'a task that is not defined',
      ['npx thresh run pack weigh:hay', 'error: could not find task "weigh:hay" in the barn'],
      'Define the task weigh:hay, or remove it from `npx thresh run pack weigh:hay`.',
    ],
    [
      'an address on which nothing answers',
      ['npx await-barn 4001', 'error: timed out waiting for: http://localhost:4001'],
      "Check that the job's server started and is listening on http://localhost:4001.",
    ],
    [
      'a container that is not ready',
      ['baler status', 'error: barn_db container is not ready: starting'],
      'Make the job wait until barn_db is ready before the step continues.',
    ],
    [
      'the script of an action',
      [
        'orchard/baler-action@v3',
        '/w/_actions/orchard/baler-action/v3/pack.sh: line 7: bale: unbound variable',
      ],
      'Check the inputs of orchard/baler-action, or use a release other than v3.',
    ],
    [
      'a version that has to fit another package',
      ['baler test', 'error: wrong version of "bale-twine" detected. Expected "4.2.0", but found "4.1.0".'],
      'Install bale-twine 4.2.0 instead of 4.1.0.',
    ],
    [
      'a permission that a service refused',
      ['baler push', 'denied: Permission "barn.bales.upload" denied on resource "barns/north"'],
      'Grant barn.bales.upload to the identity that the job uses.',
    ],
    [
      'a place, and what is wrong there',
      ['baler check', 'error: the plan cannot be used', '  plan.hay:8: the field "north" is mown twice'],
      'Fix the error at plan.hay:8: “the field "north" is mown twice”.',
    ],
  ])('is advised: %s', (_, [command = '', ...output], advice) =>
    expect(adviseOn(command, ...output)).toBe(advice),
  );

  test('is not advised if its values are missing', () =>
    expect(adviseOn('baler pack', 'baler: error: unknown format "roudn"')).toBeNull());
});

describe('the advice never suggests', () => {
  test("a shell's own word, an option or a function as a program to install", () => {
    for (const word of ['export', '--strict', 'load_bales'])
      expect(adviseOn('sh ci/pack.sh', `ci/pack.sh: line 4: ${word}: command not found`) ?? '').not.toMatch(
        /install/i,
      );
  });

  test('more memory for a process that the step itself stopped', () => {
    const advice = adviseOn(
      './pack-and-weigh',
      'weigh: want 7 bales, got 6',
      'shutting down baler',
      'baler: signal: killed (exit status 137)',
    );
    expect(advice ?? '').not.toMatch(/memory/);
  });

  test('a comment in source code that a compiler shows', () => {
    const shown = [
      "src/loft.c:9:3: error: expected ';' before 'int'",
      '    int bales = 7 // TODO: remove this before the harvest',
      '    ^~~',
    ];
    expect(adviseOn('make', ...shown)).not.toMatch(/remove this/);
  });

  test('a stack frame, a logger or a file outside of the checkout as a place to correct', () => {
    for (const line of [
      'logger.go:42: | hay | Creating the loft',
      'C:/balers/hay.h(52): error C2143: missing ;',
    ])
      expect(adviseOn('baler test', 'baler: error: it failed', line) ?? '').not.toMatch(/Start at|Correct/);
  });

  test('source code as the value that a test compares', () => {
    const head = [
      '=================================== FAILURES ===================================',
      '__________________ test_weigh __________________',
      '',
    ];
    const body = [
      '    def test_weigh():',
      '        run = weigh()',
      '        assert run.exit_code == 2',
      '>       assert "wet" in run.text',
      "E       assert 'wet' in ('dry' or '')",
      '',
    ];
    const foot = [
      'tests/test_bales.py:729: AssertionError',
      '=========================== short test summary info ============================',
      "FAILED tests/test_bales.py::test_weigh - assert 'wet' in ('dry' or '')",
      '1 failed in 0.12s',
    ];
    expect(adviseOn('pytest', ...head, ...body, ...foot) ?? '').not.toMatch(/gets run\.exit_code/);
  });

  test('an item of an explanation as an instruction', () => {
    const shown = [
      'baler: error: the hay is wet',
      'A loft does one of these:',
      '* Update the loft with the hay.',
    ];
    expect(adviseOn('baler pack', ...shown) ?? '').not.toMatch(/says what to do/);
  });
});

describe('the failed command of a script', () => {
  const script = (...commands: readonly string[]) => [
    '##[group]Run baler init',
    ...commands,
    'shell: /usr/bin/bash -e {0}',
    '##[endgroup]',
  ];
  const adviseOnScript = (commands: readonly string[], output: string) =>
    composeAnswer(
      createInsight(
        [...script(...commands), output, '##[error]Process completed with exit code 2.', ''].join('\n'),
      ),
    ).fixRecommendation;

  test('is the one with the refused option', () => {
    const advice = adviseOnScript(['baler init', 'npx baler pack --tihgt 7'], "unknown option '--tihgt'");
    expect(advice).toBe('Correct or remove --tihgt in `npx baler pack --tihgt 7`.');
  });

  test('is unknown if several have the option', () => {
    const advice = adviseOnScript(
      ['baler x --tihgt', 'npx baler pack --tihgt 7'],
      "unknown option '--tihgt'",
    );
    expect(advice).toMatch(/^No fix found/);
  });
});

describe('advice on code', () => {
  test.each([
    [
      "src/scales.ts:4:9 - error TS2739: Type '{ }' is missing the following properties from type 'P': weight, color",
      'Add weight, color to the value at src/scales.ts:4, or make what is missing optional in the type.',
    ],
    [
      'src/scales.ts:4:1 - error TS1185: Merge conflict marker encountered.',
      'Resolve the merge conflict at src/scales.ts:4: “Merge conflict marker encountered”.',
    ],
    [
      'src/Scales.java:9: error: reached end of file while parsing',
      'Close the block or delimiter that is still open at src/Scales.java:9: “reached end of file while parsing”.',
    ],
    [
      'error: unexpected closing delimiter: `}`\n --> src/main.rs:9:1',
      'Remove the unmatched `}` at src/main.rs:9, or restore what it should close.',
    ],
    [
      "Scales.cs(4,9): error CS0234: The type or namespace name 'Pear' does not exist in the namespace 'Orchard'",
      'Commit the source of `Pear` in Orchard, which Scales.cs:4 uses, or add a reference to it.',
    ],
  ])('fits the failure: %s', (line, advice) => expect(adviseOn('make', ...line.split('\n'))).toBe(advice));

  test("does not suggest the linter's fix for a few findings of many", () => {
    const findings = [
      'src/a.js',
      '  4:9  error  Unexpected any. Specify a different type  no-explicit-any',
      '',
    ];
    const counted = [
      '✖ 70 problems (70 errors, 0 warnings)',
      '  2 errors potentially fixable with the `--fix` option.',
    ];
    const advice = adviseOn('npx eslint .', ...findings, ...counted);
    expect(advice).toBe('Replace `any` at src/a.js:4 with a specific type.');
  });

  test("leads from a test that gets a server error to the server's exception", () => {
    const shown = ['--- FAIL: TestWeigh (0.00s)', '    scales_test.go:4: expected 200 but got 500', 'FAIL'];
    expect(adviseOn('go test ./...', ...shown)).toBe(
      'Find out from the server log why “TestWeigh” gets 500 instead of 200.',
    );
  });

  test('does not suggest installing a program that opens a window', () => {
    expect(
      adviseOn('pwsh ci/open.ps1', "The term 'code' is not recognized as a name of a cmdlet or function."),
    ).toBe('Do not call code in the job, because it opens a window for a person.');
  });

  test('does not suggest importing the native part of a package', () => {
    const advice = adviseOn('npm run build', "Error: Cannot find module '../bales.linux-x64-gnu.node'");
    expect(advice).toMatch(/^Delete the lock file and node_modules/);
  });

  test('does not suggest importing a command with an absolute path', () => {
    const advice = adviseOn('node --test barn/', "Error: Cannot find module '/home/ci/orchard/barn'");
    expect(advice ?? '').not.toMatch(/import/);
  });

  test('names the package whose peer dependency does not fit, for npm', () => {
    const shown = [
      'npm error code ERESOLVE',
      'npm error ERESOLVE could not resolve',
      'npm error Found: pear@3.1.0',
      'npm error   peer pear@"^3.0.0" from plum@2.0.0',
      'npm error Could not resolve dependency:',
      'npm error peerOptional pear@"^4.0.0" from pear-basket@4.4.0',
    ];
    expect(adviseOn('npm ci', ...shown)).toMatch(/^Move pear-basket to a release that accepts pear@3.1.0/);
  });

  test('suggests an environment with a DOM for a test file without one', () => {
    const shown = [
      ' FAIL  src/bales.test.tsx [ src/bales.test.tsx ]',
      'ReferenceError: navigator is not defined',
      ' ❯ src/bales.test.tsx:6:3',
      '',
      ' Test Files  1 failed (1)',
    ];
    const advice = adviseOn('npx vitest run', ...shown);
    expect(advice).toBe(
      'Run src/bales.test.tsx in an environment with a DOM, such as jsdom, because it uses `navigator`.',
    );
  });
});
