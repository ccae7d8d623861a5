import { describe, expect, it } from 'vitest';
import { readCapturedLog, readSections } from './read-sections.ts';

describe('Azure Pipelines', () => {
  it('has a named task within its job, and marked cleanup', () => {
    const lines = [
      '##[section]Starting: Test',
      '##[section]Starting: Lint',
      '##[error]src/a.ts: only reported',
      '##[section]Finishing: Lint',
      '##[section]Starting: Run unit tests',
      'bad',
      "##[error]Bash exited with code '1'.",
      '##[section]Finishing: Run unit tests',
      '##[section]Starting: Publish test results',
      '##[error]No test result files were found',
      '##[section]Finishing: Publish test results',
      '##[section]Finishing: Test',
    ];
    expect(readSections(lines)).toMatchObject([
      { name: 'Test / Run unit tests', lineStart: 5, lineEnd: 7, exitCode: 1 },
      { name: 'Test / Publish test results', lineStart: 9, lineEnd: 10, consequence: true },
    ]);
  });
});

describe('GitLab', () => {
  const start = (name: string, shown: string) => `section_start:1700000000:${name}\r\u001b[0K${shown}`;
  const end = (name: string) => `section_end:1700000001:${name}\r\u001b[0K`;
  const command = (text: string) => `\u001b[32;1m$ ${text}\u001b[0;m`;

  it('has a script reduced to its last command, with the section that it left open', () => {
    const lines = [
      `${start('prepare_executor', 'Preparing')}`,
      `${end('prepare_executor')}${start('step_script', 'Executing "step_script" stage of the job script')}`,
      command('yarn install'),
      start('unit_tests[collapsed=true]', 'Unit tests'),
      command('yarn test'),
      'yarn run v1.22.19',
      '$ jest',
      'bad',
      `${end('step_script')}${start('after_script', 'Running after_script')}`,
      command('rm -rf tmp'),
      `${end('after_script')}${start('cleanup_file_variables', 'Cleaning up')}`,
      end('cleanup_file_variables'),
      '\u001b[31;1mERROR: Job failed: exit code 1',
    ];
    expect(readSections(lines)).toMatchObject([
      { name: 'step_script / unit_tests / yarn test', lineStart: 5, lineEnd: 9 },
    ]);
  });

  it('is read to the last line if the runner itself failed', () => {
    const lines = [
      start('prepare_executor', 'Preparing'),
      'x',
      'ERROR: Job failed (system failure): pods "runner" is forbidden',
    ];
    expect(readSections(lines)).toMatchObject([{ name: 'prepare_executor', lineStart: 1, lineEnd: 3 }]);
  });

  it('has no failed step in jobs that passed', () => {
    expect(
      readSections([start('step_script', 'Executing'), command('make'), end('step_script'), 'Job succeeded']),
    ).toEqual([]);
  });
});

describe('Travis', () => {
  it('has a named phase other than the script, and a command of several lines', () => {
    expect(
      readSections([
        'travis_fold:start:install\r\u001b[0Ktravis_time:start:01\r\u001b[0K$ npm ci',
        'bad',
        'The command "npm ci" failed and exited with 1 during install.',
      ]),
    ).toMatchObject([{ name: 'install / npm ci', lineStart: 1, lineEnd: 3, exitCode: 1 }]);
    expect(
      readSections([
        'travis_time:start:02\r$ if true; then',
        'bad',
        'The command "if true; then',
        'fi',
        '" exited with 2.',
      ]),
    ).toMatchObject([{ lineStart: 1, lineEnd: 5 }]);
  });

  it("does not mistake a tool's similar last words for its own", () => {
    expect(
      readSections([
        'travis_time:start:02\r$ npm test',
        'ERROR: "lint" exited with 1.',
        'The command "npm test" exited with 1.',
      ]),
    ).toHaveLength(1);
  });

  it('blames the command that stopped printing', () => {
    expect(
      readSections([
        'x',
        'travis_time:start:02\r$ npm test',
        'No output has been received in the last 10m0s',
      ]),
    ).toMatchObject([{ name: 'npm test', lineStart: 2, lineEnd: 3 }]);
  });
});

describe('Buildkite', () => {
  it('has a named group in which the command failed, in the form of its agent', () => {
    const lines = readCapturedLog('buildkite.txt');
    const sections = readSections(lines);
    expect(sections.map(({ name, exitCode, consequence }) => [name, exitCode, consequence])).toEqual([
      ['Test', 3, undefined],
      ['Running global pre-exit hook', 1, true],
    ]);
    expect(lines[(sections[0]?.lineStart ?? 0) - 1]).toBe('--- Test');
  });

  it('has logs with a timestamp on each line', () => {
    const stamp = (text: string) => `\u001b_bk;t=1700000000000\u0007${text}`;
    const lines = [
      '~~~ Preparing',
      '+++ :jest: Test',
      '--- FAIL: TestA',
      '🚨 Error: The command exited with status 1',
    ].map(stamp);
    expect(readSections(lines)).toMatchObject([
      { name: ':jest: Test', lineStart: 2, lineEnd: 4, exitCode: 1 },
    ]);
  });
});

