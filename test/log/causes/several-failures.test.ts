import { describe, expect, it } from 'vitest';
import { readCauses } from '../../../src/log/causes/read-causes.ts';
import { readCapturedParts } from '../../support/composition/captured-parts.ts';
import { joinLogs } from '../../support/composition/join-logs.ts';

/** Reads logs by their names, and says of each cause which tests and message it has, and which lines were read of it. */
function readLogs(logs: Readonly<Record<string, string>>) {
  const sources = Object.entries(logs).map(([name, text]) => ({
    name,
    kind: 'log' as const,
    text,
    notes: [],
  }));
  return readCauses(sources, { budgetTokens: 2000 }).causes.map(({ failures, reading }) => ({
    tests: failures.flatMap(({ test }) => test?.name ?? []),
    message: failures[0]?.message ?? '',
    text: reading.excerpts.map(({ text }) => text).join('\n'),
    messages: reading.messages.map(({ text }) => text).join('\n'),
    sources: [...new Set(reading.excerpts.map(({ source }) => source))],
  }));
}

const JEST = `FAIL test/basket.test.js
  ● basket › sums

    expect(received).toBe(expected) // Object.is equality

    Expected: 12
    Received: 13

      at Object.toBe (test/basket.test.js:4:21)

  ● basket › slow

    thrown: "Exceeded timeout of 200 ms for a test.
    Add a timeout value to this test to increase the timeout, if this is a long-running test."

      at test (test/basket.test.js:8:3)

  ● basket › label

    expect(received).toMatchSnapshot()

    Snapshot name: \`basket label 1\`

    - Snapshot  - 1
    + Received  + 1

    - two apples
    + 2 apples

      at Object.toMatchSnapshot (test/basket.test.js:12:20)

Test Suites: 1 failed, 1 total
Tests:       3 failed, 3 total
`;

const GO = `--- FAIL: TestDiv (0.00s)
    calc_test.go:9: Div(9,3) = 3, want 4
--- FAIL: TestGolden (0.00s)
    calc_test.go:15: open testdata/golden.json: no such file or directory
--- FAIL: TestWorker (0.10s)
    calc_test.go:22: timed out waiting for worker
FAIL
FAIL	example.test/calc	0.112s
FAIL
`;

