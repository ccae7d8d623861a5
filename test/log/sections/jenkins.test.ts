import { describe, expect, it } from 'vitest';
import { readSources } from '../../../src/log/read-sources.ts';

const read = (...lines: string[]) =>
  readSources([{ name: 'l', kind: 'log', text: lines.join('\n'), notes: [] }], { budgetTokens: 2_000 });

const PIPELINE = [
  '[Pipeline] Start of Pipeline',
  '[Pipeline] node',
  '[Pipeline] {',
  '[Pipeline] stage',
  '[Pipeline] { (Build)',
  '[Pipeline] sh',
  '+ make',
  '[Pipeline] }',
  '[Pipeline] // stage',
  '[Pipeline] stage',
  '[Pipeline] { (Test)',
  '[Pipeline] sh',
  '+ make test',
  'error: the scale is not calibrated',
  '[Pipeline] }',
  '[Pipeline] // stage',
  '[Pipeline] stage',
  '[Pipeline] { (Deploy)',
  'Stage "Deploy" skipped due to earlier failure(s)',
  '[Pipeline] }',
  '[Pipeline] // stage',
  '[Pipeline] stage',
  '[Pipeline] { (Declarative: Post Actions)',
  '[Pipeline] echo',
  'cleaning',
  '[Pipeline] }',
  '[Pipeline] // stage',
  '[Pipeline] }',
  '[Pipeline] End of Pipeline',
  'ERROR: script returned exit code 2',
  'Finished: FAILURE',
];

describe('Jenkins logs', () => {
  it('name the stage that failed, not a later one or the cleanup', () => {
    expect(read(...PIPELINE).failedSections).toEqual([
      { source: 'l', name: 'Test', lineStart: 11, lineEnd: 15, failed: true },
    ]);
  });

  it('name the branch that failed, and are read without the branch before each line', () => {
    const { failedSections, diagnostics } = read(
      '[Pipeline] parallel',
      '[Pipeline] { (Branch: linux)',
      '[Pipeline] { (Branch: windows)',
      '[Pipeline] sh',
      '[linux] + make',
      "[linux] src/scale.c:7:3: error: expected ';' before '}' token",
      '[windows] fine',
      '[Pipeline] }',
      'Failed in branch linux',
      '[Pipeline] }',
      'Finished: FAILURE',
    );
    expect(failedSections).toMatchObject([{ name: 'linux', lineStart: 2 }]);
    expect(diagnostics).toMatchObject([{ file: 'src/scale.c', line: 7 }]);
  });

  it('name the build step of a freestyle job', () => {
    const lines = [
      'Started by user',
      '[ledger] $ /bin/sh -xe /tmp/jenkins1.sh',
      '+ make',
      'bad',
      "Build step 'Execute shell' marked build as failure",
      'Finished: FAILURE',
    ];
    expect(read(...lines).failedSections).toEqual([
      { source: 'l', name: 'Execute shell', lineStart: 2, lineEnd: 5, failed: true },
    ]);
  });

  it('name the path of nested stages, without the post actions of the stage itself', () => {
    const { failedSections } = read(
      '[Pipeline] stage',
      '[Pipeline] { (Test)',
      '[Pipeline] stage',
      '[Pipeline] { (Unit)',
      '[Pipeline] sh',
      '+ npm test',
      'bad',
      'Post stage',
      '[Pipeline] junit',
      'Recording test results',
      '[Pipeline] }',
      '[Pipeline] // stage',
      '[Pipeline] }',
      '[Pipeline] // stage',
      '[Pipeline] stage',
      '[Pipeline] { (Deploy)',
      'Stage "Deploy" skipped due to earlier failure(s)',
      '[Pipeline] }',
      '[Pipeline] End of Pipeline',
      'ERROR: script returned exit code 1',
      'Finished: FAILURE',
    );
    expect(failedSections).toMatchObject([{ name: 'Test / Unit', lineStart: 4, lineEnd: 8 }]);
  });

  it('blame the stage that caught an error, not the last one', () => {
    const { failedSections } = read(
      '[Pipeline] { (Lint)',
      '[Pipeline] catchError',
      '[Pipeline] {',
      '[Pipeline] sh',
      'bad',
      '[Pipeline] }',
      'ERROR: script returned exit code 2',
      '[Pipeline] // catchError',
      '[Pipeline] }',
      '[Pipeline] { (Package)',
      '[Pipeline] sh',
      'fine',
      '[Pipeline] }',
      '[Pipeline] End of Pipeline',
      'Finished: UNSTABLE',
    );
    expect(failedSections).toMatchObject([{ name: 'Lint', lineStart: 1, lineEnd: 7, exitCode: 2 }]);
  });

  it('blame every branch that failed', () => {
    const { failedSections } = read(
      '[Pipeline] { (Test)',
      '[Pipeline] parallel',
      '[Pipeline] { (Branch: linux)',
      '[Pipeline] { (Branch: macos)',
      '[linux] bad',
      'Failed in branch linux',
      '[macos] bad',
      'Failed in branch macos',
      '[Pipeline] // parallel',
      'Finished: FAILURE',
    );
    expect(failedSections.map(({ name, lineStart }) => [name, lineStart])).toEqual([
      ['Test / linux', 3],
      ['Test / macos', 4],
    ]);
  });

  it('without stages name the step that ran last', () => {
    const { failedSections } = read(
      '[Pipeline] node',
      '[Pipeline] {',
      '[Pipeline] sh',
      '+ make',
      'bad',
      '[Pipeline] }',
      'Finished: FAILURE',
    );
    expect(failedSections).toMatchObject([{ name: 'sh', lineStart: 3, lineEnd: 6 }]);
  });

  it('of passed builds name none', () => {
    expect(read(...PIPELINE.slice(0, -2), 'Finished: SUCCESS').failedSections).toEqual([]);
  });
});
