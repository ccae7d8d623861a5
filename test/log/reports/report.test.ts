import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isReport, parseReport } from '../../../src/log/reports/report.ts';
import { readCpuMs } from '../../support/cpu-time.ts';

const captured = (name: string) =>
  parseReport(name, readFileSync(join(import.meta.dirname, '../../fixtures/reports', name), 'utf8'));
const failed = (name: string, text: string) =>
  parseReport(name, text).failingTests.map(({ suite, name, file, line, message }) => [
    suite,
    name,
    file,
    line,
    message,
  ]);
const counts = (name: string, text: string) => {
  const { testResults } = parseReport(name, text);
  return ['passed', 'failed', 'skipped'].map(
    (status) => testResults.filter((testResult) => testResult.status === status).length,
  );
};

describe('reports captured from real tools', () => {
  it('are read from go test -json: tests, a panic, and a compile error', () => {
    const { failingTests, testResults, diagnostics, notes } = captured('go-test.json');
    expect(failingTests.map(({ name, file, line, message }) => [name, file, line, message])).toEqual([
      ['TestTotal/two_articles', 'cart_test.go', 10, 'total: got 7, want 8'],
      ['TestTotal', null, null, null],
      [
        'TestStock',
        expect.stringMatching(/stock_test\.go$/),
        7,
        expect.stringContaining('assignment to entry in nil map'),
      ],
    ]);
    expect(failingTests[0]).toMatchObject({ expected: '8', actual: '7' });
    expect(testResults.filter(({ status }) => status === 'skipped')).toMatchObject([{ name: 'TestSkipped' }]);
    expect(diagnostics).toMatchObject([{ file: 'broken/broken.go', line: 3, message: 'undefined: total' }]);
    expect(notes).toEqual([]);
  });

  it.each(['pytest.xml', 'pytest-xunit1.xml'])(
    'are read from %s: an assertion and a broken fixture',
    (name) => {
      expect(captured(name).failingTests).toMatchObject([
        { suite: 'tests.test_tax.TestTax', name: 'test_tax[200-39]', file: 'tests/test_tax.py', line: 12 },
        {
          suite: 'tests.test_tax',
          name: 'test_rates',
          file: 'tests/test_tax.py',
          line: 6,
          message: expect.stringContaining('no rates today'),
        },
      ]);
      expect(captured(name).testResults).toHaveLength(4);
    },
  );

  it('are read from node --test, as TAP and as JUnit XML, with the same test', () => {
    const expected = [
      {
        suite: 'cart',
        name: 'adds up',
        file: expect.stringMatching(/js\/cart\.test\.mjs$/),
        line: 6,
        actual: '7',
        expected: '8',
      },
    ];
    expect(captured('node.tap').failingTests).toMatchObject(expected);
    expect(captured('node-test.xml').failingTests).toMatchObject([
      { suite: 'cart', name: 'adds up', line: 6 },
    ]);
    for (const name of ['node.tap', 'node-test.xml']) {
      expect(
        captured(name)
          .testResults.filter(({ suite }) => suite === 'cart')
          .map(({ status }) => status),
      ).toEqual(['passed', 'failed', 'skipped']);
    }
  });

  it.each([20, 22, 24])(
    'are read from Node %s: both sides and the message from the text of its own reporter',
    (version) => {
      expect(captured(`node-${version}.xml`).failingTests).toMatchObject([
        {
          suite: null,
          name: 'converts kronor',
          file: expect.stringMatching(/test\/rate\.test\.js$/),
          line: 4,
          message: 'Expected values to be strictly equal: 26.97 !== 26.98',
          expected: '26.98',
          actual: '26.97',
        },
        // The reporter writes the list in both sides as [Array], so that they do not differ.
        { name: 'lists lines', line: 5, expected: null, actual: null },
      ]);
    },
  );

  it('are read from Test::More: subtests, without todo tests', () => {
    expect(captured('perl.tap').failingTests).toMatchObject([
      { suite: null, name: 'adds up', file: 'cart.t', line: 2, actual: "'7'", expected: "'8'" },
      { suite: 'discounts', name: 'ten percent', line: 3 },
    ]);
  });

  it('are read from CTest: the message from the output of the test', () => {
    expect(captured('ctest.xml').failingTests).toMatchObject([
      {
        name: 'cart.total',
        file: 'cart.c',
        line: 12,
        message: expect.stringContaining('assertion failed: total == 8'),
      },
    ]);
    expect(captured('ctest.xml').testResults.map(({ status }) => status)).toEqual([
      'failed',
      'passed',
      'skipped',
    ]);
  });
});