describe('failures of one build', () => {
  it('have lines of their own: an assertion, a time limit and a snapshot in one file of Jest', () => {
    const causes = readLogs({ log: JEST });
    expect(causes.map(({ tests }) => tests)).toEqual([['sums'], ['slow'], ['label']]);
    const [sums, slow, label] = causes;
    expect(sums?.text).toContain('Received: 13');
    expect(sums?.text).not.toMatch(/snapshot|timeout/i);
    expect(slow?.messages).not.toContain('toMatchSnapshot');
    expect(slow?.text).toContain('Exceeded timeout of 200 ms');
    expect(label?.text).toContain('2 apples');
    expect(label?.text).not.toContain('Exceeded timeout');
  });

  it('have lines of their own: three tests in Go that fail for three reasons', () => {
    const causes = readLogs({ log: GO });
    expect(
      causes.map(({ tests, text }) => [
        ...tests,
        text.split('\n').filter((line) => line.includes('_test.go')).length,
      ]),
    ).toEqual([
      ['TestDiv', 1],
      ['TestGolden', 1],
      ['TestWorker', 1],
    ]);
  });

  it('are one if a fixture, a service or a module that all need is missing', () => {
    const refused = (name: string, line: number) =>
      `--- FAIL: ${name} (0.00s)\n    db_test.go:${line}: dial tcp 127.0.0.1:5432: connect: connection refused\n`;
    const causes = readLogs({
      log: `${refused('TestRead', 4)}${refused('TestWrite', 9)}--- FAIL: TestSum (0.00s)\n    sum_test.go:3: got 2, want 3\nFAIL\n`,
    });
    expect(causes.map(({ tests }) => tests)).toEqual([['TestRead', 'TestWrite'], ['TestSum']]);
  });

  it('are one if a test fails in the same way in three jobs, and two if it fails differently in another', () => {
    const sum = '--- FAIL: TestSum (0.00s)\n    sum_test.go:3: got 2, want 3\nFAIL\n';
    const other =
      '--- FAIL: TestSum (0.00s)\n    sum_test.go:3: open prices.json: no such file or directory\nFAIL\n';
    const causes = readLogs({ 'linux.log': sum, 'macos.log': sum, 'windows.log': sum, 'shop.log': other });
    expect(causes.map(({ tests, sources }) => [tests, sources])).toEqual([
      [['TestSum'], ['linux.log', 'macos.log', 'windows.log']],
      [['TestSum'], ['shop.log']],
    ]);
  });

  it('include a compile error next to tests of other packages', () => {
    const compile =
      '# example.test/rail [example.test/rail.test]\nrail/rail_test.go:9:5: undefined: Switches\nFAIL\texample.test/rail [build failed]\n';
    const causes = readLogs({ log: `${compile}${GO}` });
    expect(causes.map(({ tests, message }) => tests[0] ?? message)).toEqual([
      'TestDiv',
      'TestGolden',
      'TestWorker',
      'rail_test.go: undefined: Switches',
    ]);
  });

  it('include a step that states only how it ended, next to failing tests', () => {
    const step =
      'make check\n./build/reader\nSegmentation fault (core dumped)\n##[error]Process completed with exit code 139.\n';
    const causes = readLogs({ unit: JEST, reader: step });
    expect(causes.map(({ tests, message }) => tests[0] ?? message)).toEqual([
      'sums',
      'slow',
      'label',
      'Segmentation fault (core dumped)',
    ]);
    expect(causes.at(-1)?.sources).toEqual(['reader']);
  });

  it('exclude jobs that were canceled because another one failed', () => {
    const canceled = '##[group]Run npm test\nnpm test\n##[endgroup]\n##[error]The operation was canceled.\n';
    expect(readLogs({ 'unit.log': GO, 'other.log': canceled }).flatMap(({ tests }) => tests)).toEqual([
      'TestDiv',
      'TestGolden',
      'TestWorker',
    ]);
  });
});

describe('the lines of other failures', () => {
  const parts = readCapturedParts().filter(
    ({ id }) => id === 'library-late-fee' || id === 'flawfinder-strcpy',
  );
  const { sources, spans } = joinLogs(parts, 'stages');
  const { causes } = readCauses(sources, { budgetTokens: 2000 });

  it('are those of each failed stage in which it does not lie', () => {
    expect(causes).toHaveLength(2);
    for (const [at, { reading }] of causes.entries()) {
      const [own, other] = [spans[at], spans[1 - at]];
      expect(reading.foreign).toHaveLength(1);
      expect(reading.foreign?.[0]?.lineStart).toBeLessThanOrEqual(other?.lineStart ?? 0);
      expect(reading.foreign?.[0]?.lineEnd).toBeGreaterThanOrEqual(other?.lineEnd ?? Infinity);
      for (const { lineStart, lineEnd } of reading.excerpts)
        expect(lineEnd < (other?.lineStart ?? 0) || lineStart > (other?.lineEnd ?? 0)).toBe(true);
      expect(reading.excerpts.some(({ lineEnd }) => lineEnd >= (own?.lineStart ?? Infinity))).toBe(true);
    }
  });

  it('are none where a build has one failure', () => {
    const alone = readCauses(joinLogs(parts.slice(0, 1), 'stages').sources, { budgetTokens: 2000 });

    expect(alone.causes.map(({ reading }) => reading.foreign)).toEqual([undefined]);
  });
});

describe('the end of a build that another tool ran', () => {
  it('is no failure of its own', () => {
    const parts = readCapturedParts().filter(({ id }) => id === 'pip-wheel-lacks-header');
    const { causes } = readCauses(joinLogs(parts, 'step').sources, { budgetTokens: 2000 });

    expect(causes.map(({ failures }) => failures.map(({ message }) => message))).toEqual([
      ['gauge.c: libtide/tide.h: No such file or directory'],
    ]);
  });
});

