import { describe, expect, it } from 'vitest';
import { sectionsOf } from './read-sections.ts';

const head = (name: string) => [`##[group]Run ${name}`, `\u001b[36;1m${name}\u001b[0m`, 'shell: /usr/bin/bash -e {0}', '##[endgroup]'];
const FAILED = '##[error]Process completed with exit code 1.';

describe('GitHub Actions', () => {
  it('names a step by its head, and the group of its output that was left open', () => {
    const lines = [...head('npm ci'), 'fine', ...head('npm test'), '##[group]Run unit tests', 'bad', FAILED];
    expect(sectionsOf(lines)).toEqual([
      { source: 'log.txt', name: 'Run npm test / Run unit tests', lineStart: 6, lineEnd: 12, failed: true, exitCode: 1 },
    ]);
  });

  it('does not take the groups of a script for steps', () => {
    const lines = [...head('make check'), '##[group]Run the linter', 'fine', '##[endgroup]', 'bad', FAILED];
    expect(sectionsOf(lines)).toMatchObject([{ name: 'Run make check', lineStart: 1 }]);
  });

  it('marks what fails after the failure, for want of what was never built', () => {
    const lines = [...head('npm test'), 'bad', FAILED, ...head('./upload artifacts.sh'), 'no files were found', FAILED];
    expect(sectionsOf(lines).map(({ name, consequence }) => [name, consequence])).toEqual([
      ['Run npm test', undefined],
      ['Run ./upload artifacts.sh', true],
    ]);
  });

  it('knows an action that failed by its error, unless a script failed later', () => {
    const action = ['##[group]Run actions/setup-node@v4', 'with:', '##[endgroup]', '##[error]Unable to find Node version 99'];
    expect(sectionsOf([...action, 'Post job cleanup.'])).toMatchObject([{ name: 'Run actions/setup-node@v4', lineStart: 1, lineEnd: 4 }]);
    expect(sectionsOf([...action, ...head('npm test'), FAILED])).toMatchObject([{ name: 'Run npm test' }]);
  });

  it('reads job and step off the names of files in an archive', () => {
    const lines = [...head('npm test'), 'bad', FAILED];
    expect(sectionsOf(lines, 'build (18)/3_Unit tests.txt')).toMatchObject([{ name: 'build (18) / Unit tests', lineStart: 1, lineEnd: 6 }]);
    expect(sectionsOf(lines, '0_build.txt')).toMatchObject([{ name: 'build / Run npm test' }]);
  });

  it('reads job and step off the columns of a download', () => {
    const column = (job: string, step: string) => (text: string) => `${job}\t${step}\t2024-01-01T00:00:00.0000000Z ${text}`;
    const lines = [
      ...[...head('npm ci'), 'fine'].map(column('test (18)', 'Install')),
      ...[...head('npm test'), 'bad', FAILED].map(column('test (18)', 'Unit tests')),
      ...['Post job cleanup.'].map(column('test (18)', 'Post Run actions/checkout@v4')),
    ];
    expect(sectionsOf(lines)).toMatchObject([{ name: 'test (18) / Unit tests', lineStart: 6, lineEnd: 11 }]);
  });

  it('reads text copied off the page', () => {
    expect(sectionsOf(['Run npm test', 'bad', 'Error: Process completed with exit code 2.'])).toMatchObject([
      { name: 'Run npm test', lineStart: 1, lineEnd: 3, exitCode: 2 },
    ]);
  });

  it('blames the step that was stopped', () => {
    expect(sectionsOf([...head('npm test'), 'waiting', '##[error]The operation was canceled.'])).toMatchObject([{ name: 'Run npm test' }]);
  });
});
