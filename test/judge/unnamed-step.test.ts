import { expect, it } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { classifyByRules } from '../../src/judge/classify.ts';
import { createInsight, createSubject } from './subject.ts';

const LOG = 'TypeError: x is not a function\n    at run (src/a.js:3:1)\n';

it('a failed part of a log without steps is not called a step', () => {
  const subject = createSubject(LOG);
  const unnamed = { source: 'build.txt', name: 'log', exitCode: 1, failed: true, lineStart: 1, lineEnd: 2 };
  const answer = composeAnswer(createInsight(LOG, { subject: { ...subject, failedSections: [unnamed] } }));
  expect(answer.rootCause).not.toContain('in the step');
});

it('a failure without a cause shows the last lines of its failing step, never a sentence of ours as a line', () => {
  const log = 'Working on the first part\n\nWorking on the second part\n----\n';
  const { title, rootCause, fixRecommendation } = composeAnswer(
    createInsight(log, { subject: createSubject(log) }),
  );
  expect(title).toBe('No cause found');
  expect(rootCause).toContain(
    'The last lines are “Working on the first part” and “Working on the second part”.',
  );
  expect(`${title} ${rootCause} ${fixRecommendation}`).not.toContain('No error was found');
});

it('a command whose failure the runner tolerates is not a cause', () => {
  const step = (name: string, ...output: string[]) =>
    output.map((line) => `build\t${name}\t2026-05-04T10:00:00.0000000Z ${line}`);
  const log = step('Press the apples', '##[group]Run ./press > out.txt', './press > out.txt', '##[endgroup]')
    .concat(step('Press the apples', '##[error]Process completed with exit code 2.'))
    .concat(step('Post Check out', "fatal: No url found for submodule path 'cellar' in .gitmodules"))
    .concat(step('Post Check out', "##[warning]The process '/usr/bin/git' failed with exit code 128"))
    .join('\n');
  const { title, rootCause, fixRecommendation } = composeAnswer(createInsight(log));
  expect(`${title} ${rootCause} ${fixRecommendation}`).not.toContain('submodule');
});

it.each([
  'fatal: grommet mismatch (expected teal, got mauve)',
  'fatal: protocol version mismatch (expected 3, got 2)',
  'error: checksum mismatch for press.tar.gz: expected 9f2c11, got 77ab01',
  'setup: expected press 22 but found press 18',
])('a program that prints what it expected is not a failed test if nothing was tested: %s', (line) => {
  const log = ['$ ./press.sh', 'pressing', line, '##[error]Process completed with exit code 1.'].join('\n');
  expect(classifyByRules(createSubject(log)).classification.category).not.toBe('TEST_FAILURE');
  const tested = log.replace('pressing', 'running the tests of the press');
  expect(classifyByRules(createSubject(tested)).classification.category).toBe('TEST_FAILURE');
});

it('a lasting failure is a claim in every category, and suggests no rerun', () => {
  const streak = {
    id: 'E9',
    tool: 'count_consecutive_failures',
    title: '6 failures in a row',
    text: 'ci on main failed 6 times in a row since #21, each time this way (since #21).',
    source: 'history',
    data: { failed: 6, same: 6, firstNumber: '21', firstSameNumber: '21' },
  };
  const logs = [
    'Error: getaddrinfo ENOTFOUND registry.orchard.example',
    '--- FAIL: TestPress (0.00s)\n    press_test.go:7: Press() = "dry", want "juice"\nFAIL\nexit status 1',
  ];
  const answers = logs.map((log) => {
    const insight = createInsight(log);
    return composeAnswer({ ...insight, evidence: insight.evidence.concat(streak) });
  });
  for (const { claims } of answers)
    expect(claims.filter(({ evidence }) => evidence.includes('E9')).map(({ text }) => text)).toEqual([
      'The job has failed this way 6 times in a row, since #21.',
    ]);
  expect(answers[0]?.fixRecommendation).toMatch(/rerunning it will not help\. Ask the owner/);
});

it.each([
  ['Press the apples', 'The step “Press the apples” failed'],
  ['Run full QA (slow ones too)', 'The step “Run full QA (slow ones too)” failed'],
  ['Run linting', 'The step “Run linting” failed'],
  ['Run Node.js tests', 'The step “Run Node.js tests” failed'],
  ['Run npm test', 'The step that runs `npm test` failed'],
  ['Run ./ci/press.sh --dry', 'The step that runs `./ci/press.sh --dry` failed'],
  ['Run if [ -n "" ]; then', 'The job “build” failed'],
  ['Run # Fill the barrels first', 'The job “build” failed'],
  ['Run docker run --rm \\', 'The job “build” failed'],
  ['Run BARRELS=`nproc`', 'The job “build” failed'],
  ['Run orchard/press-action@v2', 'The step that uses orchard/press-action@v2 failed'],
])('a step has the name that its author gave, or its command: %s', (name, spoken) => {
  const log = [
    `build\t${name}\t2026-05-04T10:00:00.0000000Z ##[group]${name}`,
    `build\t${name}\t2026-05-04T10:00:00.0000000Z ##[endgroup]`,
    `build\t${name}\t2026-05-04T10:00:01.0000000Z error: the press has no basket`,
    `build\t${name}\t2026-05-04T10:00:01.0000000Z ##[error]Process completed with exit code 1.`,
  ].join('\n');
  const cause = composeAnswer(createInsight(log))
    .rootCause.replace('build / ', '')
    .replace(' (job build)', '');
  expect(cause).toContain(`${spoken} with “the press has no basket”`);
});

it.each([
  'press/cache.py:475: PressCacheWarning: could not create cache path /opt/press/.cache: [Errno 13] Permission denied',
  'warning: the barrel file is missing, using the default barrel',
])('a warning is not the cause of a step that failed without a message: %s', (line) => {
  const log = [
    '##[group]Run ./press > out.txt',
    '##[endgroup]',
    line,
    '##[error]Process completed with exit code 2.',
  ];
  expect(composeAnswer(createInsight(log.join('\n'))).title).toBe('No cause found');
});

it('a package that the job installs is not a file of the project, whatever the name of its folder', () => {
  const crash = [
    'Traceback (most recent call last):',
    '  File "/home/runner/work/pressure-kit/pressure-kit/pressure/smoke.py", line 3, in <module>',
    '    import pressure.valves',
    "ModuleNotFoundError: No module named 'pressure.valves'",
  ];
  const explain = (...before: string[]) =>
    composeAnswer(createInsight(before.concat(crash).join('\n'))).rootCause;
  expect(explain('Collecting pressure')).toContain('is not installed in this job');
  expect(explain('$ python smoke.py')).toContain('looks like a file of this project');
});
