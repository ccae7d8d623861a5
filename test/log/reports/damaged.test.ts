import { describe, expect, it } from 'vitest';
import { decodeSource } from '../../../src/log/decode/decode.ts';
import { parseReport } from '../../../src/log/reports/report.ts';

const FAILED = '<testcase name="a"><failure message="no way">\nbecause of b</failure></testcase>';
const messages = (text: string) =>
  parseReport('r', text).failingTests.map(({ name, message }) => [name, message]);
const decoded = (bytes: Buffer) => decodeSource('r.xml', bytes, 'report', { maxBytes: 1_000_000 });

describe('a damaged report is read as far as possible, and marked as damaged', () => {
  it.each([
    [
      'a document cut in a message',
      `<testsuite>\n${FAILED}<testcase name="b"><failure>half a sen`,
      [
        ['a', 'no way'],
        ['b', 'half a sen'],
      ],
    ],
    [
      'TRX that breaks off',
      '<TestRun><Results>\n<UnitTestResult testName="a" outcome="Failed"><Output><ErrorInfo><Message>no way</Message>',
      [['a', 'no way']],
    ],
    [
      'signs that are not escaped',
      `<testsuite>\n<testcase name="a"><failure message="1 < 2 && 3"/></testcase>${FAILED.replace('"a"', '"b"')}</testsuite>`,
      [
        ['a', '1 < 2 && 3'],
        ['b', 'no way'],
      ],
    ],
    ['a tag that is not closed', `<testsuite>\n<testsuite name="x">${FAILED}</testsuite>`, [['a', 'no way']]],
  ])('%s', (_, text, expected) => {
    expect(messages(text)).toEqual(expected);
    expect(parseReport('r', text).notes).toEqual([
      expect.stringMatching(
        /^r is not a well-formed \w+ report: line \d+: .+ It is damaged; \d tests? could be read\.$/,
      ),
    ]);
  });

  it('JSON that breaks off, or contains control characters', () => {
    const whole = JSON.stringify(
      {
        stats: { tests: 2 },
        tests: [],
        failures: ['a', 'b'].map((title) => ({ title, fullTitle: title, err: { message: `no ${title}` } })),
      },
      null,
      1,
    );
    const cut = whole.slice(0, whole.indexOf('"no b'));
    const mocha = cut.replace(/"tests": \[\],\n "failures"/, '"failures": [],\n "tests"');
    expect(messages(mocha)).toEqual([['a', 'no a']]);
    expect(parseReport('r', mocha).notes).toEqual([
      expect.stringMatching(/^r is damaged: it breaks off after line \d+\. It was read without that\.$/),
    ]);
    const control = whole.replace('no a', 'no \u0001a');
    expect(messages(control)).toEqual([
      ['a', 'no  a'],
      ['b', 'no b'],
    ]);
    expect(parseReport('r', control).notes).toEqual([
      'r is damaged: it holds control characters, the first on line 11. It was read without that.',
    ]);
  });

  it('control characters, with their line', () => {
    expect(
      parseReport('r', `<testsuite>\n${FAILED.replace('way', 'w\u0000\u0008ay')}</testsuite>`).notes,
    ).toEqual([
      'r is damaged: it holds 2 control characters that XML forbids, the first on line 2. It was read without them.',
    ]);
  });

  it.each([
    '<?xml version="1.0" encoding="UTF-8">\n',
    '<?xml encoding="latin9" standalone="perhaps"?>\n',
    '> npm test\nall is well\n\n',
  ])('an invalid declaration, or text before the document: %j', (begun) => {
    expect(messages(`${begun}<testsuite>${FAILED}</testsuite>`)).toEqual([['a', 'no way']]);
  });

  it.each([
    ['latin1', 'ISO-8859-1', 'r.xml was read as ISO-8859-1, which it says it is.'],
    ['utf8', 'windows-1252', 'r.xml is damaged: it says that it is windows-1252, but it is UTF-8.'],
    ['utf16le', 'UTF-8', 'r.xml was UTF-16LE.'],
  ] as const)('%s that claims to be %s', (encoding, declared, note) => {
    const xml = `<?xml version="1.0" encoding="${declared}"?>\n<testsuite>${FAILED.replace('no way', 'größer: é')}</testsuite>`;
    const { text, notes } = decoded(Buffer.from(xml, encoding));
    expect(notes).toEqual([note]);
    expect(messages(text)).toEqual([['a', 'größer: é']]);
  });
});

describe('the output of parallel tests in Go', () => {
  const event = (Action: string, Test: string, Output?: string) =>
    JSON.stringify({ Action, Package: 'example.test/p', Test, Output });

  it('belongs to the test that its text names', () => {
    const events = [
      event('run', 'TestA'),
      event('run', 'TestB'),
      event('output', 'TestA', '=== NAME  TestB\n'),
      event('output', 'TestA', '    b_test.go:9: got 7, want 8\n'),
      event('output', 'TestA', '=== NAME  TestA\n'),
      event('output', 'TestA', '    a_test.go:5: no such user\n'),
      event('fail', 'TestA'),
      event('fail', 'TestB'),
    ];
    expect(parseReport('r', events.join('\n')).failingTests).toMatchObject([
      { name: 'TestA', file: 'a_test.go', line: 5, message: 'no such user' },
      { name: 'TestB', file: 'b_test.go', line: 9, message: 'got 7, want 8' },
    ]);
  });

  it('belongs to the test whose frame a panic shows', () => {
    const events = [
      event('run', 'TestA'),
      event('run', 'TestB'),
      event('output', 'TestA', 'panic: assignment to entry in nil map\n'),
      event('output', 'TestA', 'goroutine 8 [running]:\n'),
      event('output', 'TestA', 'example.test/p.TestB(0xc000102680)\n'),
      event('output', 'TestA', '\t/src/b_test.go:12 +0x1d\n'),
      event('pass', 'TestA'),
      event('fail', 'TestB'),
    ];
    expect(parseReport('r', events.join('\n')).failingTests).toMatchObject([
      { name: 'TestB', line: 12, message: expect.stringContaining('assignment to entry in nil map') },
    ]);
  });
});