describe('formats of .NET and Java', () => {
  it('include xUnit.net', () => {
    const xml = `<assemblies><assembly name="Shop.Tests.dll"><collection name="c">
      <test name="Shop.CartTests.Adds(a: 1)" type="Shop.CartTests" method="Adds" time="0.0123" result="Fail">
        <failure exception-type="Xunit.Sdk.EqualException"><message><![CDATA[Assert.Equal() Failure\nExpected: 8\nActual:   7]]></message>
        <stack-trace><![CDATA[   at Shop.CartTests.Adds(Int32 a) in /src/CartTests.cs:line 14]]></stack-trace></failure></test>
      <test name="Shop.CartTests.Later" type="Shop.CartTests" method="Later" time="0" result="Skip"><reason>later</reason></test>
      <test name="Shop.CartTests.Empty" type="Shop.CartTests" method="Empty" time="0.1" result="Pass"/></collection></assembly></assemblies>`;
    expect(parseReport('x.xml', xml).failingTests).toMatchObject([
      {
        suite: 'Shop.CartTests',
        name: 'Adds(a: 1)',
        file: '/src/CartTests.cs',
        line: 14,
        expected: '8',
        actual: '7',
        framework: 'xunit',
      },
    ]);
    expect(counts('x.xml', xml)).toEqual([1, 1, 1]);
  });

  it('include NUnit 3', () => {
    const xml = `<test-run id="0" result="Failed"><test-suite type="TestFixture" fullname="Shop.CartTests"><test-case name="Adds" fullname="Shop.CartTests.Adds"
      classname="Shop.CartTests" result="Failed" duration="0.5"><failure><message><![CDATA[  Expected: 8
  But was:  7]]></message><stack-trace><![CDATA[at Shop.CartTests.Adds() in /src/CartTests.cs:line 9]]></stack-trace></failure></test-case>
      <test-case fullname="Shop.CartTests.Maybe" classname="Shop.CartTests" result="Inconclusive"/></test-suite></test-run>`;
    expect(parseReport('n.xml', xml).failingTests).toMatchObject([
      {
        suite: 'Shop.CartTests',
        name: 'Adds',
        file: '/src/CartTests.cs',
        line: 9,
        expected: '8',
        actual: '7',
      },
    ]);
    expect(parseReport('n.xml', xml).testResults[0]?.durationMs).toBe(500);
    expect(counts('n.xml', xml)).toEqual([0, 1, 1]);
  });

  it('include TRX, with the class after the results, and rows of a test instead of the test around them', () => {
    const xml = `<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results>
      <UnitTestResult testId="1" testName="Adds" outcome="Failed" duration="00:00:01.5000000"><Output><ErrorInfo><Message>Assert.AreEqual failed.
 Expected:&lt;8&gt;. Actual:&lt;7&gt;.</Message><StackTrace>   at Shop.CartTests.Adds() in C:\\src\\CartTests.cs:line 21</StackTrace></ErrorInfo></Output></UnitTestResult>
      <UnitTestResult testId="2" testName="Rows" outcome="Failed"><InnerResults><UnitTestResult testId="2" testName="Rows (1)" outcome="Passed"/>
      <UnitTestResult testId="2" testName="Rows (2)" outcome="Timeout"/></InnerResults></UnitTestResult></Results>
      <TestDefinitions><UnitTest id="1"><TestMethod className="Shop.CartTests, Shop" name="Adds"/></UnitTest></TestDefinitions>
      <ResultSummary outcome="Failed"><RunInfos><RunInfo outcome="Error"><Text>The host crashed.</Text></RunInfo></RunInfos></ResultSummary></TestRun>`;
    const { failingTests, testResults, notes } = parseReport('r.trx', xml);
    expect(failingTests).toMatchObject([
      {
        suite: 'Shop.CartTests',
        name: 'Adds',
        file: 'C:\\src\\CartTests.cs',
        line: 21,
        message: expect.stringContaining('AreEqual'),
      },
      { name: 'Rows (2)' },
    ]);
    expect(testResults[0]?.durationMs).toBe(1500);
    expect(notes).toEqual(['r.trx: The host crashed.']);
  });

  it('include TestNG, with a retried attempt as flaky, and configuration methods that failed', () => {
    const xml = `<testng-results><suite name="s"><test name="t"><class name="shop.CartTest">
      <test-method status="PASS" name="setUp" is-config="true"/>
      <test-method status="SKIP" name="flaky" retried="true"/><test-method status="PASS" name="flaky" duration-ms="3"/>
      <test-method status="FAIL" name="adds" duration-ms="5"><exception class="java.lang.AssertionError"><message><![CDATA[expected [8] but found [7]]]></message>
      <full-stacktrace><![CDATA[java.lang.AssertionError: expected [8] but found [7]
	at shop.CartTest.adds(CartTest.java:17)]]></full-stacktrace></exception></test-method></class></test></suite></testng-results>`;
    expect(failed('t.xml', xml)).toEqual([
      ['shop.CartTest', 'adds', 'CartTest.java', 17, 'expected [8] but found [7]'],
    ]);
    expect(parseReport('t.xml', xml).passedOnRetry).toEqual([
      { suite: 'shop.CartTest', name: 'flaky', at: null },
    ]);
  });
});