describe('CircleCI', () => {
  it('has steps named by the first line of their script', () => {
    const lines = [
      '#!/bin/bash -eo pipefail',
      'npm test',
      'bad',
      '',
      'Exited with code exit status 1',
      'CircleCI received exit code 1',
    ];
    expect(readSections(lines)).toMatchObject([{ name: 'npm test', lineStart: 1, lineEnd: 5, exitCode: 1 }]);
  });

  it('has logs with the headers of its command line', () => {
    expect(
      readSections(['====>> Install', 'x', '====>> Test', 'bad', 'Error: Exited with code 2']),
    ).toMatchObject([{ name: 'Test', lineStart: 3 }]);
  });
});

describe('AWS CodeBuild', () => {
  it('has a named phase and command', () => {
    const said = (text: string) => `[Container] 2024/01/01 12:00:00 ${text}`;
    const lines = [
      said('Entering phase BUILD'),
      said('Running command npm test'),
      'bad',
      said('Command did not exit successfully npm test exit status 1'),
      said('Phase complete: BUILD State: FAILED'),
      said('Entering phase POST_BUILD'),
      said('Running command aws s3 cp out s3://x'),
      said('Command did not exit successfully aws s3 cp out s3://x exit status 255'),
    ];
    expect(readSections(lines)).toMatchObject([
      { name: 'BUILD / npm test', lineStart: 2, lineEnd: 4, exitCode: 1 },
      { name: 'POST_BUILD / aws s3 cp out s3://x', consequence: true },
    ]);
  });
});

describe('Google Cloud Build', () => {
  it('has a named step that the build blames', () => {
    const lines = [
      'Starting Step #0 - "install"',
      'Finished Step #0 - "install"',
      'Starting Step #1 - "test"',
      'Step #1 - "test": bad',
      'Finished Step #1 - "test"',
      'ERROR',
      'ERROR: build step 1 "node:20" failed: step exited with non-zero status: 1',
    ];
    expect(readSections(lines)).toMatchObject([{ name: 'test', lineStart: 3, lineEnd: 5 }]);
  });
});

describe('AppVeyor', () => {
  it('is reduced to the scripts of the phase', () => {
    const lines = [
      '[00:00:01] Running Install scripts',
      '[00:00:02] x',
      '[00:00:03] Running "test_script" scripts',
      '[00:00:04] bad',
    ];
    expect(readSections([...lines, '[00:00:05] Command exited with code 1'])).toMatchObject([
      { name: 'test_script', lineStart: 3, lineEnd: 5 },
    ]);
  });
});

describe('TeamCity', () => {
  it('has a numbered step in a downloaded log', () => {
    const lines = [
      '[10:00:00] : Step 1/2: Install (Command Line) (2s)',
      '[10:00:01] :\t [Step 1/2] fine',
      '[10:00:02] : Step 2/2: Unit tests (Command Line) (5s)',
      '[10:00:03]W:\t [Step 2/2] bad',
      '[10:00:04]W:\t [Step 2/2] Process exited with code 1',
      '[10:00:04]E:\t [Step 2/2] Process exited with code 1 (Step: Unit tests (Command Line))',
    ];
    expect(readSections(lines)).toMatchObject([
      { name: 'Unit tests (Command Line)', lineStart: 3, lineEnd: 5, exitCode: 1 },
    ]);
  });

  it('has blocks of service messages as a path', () => {
    const lines = [
      "##teamcity[blockOpened name='Build']",
      "##teamcity[compilationStarted compiler='javac']",
      "##teamcity[message text='cannot find |'Scale|'' status='ERROR']",
      "##teamcity[compilationFinished compiler='javac']",
      "##teamcity[blockClosed name='Build']",
    ];
    expect(readSections(lines)).toMatchObject([{ name: 'Build / javac', lineStart: 2, lineEnd: 4 }]);
  });
});

describe('a traced shell', () => {
  it('is reduced to the last command with output before it stopped', () => {
    const lines = [
      '+ npm ci',
      'added 12',
      '++ git rev-parse HEAD',
      '+ npm test',
      'bad',
      '+ rm -rf tmp',
      '+ exit 1',
      'exit code: 1',
    ];
    expect(readSections(lines)).toMatchObject([{ name: 'npm test', lineStart: 4, lineEnd: 8, exitCode: 1 }]);
  });

  it('is not assumed in a diff, in lists of additions or without a failure', () => {
    expect(readSections(['@@ -1 +1 @@', '-old line', '+ new line', 'error: differs', 'exit code 1'])).toEqual(
      [],
    );
    expect(readSections(['+ left-pad 1.3.0', '+ is-odd 2.0.0', 'error: x', 'exit code 1'])).toEqual([]);
    expect(readSections(['+ make', 'a', '+ make test', 'no failed tests', 'Finished: SUCCESS'])).toEqual([]);
  });
});
