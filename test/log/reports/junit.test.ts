import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseReport as parseJUnit } from '../../../src/log/reports/report.ts';

const suite = (inside: string, attributes = 'name="S" tests="1"') =>
  `<testsuite ${attributes}>${inside}</testsuite>`;

describe('T45: parseJUnit', () => {
  it('reads pytest', () => {
    const xml = `<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" errors="0" failures="1" tests="2">
      <testcase classname="tests.test_tax.TestTax" name="test_rate[3]" time="0.002"><failure message="assert 1 == 2">def test_rate():
&gt;   assert 1 == 2</failure></testcase><testcase classname="tests.test_tax" name="test_ok" time="0.5" /></testsuite></testsuites>`;
    const { failingTests, testResults, notes } = parseJUnit('report.xml', xml);
    expect(failingTests).toMatchObject([
      {
        name: 'test_rate[3]',
        suite: 'tests.test_tax.TestTax',
        message: 'assert 1 == 2',
        actual: '1',
        expected: '2',
        framework: 'junit-xml',
      },
    ]);
    expect(testResults.map(({ status, durationMs }) => [status, durationMs])).toEqual([
      ['failed', 2],
      ['passed', 500],
    ]);
    expect(notes).toEqual([]);
  });

  it('shows the whole of a message that only introduces the lines below it', () => {
    const said =
      'lift_test.cpp:5&#x0A;Expected equality of these values:&#x0A;  seats(30)&#x0A;    Which is: 118&#x0A;  110&#x0A;broken chairs';
    const xml = suite(
      `<testcase name="TwoAreBroken" classname="Chairs"><failure message="${said}" type=""></failure></testcase>`,
    );
    expect(parseJUnit('report.xml', xml).failingTests).toMatchObject([
      {
        name: 'TwoAreBroken',
        message: 'Expected equality of these values: seats(30) Which is: 118 110 broken chairs',
      },
    ]);
  });

  it('reads a Surefire test that passed on a rerun as passed, with a note', () => {
    const xml = suite('<testcase name="a" classname="x.Y"><flakyFailure message="no" type="t"/></testcase>');
    const report = parseJUnit('r.xml', xml);
    expect(report.failingTests).toEqual([]);
    expect(report.testResults[0]?.status).toBe('passed');
    expect(report.passedOnRetry).toEqual([{ suite: 'x.Y', name: 'a', at: null }]);
  });

  it('counts a test with rerun failures once', () => {
    const xml = suite(
      '<testcase name="a" classname="x.Y"><failure message="first"/><rerunFailure message="second"/></testcase>',
    );
    expect(parseJUnit('r.xml', xml).failingTests).toMatchObject([{ message: 'first' }]);
  });

  it('reads go-junit-report, jest-junit and Playwright, with the message as text and the file at suite or case', () => {
    const xml = `<testsuites>${suite('<testcase classname="pkg" name="TestA"><failure message="Failed" type="">a_test.go:5: bad</failure></testcase>')}
      ${suite('<testcase name="t" file="a.spec.ts" line="4"><error><![CDATA[boom]]></error></testcase>', 'name="b" tests="1" file="b.ts"')}</testsuites>`;
    expect(parseJUnit('r.xml', xml).failingTests).toMatchObject([
      { name: 'TestA' },
      { file: 'a.spec.ts', line: 4, message: 'boom' },
    ]);
  });

  it('notes wrong counts', () => {
    expect(parseJUnit('r.xml', suite('<testcase name="a"/>', 'name="S" tests="7"')).notes).toEqual([
      'r.xml: suite S says it has 7 tests but lists 1.',
    ]);
  });

  it('keeps what it read before the XML broke', () => {
    const { testResults, notes } = parseJUnit(
      'r.xml',
      '<testsuite name="S"><testcase name="a"/><testcase name="b"><fail',
    );
    expect(testResults).toHaveLength(1);
    expect(notes[0]).toContain('r.xml is not a well-formed JUnit report');
  });

  it.each([
    ['billion laughs', '<!DOCTYPE x [<!ENTITY a "aaa"><!ENTITY b "&a;&a;">]><testsuite name="&b;"/>'],
    ['an external entity', '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite name="&a;"/>'],
    ['an unknown entity', '<testsuite name="&nope;"/>'],
    ['another kind of document', '<html><body/></html>'],
  ])('refuses %s', (_, xml) => {
    expect(parseJUnit('r.xml', xml)).toMatchObject({ failingTests: [], testResults: [] });
  });

  it('never throws', () => {
    const piece = fc.constantFrom(
      '<testsuite>',
      '</testsuite>',
      '<testcase name="a">',
      '</testcase>',
      '<failure>',
      '<![CDATA[',
      ']]>',
      '&amp;',
      '&x;',
      'text',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => Array.isArray(parseJUnit('r.xml', pieces.join('')).notes)),
    );
  });
});