describe('JSON formats', () => {
  it('include CTRF', () => {
    const tests = [
      {
        name: 'adds',
        status: 'failed',
        duration: 12,
        suite: ['cart', 'sums'],
        message: 'no',
        filePath: 'a.test.ts',
        line: 4,
      },
      { name: 'retried', status: 'passed', duration: 3, flaky: true },
      { name: 'later', status: 'pending', duration: 0 },
      { nonsense: true },
    ];
    const text = JSON.stringify(
      { reportFormat: 'CTRF', results: { tool: { name: 'x' }, summary: {}, tests } },
      null,
      1,
    );
    expect(failed('c.json', text)).toEqual([['cart > sums', 'adds', 'a.test.ts', 4, 'no']]);
    expect(counts('c.json', text)).toEqual([1, 1, 1]);
    expect(parseReport('c.json', text).passedOnRetry).toEqual([{ suite: null, name: 'retried', at: null }]);
    expect(parseReport('c.json', text).notes).toEqual([
      '1 of 4 entries of the report are not as its format describes and were left out.',
    ]);
    expect(parseReport('c.json', text).failingTests[0]?.at?.line).toBe(
      text.slice(0, text.indexOf('"adds"')).split('\n').length,
    );
  });

  it('include Jest', () => {
    const assertion = {
      title: 'adds',
      ancestorTitles: ['cart'],
      fullName: 'cart adds',
      status: 'failed',
      failureMessages: ['Error: no\n    at f (/w/a.test.js:3:1)'],
    };
    const text = JSON.stringify({
      numTotalTests: 1,
      testResults: [
        { name: '/w/a.test.js', status: 'failed', message: '', assertionResults: [assertion] },
        { name: '/w/b.test.js', status: 'failed', message: "Cannot find module './c'", assertionResults: [] },
      ],
    });
    expect(failed('j.json', text)).toEqual([
      ['cart', 'adds', '/w/a.test.js', 3, 'Error: no'],
      [null, '/w/b.test.js', '/w/b.test.js', null, "Cannot find module './c'"],
    ]);
  });

  it('include Mocha, RSpec, pytest-json-report and Cucumber', () => {
    const mocha = {
      title: 'adds',
      fullTitle: 'cart adds',
      file: '/w/a.js',
      err: { message: 'no', stack: 'Error: no\n at /w/a.js:3:1', expected: 8, actual: 7 },
    };
    expect(
      failed('m.json', JSON.stringify({ stats: { tests: 1 }, tests: [mocha], failures: [mocha] })),
    ).toEqual([['cart', 'adds', '/w/a.js', 3, 'no']]);
    const example = {
      description: 'adds',
      full_description: 'Cart adds',
      status: 'failed',
      file_path: './spec/a_spec.rb',
      line_number: 4,
      exception: { message: 'no' },
    };
    expect(failed('r.json', JSON.stringify({ examples: [example], summary_line: '1 example' }))).toEqual([
      ['Cart', 'adds', './spec/a_spec.rb', 4, 'no'],
    ]);
    const call = {
      outcome: 'failed',
      duration: 0.1,
      crash: { path: '/w/tests/test_a.py', lineno: 9, message: 'assert 7 == 8' },
    };
    const test = { nodeid: 'tests/test_a.py::TestA::test_b', outcome: 'failed', lineno: 5, call };
    expect(failed('p.json', JSON.stringify({ root: '/w', exitcode: 1, tests: [test] }))).toEqual([
      ['tests.test_a.TestA', 'test_b', 'tests/test_a.py', 9, 'assert 7 == 8'],
    ]);
    const steps = [
      {
        keyword: 'Then ',
        name: 'it adds',
        result: { status: 'failed', duration: 5_000_000, error_message: 'no\n at x' },
      },
    ];
    const feature = {
      keyword: 'Feature',
      name: 'Cart',
      uri: 'a.feature',
      elements: [{ name: 'sums', type: 'scenario', line: 3, steps }],
    };
    expect(failed('c.json', JSON.stringify([feature]))).toEqual([
      ['Cart', 'sums', 'a.feature', 3, 'Then it adds: no'],
    ]);
  });

  it('include SARIF and Checkstyle as diagnostics', () => {
    const location = {
      physicalLocation: { artifactLocation: { uri: 'a.ts' }, region: { startLine: 3, startColumn: 5 } },
    };
    const results = [
      { ruleId: 'no-x', level: 'error', message: { text: 'bad' }, locations: [location] },
      { level: 'note', message: { text: 'fine' } },
    ];
    const sarif = JSON.stringify({
      version: '2.1.0',
      runs: [{ tool: { driver: { name: 'lint' } }, results }],
    });
    expect(parseReport('s.sarif', sarif).diagnostics).toMatchObject([
      { tool: 'lint', file: 'a.ts', line: 3, column: 5, code: 'no-x', message: 'bad' },
    ]);
    const checkstyle =
      '<checkstyle><file name="A.java"><error line="3" severity="error" message="bad"/></file></checkstyle>';
    expect(parseReport('c.xml', checkstyle).diagnostics).toMatchObject([
      { file: 'A.java', line: 3, message: 'bad', severity: 'error' },
    ]);
  });
});

