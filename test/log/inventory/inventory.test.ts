import { describe, expect, it } from 'vitest';
import type { SourceKind, SourceText } from '../../../src/domain/build.ts';
import { Survey } from '../../../src/domain/reading.ts';
import { surveyFiles } from '../../../src/log/inventory/inventory.ts';

const file = (
  name: string,
  text: string,
  kind: SourceKind = 'artifact',
  notes: string[] = [],
): SourceText => ({ name, kind, text, notes });
const log = (text: string) => file('build.log', text, 'log');
const FAILED =
  '<testsuite name="cart"><testcase name="sums"><failure message="expected 10.20">at cart</failure></testcase></testsuite>';
const PASSED = '<testsuite name="cart"><testcase name="sums"/></testsuite>';
const TRACE =
  'Traceback (most recent call last):\n  File "app/db.py", line 7, in connect\n    raise OSError("no route")\nOSError: no route to db\n';
const HS_ERR =
  '#\n# There is insufficient memory for the Java Runtime Environment to continue.\n# Native memory allocation (mmap) failed\n';

/** Name to how it was read. */
const readInventory = (sources: SourceText[]) =>
  Object.fromEntries(surveyFiles(sources).survey?.files.map(({ name, read }) => [name, read]) ?? []);
const gradeSource = (sources: SourceText[]) =>
  Object.fromEntries(surveyFiles(sources).survey?.files.map(({ name, grade }) => [name, grade]) ?? []);

describe('the inventory of a build', () => {
  it('does not exist for one log without other files', () => {
    const only = [log('error: no')];

    expect(surveyFiles(only)).toEqual({ read: only, survey: null, notes: [] });
  });

  it('grades files by name and text, with a reason each', () => {
    const sources = [
      log('make: *** [all] Error 1'),
      file('junit.xml', FAILED, 'report'),
      file('passed.xml', PASSED, 'report'),
      file('logs/worker.log', TRACE),
      file('logs/hs_err_pid12.log', HS_ERR),
      file('logs/quiet.log', 'started\nstopped\n'),
      file('shots/cart.png', '', 'artifact', ['not kept: a PNG image']),
      file('coverage/lcov.info', 'TN:\nSF:src/cart.ts\nDA:1,1\n'),
      file('node_modules.txt', 'left-pad@1.3.0\n'),
      file('site/index.html', '<!doctype html><p>error: nothing</p>'),
      file('empty.log', '\n'),
    ];

    expect(gradeSource(sources)).toEqual({
      'build.log': 'relevant',
      'junit.xml': 'relevant',
      'passed.xml': 'maybe',
      'logs/worker.log': 'relevant',
      'logs/hs_err_pid12.log': 'relevant',
      'logs/quiet.log': 'maybe',
      'shots/cart.png': 'skip',
      'coverage/lcov.info': 'skip',
      'node_modules.txt': 'skip',
      'site/index.html': 'skip',
      'empty.log': 'skip',
    });
    const { survey, read, notes } = surveyFiles(sources);
    expect(survey?.files.every(({ reason }) => reason !== '')).toBe(true);
    expect(survey?.files.find(({ name }) => name === 'logs/worker.log')?.preview).toContain(
      'OSError: no route to db',
    );
    expect(read.map(({ name }) => name)).toEqual([
      'build.log',
      'junit.xml',
      'passed.xml',
      'logs/worker.log',
      'logs/hs_err_pid12.log',
    ]);
    expect(notes[0]).toBe('8 artifacts were looked at; 2 read, 6 left.');
    expect(Survey.parse(survey)).toEqual(survey);
  });

  it('follows a reference to a file of low grade, and from there to the next', () => {
    const sources = [
      log('tests failed\nFor more details see target/runner.txt'),
      file('out/target/runner.txt', 'worker 3 went away\nfull log in /ci/x/worker-3.txt\n'),
      file('out/worker-3.txt', 'started\nquota of the cluster is used up\n'),
      file('out/worker-4.txt', 'started\nstopped\n'),
    ];
    const { survey, notes } = surveyFiles(sources);

    expect(readInventory(sources)).toEqual({
      'build.log': 'own',
      'out/target/runner.txt': 'referred',
      'out/worker-3.txt': 'referred',
      'out/worker-4.txt': null,
    });
    expect(survey?.files.find(({ name }) => name === 'out/worker-3.txt')).toMatchObject({
      reason: 'out/target/runner.txt refers to it on line 2',
      referredBy: { source: 'out/target/runner.txt', line: 2 },
    });
    expect(notes.join(' ')).toContain('build.log refers to it on line 2');
  });

  it('follows a reference to a folder, most informative files first', () => {
    const quiet = ['a', 'b', 'c', 'd'].map((name) =>
      file(`target/surefire-reports/${name}.txt`, 'Tests run: 3\n'),
    );
    const sources = [log('Please refer to /ci/shop/target/surefire-reports for the results.'), ...quiet];

    expect(Object.values(readInventory(sources)).filter((read) => read === 'referred')).toHaveLength(3);
  });

  it('lists referenced files that cannot be read or were not uploaded', () => {
    const sources = [
      log('See the picture, saved as shots/cart.png\nCrash report written to /tmp/crash-1.txt'),
      file('shots/cart.png', '', 'artifact', ['not kept: a PNG image']),
    ];
    const { notes, survey } = surveyFiles(sources);

    expect(notes.join(' ')).toContain('shots/cart.png (line 1 of build.log refers to it)');
    expect(survey?.missing).toEqual([{ path: 'tmp/crash-1.txt', source: 'build.log', line: 2 }]);
  });

  it('reads a limited number of artifacts, and lists the others', () => {
    const many = Array.from({ length: 40 }, (_, at) => file(`logs/${at}.log`, TRACE));
    const { read, survey } = surveyFiles([log('failed'), ...many]);

    expect(read).toHaveLength(7);
    expect(survey?.files).toHaveLength(30);
    expect(survey?.unlisted).toBe(11);
    expect(survey?.files.at(-1)?.reason).toContain('6 others tell more');
  });

  it('ends if files refer to each other', () => {
    const sources = [
      log('see a.txt'),
      file('a.txt', 'full log in b.txt'),
      file('b.txt', 'full log in a.txt'),
    ];

    expect(readInventory(sources)).toEqual({ 'build.log': 'own', 'a.txt': 'referred', 'b.txt': 'referred' });
  });
});
