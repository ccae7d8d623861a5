import { describe, expect, it } from 'vitest';
import type { EnvironmentRecord } from '../../../src/domain/environment-record.ts';
import { formatVersionChange } from '../../../src/domain/version-changes.ts';
import { readCauses } from '../../../src/log/causes/read-causes.ts';
import { compareRecords, findAbsent } from '../../../src/log/environment/compare-records.ts';
import { findUnavailable, linkChanges } from '../../../src/log/environment/link-changes.ts';
import { readRecordOfText } from '../../../src/log/environment/read-record.ts';

/** Compares two logs, and says each change with "!" where the failure is about it. */
function compare(green: string, red: string, isSameCommit = true): string[] {
  const { reading, records } = readCauses([{ name: 'log', kind: 'log', text: red, notes: [] }], {
    budgetTokens: 4_000,
  });
  const [now] = records as [EnvironmentRecord];
  const before = readRecordOfText('log', green);
  const words = { ...reading, failures: [] };
  const changes = [
    ...findUnavailable(findAbsent(before, now), now, words),
    ...linkChanges(compareRecords(before, now), words, isSameCommit),
  ];
  return changes.map((one) => `${one.link === null ? '' : '! '}${formatVersionChange(one)}`);
}

const trace = (error: string, file = '/app/app.py', code = 'main()') =>
  `Traceback (most recent call last):\n  File "${file}", line 3, in <module>\n    ${code}\n${error}\n##[error]Process completed with exit code 1.`;
const numpy = (version: string) =>
  `Collecting numpy (from -r requirements.txt (line 1))\nSuccessfully installed numpy-${version} six-1.16.0\n`;

describe('a change since the last passed run', () => {
  it('explains a failure that names it, with what selected the version', () => {
    const red = `${numpy('1.24.1')}${trace("AttributeError: module 'numpy' has no attribute 'float'")}`;
    expect(compare(numpy('1.23.5'), red)).toEqual(['! numpy 1.23.5 → 1.24.1 (unpinned in requirements.txt)']);
  });

  it('is only listed if the failure concerns something else', () => {
    const failures = [
      'AssertionError: total is 3',
      "ModuleNotFoundError: No module named 'billing_rules'",
      "TypeError: 'NoneType' object is not subscriptable",
      'requests.exceptions.ConnectionError: numpy.example:443: Max retries exceeded with url: /',
    ];
    for (const error of failures)
      expect(compare(numpy('1.23.5'), `${numpy('1.24.1')}${trace(error)}`)).toEqual([
        'numpy 1.23.5 → 1.24.1 (unpinned in requirements.txt)',
      ]);
  });

  it('explains nothing on another commit unless it is a new major version', () => {
    const error = trace("AttributeError: module 'numpy' has no attribute 'float'");
    expect(compare(numpy('1.23.5'), `${numpy('1.24.1')}${error}`, false)).toEqual([
      'numpy 1.23.5 → 1.24.1 (unpinned in requirements.txt)',
    ]);
    expect(compare(numpy('1.23.5'), `${numpy('2.0.0')}${error}`, false)).toEqual([
      '! numpy 1.23.5 → 2.0.0 (unpinned in requirements.txt)',
    ]);
  });

  it('is first the image if a program is missing, but not if a test fails', () => {
    const image = (version: string) =>
      `Image: ubuntu-24.04\nVersion: ${version}\n##[group]Run svn up\n##[endgroup]\n`;
    const end = '##[error]Process completed with exit code 127.';
    const missing = `${image('20261118.1.0')}/home/runner/work/_temp/a.sh: line 1: svn: command not found\n${end}`;
    expect(compare(image('20261101.1.0'), missing)).toEqual([
      '! ubuntu-24.04 image 20261101.1.0 → 20261118.1.0',
    ]);
    const failing = `${image('20261118.1.0')}AssertionError: expected 3 to be 4\n${end}`;
    expect(compare(image('20261101.1.0'), failing)).toEqual([
      'ubuntu-24.04 image 20261101.1.0 → 20261118.1.0',
    ]);
  });

  it('is described as withdrawn if the index no longer has the version', () => {
    const red = `ERROR: Could not find a version that satisfies the requirement six==1.16.0 (from versions: 1.15.0)
ERROR: No matching distribution found for six==1.16.0
##[error]Process completed with exit code 1.`;
    expect(compare('Successfully installed six-1.16.0', red)).toEqual(['! six 1.16.0 is gone']);
  });

  it('is not assumed if versions are equal as far as they are known', () => {
    expect(compare('Python 3.12', `Python 3.12.7\n${trace('ValueError: x')}`)).toEqual([]);
  });

  it('may be a removed variable, which explains a failure that names it', () => {
    const step = (env: string) => `##[group]Run make\nshell: bash\nenv:\n  CI_HOME: /x\n${env}##[endgroup]\n`;
    const red = `${step('')}Error: SHOP_TOKEN must be set\n##[error]Process completed with exit code 1.`;
    expect(compare(step('  SHOP_TOKEN: ***\n'), red)).toEqual(['! variable SHOP_TOKEN is gone']);
  });
});
