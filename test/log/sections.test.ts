import { describe, expect, it } from 'vitest';
import { readSources } from '../../src/log/read-sources.ts';

const read = (...lines: string[]) =>
  readSources([{ name: 'l', kind: 'log', text: lines.join('\n'), notes: [] }], { budgetTokens: 2_000 });

describe('failed sections', () => {
  it.each([
    [
      'GitHub',
      [
        '##[group]Run npm ci',
        '##[endgroup]',
        'fine',
        '##[group]Run npm test',
        '##[endgroup]',
        'bad',
        '##[error]Process completed with exit code 1.',
      ],
      [4, 7, 'Run npm test'],
    ],
    [
      'Travis',
      [
        'travis_time:start:0a\u001b[0K$ npm test',
        'bad',
        'The command "npm test" exited with 1.',
        'Done. Your build exited with 1.',
      ],
      [1, 3, 'npm test'],
    ],
    [
      'GitLab',
      [
        'section_start:1600000000:prepare\r\u001b[0KPreparing',
        'x',
        'section_start:1600000009:step_script\r\u001b[0KExecuting',
        'bad',
        'ERROR: Job failed: exit code 1',
      ],
      [3, 5, 'step_script'],
    ],
    ['Azure', ['##[section]Starting: Build', 'bad', "##[error]Bash exited with code '1'."], [1, 3, 'Build']],
  ] as const)('are found in %s', (_, lines, [lineStart, lineEnd, name]) => {
    expect(read(...lines).failedSections).toEqual([
      { source: 'l', name, lineStart, lineEnd, failed: true, exitCode: 1 },
    ]);
  });

  it('are absent if nothing failed', () => {
    expect(read('##[group]Run npm test', 'The command "npm test" exited with 0.')).toMatchObject({
      failedSections: [],
      exits: [],
    });
  });

  it('give a higher weight than the same words elsewhere', () => {
    const { messages, excerpts } = read(
      '$ a',
      'error: first',
      'The command "a" exited with 0.',
      'travis_time:start:1$ b',
      'error: second',
      'The command "b" exited with 1.',
    );
    expect(messages.map(({ text }) => text)).toEqual(['error: second']);
    const weightAt = (line: number) =>
      Math.max(
        ...excerpts
          .filter(({ lineStart, lineEnd }) => lineStart <= line && line <= lineEnd)
          .map(({ weight }) => weight),
      );
    expect(weightAt(5)).toBeGreaterThan(50);
  });
});

describe('a step that failed only after another one', () => {
  it('weighs less than the first', () => {
    const head = (name: string) => [`##[group]Run ${name}`, 'shell: bash', '##[endgroup]'];
    const lines = [
      ...head('npm test'),
      'error: first',
      '##[error]Process completed with exit code 1.',
      ...head('./upload artifacts.sh'),
      'error: second',
      '##[error]Process completed with exit code 1.',
    ];
    const source = { name: 'l', kind: 'log' as const, text: lines.join('\n'), notes: [] };
    const { excerpts } = readSources([source], { budgetTokens: 5 });
    expect(excerpts.map(({ text }) => text).join('\n')).toContain('error: first');
    expect(excerpts.map(({ text }) => text).join('\n')).not.toContain('error: second');
  });
});

describe('the reading as a whole', () => {
  it('notes that there is no error', () => {
    expect(read('all is well').notes).toEqual(['No error was found in the logs and reports.']);
  });

  it('omits what a passed build also contains', () => {
    const text = ['error: cosmetic thing 12', 'x', 'error: real thing'].join('\n');
    const first = (green: { greenText?: string }) =>
      readSources([{ name: 'l', kind: 'log', text, notes: [] }], { budgetTokens: 10, ...green }).excerpts[0];
    expect(first({ greenText: 'error: cosmetic thing 7' })?.lineStart).toBeGreaterThan(1);
  });

  it('never cuts a line, and finds failures in lines joined by carriage returns', () => {
    const joined = [
      'ok',
      '=================================== FAILURES ===================================',
      '_____ test_a _____',
      'E   assert 1 == 2',
      ...Array.from({ length: 60 }, () => 'x'),
    ].join('\r');
    const { failingTests } = read(joined);
    expect(failingTests).toMatchObject([{ name: 'test_a', at: { line: 1 } }]);
  });

  // A pattern that backtracks would never come to an end here; the runner's own limit tells.
  it('ends on adversarial text', () => {
    const bait = [
      `Error: ${'a.'.repeat(900)}`,
      `    at ${'('.repeat(900)}`,
      `npm ERR! ${' '.repeat(1_900)}`,
      `${'/'.repeat(1_800)} error: x`,
      `FAIL ${'a'.repeat(1_900)}`,
      `${'_'.repeat(900)} ERROR ${'_'.repeat(900)}`,
    ];
    const lines = Array.from({ length: 100 }, () => bait).flat();
    expect(read(...lines).sources).toMatchObject([{ lines: lines.length }]);
  });
});
