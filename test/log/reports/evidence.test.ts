import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SourceText } from '../../../src/domain/build.ts';
import { readCauses } from '../../../src/log/causes/read-causes.ts';
import { holdsReadable } from '../../../src/log/reports/passages.ts';
import { parseReport } from '../../../src/log/reports/report.ts';
import { THOROUGH } from '../../support/thorough.ts';

const BUDGET = { budgetTokens: 2_000 };
const report = (text: string, name = 'report.xml'): SourceText => ({ name, kind: 'report', text, notes: [] });
const log = (text: string): SourceText => ({ name: 'build.log', kind: 'log', text, notes: [] });
const passagesIn = (text: string) =>
  [...parseReport('r', text).passages.values()].flat().map(({ lines }) => lines);
const holds = (stored: string, quote: string) =>
  holdsReadable(stored, quote, (line, words) => line.includes(words));
const captured = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../fixtures/reports', name), 'utf8');

/** One failing test in each format, on several lines. */
const FORMATS: readonly (readonly [string, string])[] = [
  [
    'JUnit XML',
    '<testsuite>\n<testcase name="adds &lt;two&gt;">\n<failure message="wants &quot;8&quot;&#10;but got 7">\nat cart.js:3 &amp; more</failure></testcase></testsuite>',
  ],
  [
    'JUnit XML with CDATA',
    '<testsuite>\n<testcase name="adds">\n<failure><![CDATA[wants 8 <of> 9 &amp; 10\nbut got 7]]></failure></testcase></testsuite>',
  ],
  [
    'xUnit.net',
    '<assemblies><assembly><collection>\n<test name="A.adds" type="A" result="Fail">\n<failure><message><![CDATA[wants 8\nbut got 7]]></message></failure></test></collection></assembly></assemblies>',
  ],
  [
    'NUnit',
    '<test-run>\n<test-case fullname="A.adds" result="Failed">\n<failure><message>wants 8 &lt;\nbut got 7</message></failure></test-case></test-run>',
  ],
  [
    'TRX',
    '<TestRun><Results>\n<UnitTestResult testName="adds" outcome="Failed">\n<Output><ErrorInfo><Message>wants 8\nbut got 7</Message></ErrorInfo></Output></UnitTestResult></Results></TestRun>',
  ],
  [
    'TestNG',
    '<testng-results><suite><test><class name="A">\n<test-method name="adds" status="FAIL">\n<exception class="E"><message><![CDATA[wants 8\nbut got 7]]></message></exception></test-method></class></test></suite></testng-results>',
  ],
  [
    'jest --json',
    '{"numTotalTests":1,"testResults":[{"name":"a.js","assertionResults":[{"title":"adds",\n"status":"failed","failureMessages":["wants \\u00228\\u0022\\nbut got 7"],\n"fullName":"adds"}]}]}',
  ],
  ['TAP', '1..1\nnot ok 1 - adds\n  ---\n  message: wants 8\n  found: but got 7\n  ...\n'],
  [
    'go test -json',
    '{"Action":"run","Package":"p","Test":"TestAdds"}\n{"Action":"output","Package":"p","Test":"TestAdds","Output":"    a_test.go:3: wants \\"8\\", but got 7\\n"}\n{"Action":"fail","Package":"p","Test":"TestAdds"}\n',
  ],
];

describe("a report's message on a failing test", () => {
  it.each(FORMATS)('has the lines of the report, in readable form: %s', (_, text) => {
    const { failingTests } = parseReport('r', text);
    const [lines = []] = passagesIn(text);
    expect(failingTests[0]?.spans).toEqual([
      { source: 'r', lineStart: lines[0]?.line, lineEnd: lines.at(-1)?.line },
    ]);
    expect(failingTests[0]?.at?.line).toBeGreaterThanOrEqual(lines[0]?.line ?? 99);
    const said = lines.map((line) => line.text).join('\n');
    expect(said).toMatch(/adds|Adds|a_test/);
    expect(said).toMatch(/wants "?8"?/);
    expect(said).toContain('but got 7');
    const stored = text.split('\n');
    for (const { line, text: shown } of lines)
      expect(holds(stored[line - 1] ?? '', shown), `${line}: ${shown}`).toBe(true);
  });

  it.each(['pytest.xml', 'node-test.xml', 'ctest.xml', 'go-test.json', 'node.tap', 'perl.tap'])(
    'has the lines of the captured %s',
    (name) => {
      const stored = captured(name).split('\n');
      const passages = passagesIn(captured(name));
      expect(passages.length).toBeGreaterThan(0);
      for (const { line, text } of passages.flat())
        expect(holds(stored[line - 1] ?? '', text), `${line}: ${text}`).toBe(true);
    },
  );

  it('is compared with the line itself, in no other form', () => {
    expect(holds('<failure message="a &lt; b&#10;c">', 'a < b ↵ c')).toBe(true);
    expect(holds('{"message":"caf\\u00e9 \\"au lait\\""}', 'café "au lait"')).toBe(true);
    expect(holds('<![CDATA[a &lt; b]]>', 'a < b')).toBe(false);
    expect(holds('<failure message="a &lt; b">', 'a < c')).toBe(false);
    expect(holds('<failure message="a">', 'a ↵ b')).toBe(false);
  });

  it('is distinguished on one line for tests with the same name in many suites and files', () => {
    const cases = ['x', 'y', 'z'].map(
      (at) =>
        `<testcase name="t" classname="S" file="${at}.js"><failure message="the ${at} axis is bent"/></testcase>`,
    );
    const { causes } = readCauses([report(`<testsuite>${cases.join('')}</testsuite>`)], BUDGET);
    expect(causes.map(({ reading }) => reading.excerpts.map(({ text }) => text))).toEqual([
      ['t ↵ the x axis is bent'],
      ['t ↵ the y axis is bent'],
      ['t ↵ the z axis is bent'],
    ]);
  });
});