describe('shared lines', () => {
  it('help to decide if they name the service that a failure names, but not if another failure owns them', () => {
    const log = `starting postgres on 127.0.0.1:5432: error: password authentication failed
--- FAIL: TestRead (0.00s)
    db_test.go:4: dial tcp 127.0.0.1:5432: connect: connection refused
--- FAIL: TestSum (0.00s)
    sum_test.go:3: got 2, want 3
FAIL
`;
    const [read, sum] = readLogs({ log });
    expect(read?.text).toContain('password authentication failed');
    expect(sum?.text).not.toContain('5432');
  });

  it('are read for a failure without a reason of its own', () => {
    const log = `error: worker ran out of file handles
test a::one ... FAILED
test a::two ... FAILED

failures:

---- a::two stdout ----
thread 'a::two' panicked at src/lib.rs:9:5:
assertion \`left == right\` failed
  left: 2
 right: 3

test result: FAILED. 0 passed; 2 failed
`;
    const causes = readLogs({ log });
    const one = causes.find(({ tests }) => tests.includes('a::one'));
    expect(one?.text).toContain('file handles');
    expect(one?.text).not.toContain('right: 3');
  });
});

describe('runs that passed', () => {
  const NOISE =
    "  console.error\n    Error: lending failed TypeError: Cannot read properties of undefined (reading 'pop')\n";
  it('have no failure, whatever errors they print', () => {
    const { reading, causes } = readCauses(
      [
        {
          name: 'log',
          kind: 'log',
          text: `${NOISE}\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n`,
          notes: [],
        },
      ],
      { budgetTokens: 2000 },
    );
    expect(reading.hasPassed).toBe(true);
    expect(reading.exceptions).toEqual([]);
    expect(causes).toMatchObject([{ generic: true }]);
  });
  it('are not recognized if an error follows, a test failed, or the log ends there', () => {
    for (const end of [
      'Tests:       2 passed, 2 total\nerror: could not publish the package\n',
      'Tests:       1 failed, 2 passed, 3 total\n',
      '',
    ]) {
      const { reading } = readCauses([{ name: 'log', kind: 'log', text: `${NOISE}${end}`, notes: [] }], {
        budgetTokens: 2000,
      });
      expect(reading.hasPassed).toBeUndefined();
    }
  });
});

describe('logs of one upload', () => {
  const CRASH = `loading 12 sites
Traceback (most recent call last):
  File "/srv/app/tides/load.py", line 4, in <module>
    sites = read("sites.json")
  File "/srv/app/tides/load.py", line 2, in read
    return json.load(open(path))["sites"]
KeyError: 'sites'
`;

  it('failed if they end in an error, even next to others that state how they ended', () => {
    const causes = readLogs({ 'unit.log': GO, 'load.log': CRASH });
    expect(causes.map(({ tests, message }) => tests[0] ?? message)).toEqual([
      'TestDiv',
      'TestGolden',
      'TestWorker',
      "KeyError: 'sites'",
    ]);
  });

  it('did not fail if the process continued after the error', () => {
    const went = `${CRASH}starting without sites\nlistening on port 8080\nserved 4 requests\nserved 9 requests\nstopped\n`;
    expect(readLogs({ 'unit.log': GO, 'load.log': went }).flatMap(({ tests }) => tests)).toEqual([
      'TestDiv',
      'TestGolden',
      'TestWorker',
    ]);
  });
});

describe('causes above the limit', () => {
  it('are counted and named, and not merged with another', () => {
    const test = (at: number) =>
      `--- FAIL: Test${at} (0.00s)\n    sum_test.go:${at}: got ${at}, want ${at + 1}\n`;
    const log = `${Array.from({ length: 23 }, (_, at) => test(at + 1)).join('')}FAIL\n`;
    const { causes, reading } = readCauses([{ name: 'log', kind: 'log', text: log, notes: [] }], {
      budgetTokens: 2000,
    });
    expect(causes.map(({ failures }) => failures.length)).toEqual(Array.from({ length: 20 }, () => 1));
    expect(reading.notes).toContain(
      'The first 20 causes are answered; 3 more causes are not: Test21, Test22, Test23.',
    );
  });
});
