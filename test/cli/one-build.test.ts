import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requireOneBuild } from '../../src/cli/triage/one-build.ts';

const FAILURES = resolve(import.meta.dirname, '../fixtures/failures');
const check = (texts: Readonly<Record<string, string>>, allowUnrelated = false) =>
  requireOneBuild(
    Object.entries(texts).map(([name, text]) => ({ name, text, kind: 'log', notes: [] })),
    { allowUnrelated },
  );
const github = (project: string, more = '') =>
  `2026-11-21T22:46:54.1448249Z ##[group]Run npm ci\n/home/runner/work/${project}/${project}\n${more}`;
const jenkins = (job: string) =>
  `Started by user Ada\nRunning on agent-1 in /var/lib/jenkins/workspace/${job}\n`;

describe('logs of different builds are refused, with the difference and a hint', () => {
  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    [
      'the repository',
      { 'a.log': 'Syncing repository: shop/api\n', 'b.log': 'Syncing repository: shop/web\n' },
      /the repository of a\.log is shop\/api, of b\.log shop\/web/,
    ],
    [
      'the directory of the runner',
      { 'a.log': github('api'), 'b.log': github('web') },
      /the project of a\.log is api, of b\.log web/,
    ],
    [
      'the run',
      { 'a.log': 'GITHUB_RUN_ID: 1\n', 'b.log': 'GITHUB_RUN_ID: 2\n' },
      /the run of a\.log is 1, of b\.log 2/,
    ],
    [
      'the Jenkins job',
      { 'a.log': jenkins('api'), 'b.log': jenkins('web') },
      /the Jenkins workspace of a\.log is api, of b\.log web/,
    ],
    [
      'the CI system',
      { 'a.log': github('api'), 'b.log': jenkins('api') },
      /the CI system of a\.log is github actions, of b\.log jenkins/i,
    ],
    [
      'the time',
      { 'a.log': github('api'), 'b.log': github('api').replace('11-21', '11-27') },
      /the time of a\.log is 2026-11-21T22:46:54Z, of b\.log 2026-11-27T22:46:54Z/,
    ],
    [
      'nothing in common',
      { 'a.log': 'FAIL src/price.test.ts\n', 'b.log': 'FAILED tests/test_cart.py::test_sum\n' },
      /they have nothing in common/,
    ],
  ])('%s', (_what, texts, sentence) => {
    expect(() => check(texts)).toThrow(sentence);
    expect(() => check(texts)).toThrow('Use faultline triage --each to analyze each file by itself.');
  });

  it('all captured failures together are refused', () => {
    const logs = readdirSync(FAILURES).filter((name) => !name.includes('.'));
    const texts = Object.fromEntries(
      logs.map((name) => [name, readFileSync(join(FAILURES, name, 'log.txt'), 'utf8')]),
    );
    expect(logs.length).toBeGreaterThan(30);
    expect(() => check(texts)).toThrow('These logs are of different builds');
  });
});

describe('logs of one build are accepted', () => {
  it.each<[string, Readonly<Record<string, string>>, boolean?]>([
    ['jobs of one run', { 'a.log': github('api'), 'b.log': github('api', 'src/a.ts:3\n') }],
    [
      'stages of one Jenkins job, in parallel workspaces',
      { 'a.log': jenkins('api'), 'b.log': jenkins('api@2') },
    ],
    [
      'a step that names no file',
      { 'lint.log': 'src/a.ts:3:1 error\n', 'test.log': 'FAIL test/a.test.ts\n', 'deploy.log': 'denied\n' },
    ],
    ['logs that say nothing of themselves', { 'a.log': 'Error: boom\n', 'b.log': 'Error: bang\n' }],
    [
      'a second repository that the build checks out',
      {
        'a.log': `Syncing repository: shop/api\nSyncing repository: shop/tools\n`,
        'b.log': 'Syncing repository: shop/api\n',
      },
    ],
    [
      'files that were named one by one',
      { 'a.log': 'FAIL src/price.test.ts\n', 'b.log': 'at test_cart.py:3\n' },
      true,
    ],
    ['no log at all', {}],
  ])('%s', (_what, texts, allowUnrelated) => {
    expect(() => check(texts, allowUnrelated)).not.toThrow();
  });
});