describe('a test that is listed twice', () => {
  const xml = (...cases: string[]) => `<testsuite name="S">${cases.join('')}</testsuite>`;
  const bad = '<testcase name="a"><failure message="no"/></testcase>';
  const good = '<testcase name="a"/>';

  it('passed on a retry if the last attempt did', () => {
    expect(parseReport('r.xml', xml(bad, good))).toMatchObject({
      failingTests: [],
      testResults: [{ status: 'passed' }],
      passedOnRetry: [{ suite: 'S', name: 'a', at: null }],
    });
  });

  it.each([
    ['it failed last', xml(good, bad)],
    ['it passed more than once', xml(bad, good, good)],
    ['Surefire lists rows of one test', xml(bad, good).replace('>', ' schema="surefire-test-report.xsd">')],
  ])('failed if %s', (_, text) => {
    expect(parseReport('r.xml', text)).toMatchObject({
      failingTests: [{ name: 'a' }],
      testResults: [{ status: 'failed' }],
    });
  });
});

describe('a hostile, broken or unknown report', () => {
  it.each([
    ['an empty file', '', 'it is empty'],
    ['plain words', 'hello\n', 'neither XML nor JSON nor TAP'],
    ['a web page', '<!DOCTYPE html><html></html>', 'root element is <html>'],
    ['XML of another kind', '<project/>', 'root element is <project>'],
    ['JSON of another kind', '{"name":"x"}', 'no format that is known'],
    ['XML nested without end', `<testsuite>${'<a>'.repeat(300)}`, 'nested more than 200 deep'],
  ])('causes a note: %s', (_, text, why) => {
    expect(parseReport('r', text)).toMatchObject({ failingTests: [], notes: [expect.stringContaining(why)] });
    expect(isReport(text) && !text.startsWith('<testsuite')).toBe(false);
  });

  it('may have a document type without definitions of its own, as JaCoCo, Cobertura and TestNG do', () => {
    const xml =
      '<?xml version="1.0"?><!DOCTYPE testsuites SYSTEM "http://example.test/junit.dtd"><testsuite><testcase name="a"><failure message="no"/></testcase></testsuite>';
    expect(parseReport('r.xml', xml)).toMatchObject({ failingTests: [{ name: 'a' }], notes: [] });
  });

  it('may contain control characters and colors that a test printed', () => {
    const xml =
      '<testsuite><testcase name="a"><failure message="\u0001&#27;[31mno&#x1b;[0m"/></testcase></testsuite>';
    expect(parseReport('r.xml', xml)).toMatchObject({
      failingTests: [{ message: 'no' }],
      notes: [
        'r.xml is damaged: it holds 1 control character that XML forbids, the first on line 1. It was read without it.',
      ],
    });
    expect(parseReport('r.xml', xml.replace('\u0001', '')).notes).toEqual([]);
  });

  it('has no line ends at lone carriage returns, and line ends before the document count', () => {
    const xml =
      '\n\n<testsuite name="S"\r\r\r tests="1">\n<testcase name="a"><failure/></testcase></testsuite>';
    expect(parseReport('r.xml', xml).failingTests[0]?.at?.line).toBe(4);
  });

  it.each([
    ['once each', (at: number) => `no ${at}`],
    ['in words that the text writes otherwise', (at: number) => `no/${at}`],
  ])('with one line of many megabytes is searched in limited time: %s', (_, words) => {
    const results = Array.from({ length: 40_000 }, (_unused, at) => ({
      message: { text: `${words(at)} ${'x'.repeat(300)}` },
      level: 'error',
    }));
    const text = JSON.stringify({
      version: '2.1.0',
      runs: [{ tool: { driver: { name: 't' } }, results }],
    }).replaceAll('/', '\\/');
    const begun = readCpuMs();
    expect(parseReport('r.sarif', text).diagnostics).toHaveLength(10_000);
    expect(readCpuMs() - begun).toBeLessThan(3_000);
  });

  it('is not a log', () => {
    for (const text of [
      '[INFO] building\n',
      '{"level":"info"}\n{"level":"error"}\n',
      '1..2\nok 1\nnot ok 2\n',
    ])
      expect(isReport(text)).toBe(false);
  });

  it('is not accepted with endlessly nested values', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const text = `{"stats":{"tests":1},"failures":[],"tests":[{"title":"a","fullTitle":"a","err":{"message":"no","actual":${deep}}}]}`;
    expect(Array.isArray(parseReport('r.json', text).notes)).toBe(true);
    expect(typeof isReport(text)).toBe('boolean');
  });

  it('never causes an exception', () => {
    const pieces = [
      '<TestRun>',
      '<UnitTestResult>',
      '</UnitTestResult>',
      '<test-run>',
      '<test-case>',
      '{"Action":"run","Test":"a"}',
      '\n',
      'not ok 1 - a',
      '  ---',
      '  ...',
      '1..3',
      '# Subtest: x',
      '    ok 1',
      '{',
      '[',
      '"tests":[]',
      '}',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (some) =>
        Array.isArray(parseReport('r', some.join('\n')).notes),
      ),
    );
    fc.assert(fc.property(fc.json(), (json) => Array.isArray(parseReport('r.json', json).notes)));
  });
});