describe('a build with a report', () => {
  const CART = 'AssertionError: expected 8 but was 7';
  const STOCK = 'TypeError: stock is undefined';
  const xml = `<testsuite name="S">\n<testcase name="adds up" classname="cart">\n<failure message="${CART}"/></testcase>\n<testcase name="counts" classname="stock">\n<failure message="${STOCK}"/></testcase>\n</testsuite>`;

  it('has an excerpt of its own lines for each cause, without a log', () => {
    const { causes } = readCauses([report(xml)], BUDGET);
    expect(causes.map(({ reading }) => reading.excerpts)).toMatchObject([
      [{ source: 'report.xml', lineStart: 2, lineEnd: 3, text: `adds up\n${CART}` }],
      [{ source: 'report.xml', lineStart: 4, lineEnd: 5, text: `counts\n${STOCK}` }],
    ]);
    expect(causes.map(({ failures }) => failures[0]?.excerpt?.text.split('\n')[1])).toEqual([CART, STOCK]);
  });

  const blockIn = (message: string) =>
    `  1) cart\n       adds up:\n     ${message}\n      at Context.<anonymous> (test/cart.js:9:3)\n`;

  it('is one failure with the lines of both, quoted from the log if that contains the message', () => {
    const { reading, causes } = readCauses([log(`1 failing\n\n${blockIn(CART)}`), report(xml)], BUDGET);
    const [test] = reading.failingTests;
    expect(reading.failingTests).toHaveLength(2);
    expect(test?.spans?.map(({ source }) => source)).toEqual(['build.log', 'report.xml']);
    expect(causes[0]?.reading.excerpts.map(({ source }) => source)).toEqual(['build.log']);
    expect(causes[1]?.reading.excerpts.map(({ source }) => source)).toEqual(['report.xml']);
    expect(reading.notes.join()).not.toContain('attempts');
  });

  it('uses only the log if the report is of another attempt, with a note', () => {
    const { reading } = readCauses(
      [log(`1 failing\n\n${blockIn('Error: the till is locked')}`), report(xml)],
      BUDGET,
    );
    expect(reading.failingTests[0]).toMatchObject({
      name: 'adds up',
      file: 'test/cart.js',
      line: 9,
      expected: null,
      actual: null,
    });
    expect(reading.failingTests[0]?.message).toContain('the till is locked');
    expect(reading.notes).toEqual([
      'report.xml says something else of cart.adds up than build.log: they are of different attempts, and the log is used.',
    ]);
  });

  it('notes that two reports disagree', () => {
    const passed = '<testsuite name="S"><testcase name="adds up" classname="cart"/></testsuite>';
    const { reading } = readCauses([report(xml), report(passed, 'second.xml')], BUDGET);
    expect(reading.notes).toEqual(['cart.adds up failed in report.xml and passed in second.xml.']);
    const twice = readCauses([report(xml), report(xml, 'second.xml')], BUDGET).reading;
    expect(twice.failingTests.map(({ spans }) => spans?.map(({ source }) => source))).toEqual([
      ['report.xml', 'second.xml'],
      ['report.xml', 'second.xml'],
    ]);
  });

  it('has test names on one line', () => {
    const [test] = parseReport('r', xml.replace('adds up', 'adds&#10; up')).failingTests;
    expect(test?.name).toBe('adds up');
  });

  it('names what Playwright reports, not the place of the test', () => {
    const text =
      '\n  a.spec.js:7:1 › has wine ───\n\n    Error: no wine\n\n        at /home/e2e/a.spec.js:8:49\n';
    const playwright = `<testsuite><testcase name="has wine" classname="a.spec.js"><failure message="a.spec.js:7:1 has wine">${text}</failure></testcase></testsuite>`;
    expect(parseReport('r', playwright).failingTests).toMatchObject([{ message: 'Error: no wine' }]);
  });
});

/** So many that their names alone are many times the budget. */
const MANY = THOROUGH ? 200_000 : 20_000;

describe(`a report of ${MANY} failing tests`, () => {
  it('gives the first of each cause, counts the rest, and stays within its budget', {
    timeout: 300_000,
  }, () => {
    const cases = Array.from(
      { length: MANY },
      (_, at) =>
        `<testcase name="t" classname="S${at}"><failure message="${at < MANY - 10 ? 'expected 1 but was 2' : `no file ${String.fromCharCode(97 + (at % 10))}`}"/></testcase>`,
    );
    const { reading, causes } = readCauses(
      [report(`<testsuite>\n${cases.join('\n')}\n</testsuite>`)],
      BUDGET,
    );
    expect(reading.failingTests).toHaveLength(500);
    expect(reading.failingTests.filter(({ message }) => message?.startsWith('no file'))).toHaveLength(10);
    expect(reading.testResults.filter(({ status }) => status === 'failed')).toHaveLength(5_000);
    expect(reading.notes).toEqual([
      `report.xml: ${MANY} tests failed. 500 of them, the first of each cause, are told apart.`,
      `${(MANY - 5_000).toLocaleString('en-US')} test results of ${MANY} (${MANY} failed) are only counted; their names are in the report, which can be searched.`,
    ]);
    expect(causes.length).toBeLessThanOrEqual(20);
    for (const { reading: own } of causes) expect(own.tokens).toBeLessThanOrEqual(BUDGET.budgetTokens);
    expect(reading.tokens).toBeLessThanOrEqual(BUDGET.budgetTokens);
  });
});
