import { expect, it } from 'vitest';
import { isOfTest } from '../../../src/console/answer/pictures.ts';
import { parseReport } from '../../../src/log/reports/report.ts';

const attached = (name: string, text: string) => parseReport(name, text).failingTests[0]?.attachments;

it('a report names the files of a failing test: in its output, in a property, or in the way of CTRF', () => {
  const printed = `<testsuites><testsuite name="cart"><testcase name="pays" classname="cart">
    <properties><property name="testrail_attachment" value="shots/pays.png"/></properties>
    <failure message="no">no</failure>
    <system-out>[[ATTACHMENT|../test-results/cart-pays/test-failed-1.png]]</system-out>
    </testcase></testsuite></testsuites>`;
  expect(attached('junit.xml', printed)).toEqual([
    '../test-results/cart-pays/test-failed-1.png',
    'shots/pays.png',
  ]);
  const test = { name: 'pays', status: 'failed', duration: 5, message: 'no' };
  const ctrf = (attachments: unknown) =>
    JSON.stringify({
      results: { tool: { name: 'playwright' }, summary: {}, tests: [{ ...test, attachments }] },
    });
  expect(
    attached('ctrf.json', ctrf([{ name: 'shot', contentType: 'image/png', path: 'a/pays.png' }])),
  ).toEqual(['a/pays.png']);
  expect(attached('ctrf.json', ctrf('<nothing of the kind>'))).toBeUndefined();
});

it('the number of files that a report names is limited', () => {
  const many = Array.from({ length: 500 }, (_, at) => `[[ATTACHMENT|a/${at}.png]]`).join('\n');
  const long = `[[ATTACHMENT|${'a'.repeat(501)}]]`;
  const output = `<system-out>${long}${many}</system-out>`;
  const report = `<testsuite name="s"><testcase name="t"><failure message="no"/>${output}</testcase></testsuite>`;
  expect(attached('junit.xml', report)).toHaveLength(20);
});

it.each([
  [
    'results.zip/test-results/cart-pays/test-failed-1.png',
    '../test-results/cart-pays/test-failed-1.png',
    true,
  ],
  ['cart-pays/test-failed-1.png', 'C:\\ci\\test-results\\cart-pays\\test-failed-1.png', true],
  ['other-test/test-failed-1.png', '../test-results/cart-pays/test-failed-1.png', false],
  ['shot.png', '../../../../etc/shot.png', true],
  ['shot.png', '..', false],
])('a file belongs to a test whose report names it: %s, %s', (file, path, is) =>
  expect(isOfTest(file, { name: 'x', attachments: [path] })).toBe(is),
);
