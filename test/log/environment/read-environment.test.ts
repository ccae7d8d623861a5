import { describe, expect, it } from 'vitest';
import { readSources } from '../../../src/log/read-sources.ts';

function readLog(lines: readonly string[]) {
  return readSources([{ name: 'log', kind: 'log', text: lines.join('\n'), notes: [] }], {
    budgetTokens: 4000,
  });
}

function formatDownload(group: string, name: string, version: string, type = 'jar'): string {
  return `[INFO] Downloaded from central: https://repo.example/maven2/${group.replaceAll('.', '/')}/${name}/${version}/${name}-${version}.${type} (1 kB at 9 kB/s)`;
}

describe('the time that a run had taken when it was stopped', () => {
  it('is counted from the first line of the job, of the step, and of the last output', () => {
    const { environment } = readLog([
      '2026-11-27T10:00:00.1Z ##[group]Run ./prepare',
      '2026-11-27T10:00:00.1Z ##[endgroup]',
      '2026-11-27T10:05:00.1Z ##[group]Run ./weigh',
      '2026-11-27T10:05:00.1Z ##[endgroup]',
      '2026-11-27T10:08:00.1Z weighing',
      '2026-11-27T10:20:00.4Z ##[error]The operation was canceled.',
    ]);
    expect(environment?.stopped).toEqual({
      at: { source: 'log', line: 6 },
      jobSeconds: 1200,
      stepSeconds: 900,
      silentSeconds: 720,
    });
  });

  it('is counted across midnight if lines have only the time of day', () => {
    const { environment } = readLog([
      '[23:50:00] + ./weigh',
      '[23:50:01] weighing',
      '[00:20:00] Build was aborted',
    ]);
    expect(environment?.stopped).toMatchObject({ jobSeconds: 1800, silentSeconds: 1799 });
  });

  it('is unknown for a job that is not the first of its download, and absent if the run was not stopped', () => {
    const { environment } = readLog([
      'lint\tRun eslint\t2026-11-27T10:00:00Z linting',
      'test\tRun ./weigh\t2026-11-27T10:10:00Z ##[group]Run ./weigh',
      'test\tRun ./weigh\t2026-11-27T10:11:00Z weighing',
      'test\tRun ./weigh\t2026-11-27T10:20:00Z ##[error]The operation was canceled.',
    ]);
    expect(environment?.stopped).toMatchObject({ jobSeconds: null, silentSeconds: 540 });
    expect(
      readLog(['2026-11-27T10:00:00Z weighing', '2026-11-27T10:05:00Z error: no pear']).environment,
    ).toBeUndefined();
  });
});

describe('the environment that a log shows', () => {
  it('contains the version that the failing program itself states, with its line', () => {
    const { environment, excerpts } = readLog([
      'Now using node v22.11.0 (npm v10.9.0)',
      'file:///work/rank.mjs:2',
      'console.log(scores.toReversed());',
      'TypeError: scores.toReversed is not a function',
      '    at file:///work/rank.mjs:2:20',
      '',
      'Node.js v18.20.8',
      ...Array.from({ length: 400 }, (_, line) => `filler ${line}`),
      'Error: Process completed with exit code 1.',
    ]);
    expect(environment?.runtimes).toEqual([
      { tool: 'node', version: '18.20.8', at: { source: 'log', line: 7 } },
    ]);
    expect(excerpts.some(({ text }) => text.includes('Node.js v18.20.8'))).toBe(true);
  });

  it('contains no versions if nothing failed that they could explain', () => {
    expect(
      readLog(['Node.js v18.20.8', 'FAIL src/pear.test.ts', 'AssertionError: expected 3 to be 4'])
        .environment,
    ).toBeUndefined();
  });

  it('contains the artifact with a name that the compiler does not find, with its group', () => {
    const { environment } = readLog([
      formatDownload('org.fruit', 'pear-core', '9.20.1'),
      formatDownload('org.fruit', 'pear-press', '3.2.1'),
      formatDownload('com.plum', 'plum-jar', '1.0.0'),
      '[ERROR] COMPILATION ERROR : ',
      '[ERROR] /work/src/main/java/test/orchard/Basket.java:[8,20] cannot find symbol',
      '  symbol:   method weigh()',
      '  location: class org.fruit.pear.core.Pear',
      '[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.10.1:compile (default-compile) on project orchard: Compilation failure',
    ]);
    expect(environment?.artifacts[0]).toMatchObject({
      name: 'org.fruit:pear-core',
      version: '9.20.1',
      symbol: 'org.fruit.pear.core.Pear',
      siblings: [{ name: 'pear-press', version: '3.2.1' }],
      at: { source: 'log', line: 1 },
    });
  });

  it('contains no artifact for names of the project itself', () => {
    const { environment } = readLog([
      formatDownload('test.orchard', 'orchard-parent', '1.0.0'),
      '[ERROR] /work/src/main/java/test/orchard/shop/Basket.java:[8,20] cannot find symbol',
      '  location: class test.orchard.shop.Pear',
    ]);
    expect(environment?.artifacts ?? []).toEqual([]);
  });

  it('contains the direct dependency whose requirement the build does not meet', () => {
    const { environment } = readLog([
      '[ERROR] Rule 2: org.apache.maven.plugins.enforcer.RequireUpperBoundDeps failed with message:',
      'Failed while enforcing RequireUpperBoundDeps. The error(s) are [',
      'Require upper bound dependencies error for org.fruit:pear-core:1.7.0 paths to dependency are:',
      '+-test.orchard:orchard:0.1.0-SNAPSHOT',
      '  +-org.fruit:pear-core:1.7.0',
      'and',
      '+-test.orchard:orchard:0.1.0-SNAPSHOT',
      '  +-org.plum:plum-press:1.0.2',
      '    +-org.fruit:pear-core:1.8.0',
      ']',
      '[ERROR] Failed to execute goal org.apache.maven.plugins:maven-enforcer-plugin:3.1.0:enforce (enforce) on project orchard: Some Enforcer rules have failed.',
    ]);
    expect(environment?.artifacts).toMatchObject([
      {
        name: 'org.plum:plum-press',
        version: '1.0.2',
        needs: { name: 'org.fruit:pear-core', version: '1.8.0', used: '1.7.0' },
      },
    ]);
  });
});
