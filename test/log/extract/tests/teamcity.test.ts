import { describe, expect, it } from 'vitest';
import { readSources } from '../../../../src/log/read-sources.ts';
import { readCapturedLog } from '../../sections/read-sections.ts';

const read = (lines: readonly string[]) =>
  readSources([{ name: 'l', kind: 'log', text: lines.join('\n'), notes: [] }], { budgetTokens: 2_000 });

describe('TeamCity service messages', () => {
  const captured = readCapturedLog('teamcity-pytest.txt');

  it('give failing tests with place, expected and actual values, as the plugin prints them', () => {
    const { failingTests } = read(captured.filter((line) => line.includes('##teamcity[')));
    expect(failingTests).toMatchObject([
      {
        name: 'test_ledger.test_total',
        file: 'test_ledger.py',
        line: 9,
        expected: '3',
        actual: '2',
        framework: 'teamcity',
      },
      {
        name: 'test_ledger.LedgerTest.test_equal',
        file: 'test_ledger.py',
        line: 18,
        expected: '4',
        actual: '5',
      },
    ]);
  });

  it('add nothing to the output of the framework itself', () => {
    expect(read(captured).failingTests.map(({ framework }) => framework)).toEqual(['pytest', 'pytest']);
  });

  it('have their values unescaped, and their suites by flow', () => {
    const { failingTests } = read([
      "##teamcity[testSuiteStarted name='Scale' flowId='1']",
      "##teamcity[testSuiteStarted name='Other' flowId='2']",
      "##teamcity[testStarted name='weighs' flowId='1']",
      "##teamcity[testFailed type='comparisonFailure' name='weighs |[kg|]' flowId='1' message='it|'s off|nby 1 |0x20AC' expected='a||b' actual='c']",
    ]);
    expect(failingTests).toMatchObject([
      { name: 'weighs [kg]', suite: 'Scale', message: "it's off\nby 1 €", expected: 'a|b', actual: 'c' },
    ]);
  });

  it('report build problems, but no passed tests or informational messages', () => {
    const { messages, failingTests } = read([
      "##teamcity[testFinished name='never fails']",
      "##teamcity[message text='an error was avoided' status='NORMAL']",
      "##teamcity[buildProblem description='Compilation of module |'scale|' broke' identity='x']",
    ]);
    expect(failingTests).toEqual([]);
    expect(messages[0]?.text).toBe("Compilation of module 'scale' broke");
  });
});
