import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { createInsight } from './subject.ts';

/** Captured failures of `everyday.ts`, `misread.ts` and `interrupted.ts` in `test/captures/tools`, with words of cause and advice. */
it.each([
  ['node-port-in-use', 'another process already uses', 'Use a port other than 8321'],
  [
    'curl-certificate-self-signed',
    'SSL certificate problem: self-signed',
    'instead of turning off verification',
  ],
  ['git-certificate-self-signed', 'server certificate verification failed', 'https://localhost:8443'],
  ['tsc-conflict-marker', 'Merge conflict marker', 'Resolve the merge conflict at src/channel.ts:2'],
  ['npm-conflict-marker', 'package.json is malformed', 'Fix the syntax of package.json'],
  ['git-cherry-pick-conflict', 'Git could not merge', 'resolve the conflict in channel.conf'],
  ['git-stash-conflict', 'Git could not merge', 'resolve the conflict in channel.conf'],
  ['terraform-brace-missing', 'Unclosed configuration block', 'Fix main.tf at line 5'],
  ['make-segmentation-fault', 'memory that it does not own', 'under a debugger'],
  ['javac-class-file-too-new', 'was compiled for Java', 'Upgrade Java in the job'],
  ['bash-unbound-variable', 'DEPLOY_TARGET', 'Set the variable DEPLOY_TARGET'],
  ['python-environment-key', 'TIDES_URL', 'Set the variable TIDES_URL'],
  ['docker-socket-denied', 'no permission to use the Docker socket', 'the group that owns'],
  ['bash-byte-order-mark', 'begins with a byte order mark', 'Save pack.sh as UTF-8'],
  ['bash-carriage-return', 'ends with a carriage return', 'LF line endings'],
  ['timeout-ends-silently', 'its time limit expired', ''],
  [
    'node-waits-until-canceled',
    '`node wait.mjs` was still running when',
    'waiting for, or raise the time limit',
  ],
  ['python-queue-never-empties', 'the job was canceled 5 minutes after it began', '`python3 drain.py`'],
  [
    'make-reads-an-empty-pipe',
    '`make survey.txt` was still running when',
    'waiting for, or raise the time limit',
  ],
  ['node-named-export-missing', 'imports TideSheet by name from tide-sheets', 'the default export'],
  ['npm-publish-unknown-name', 'tried to publish @harbor/tides', 'allowed to publish'],
  ['cargo-compiler-killed', 'was killed', ''],
  ['node-test-foreign-service-away', '503 Service Unavailable', 'Run the job again'],
  ['apt-release-not-signed', 'because it is not signed', 'Remove the repository'],
  ['unittest-below-denied-probe', 'expects 12 but gets 13', 'test_depth.py:10'],
  ['maven-version-no-longer-managed', 'without a version', 'Specify a version'],
  [
    'buildbot-no-output',
    'printed nothing for 5 seconds, and a limit on missing output ended it',
    'let it print progress',
  ],
  ['unittest-below-failed-wheel', 'expects 12 but gets 13', 'test_depth.py:11'],
  ['node-test-below-expected-refusal', 'expects 12 but gets 13', 'depth.test.mjs:11'],
  ['node-array-member-missing', 'toReversed', 'Upgrade Node'],
  ['cargo-system-library-missing', 'libsounder', ''],
  ['unittest-foreign-service-away', '503', ''],
  ['go-build-compiler-killed', 'was killed', ''],
  ['npm-refused-halfway', 'missing, expired, or not authorized', ''],
  ['skopeo-refused-halfway', 'invalid username/password: unauthorized', ''],
  ['curl-download-stalls', 'Operation too slow', 'Run the job again'],
  ['bash-interpreter-missing', 'The first line of ci/chart.sh names', 'Install the interpreter'],
])('states the cause of %s, and what to do', (slug, cause, fix) => {
  const log = readFileSync(join(import.meta.dirname, '../fixtures/tools', slug, 'log.txt'), 'utf8');
  const answer = composeAnswer(createInsight(log));
  expect(answer.rootCause).toContain(cause);
  expect(answer.fixRecommendation).toContain(fix);
});

it.each([
  ['a time that is no usual limit', '2026-11-27T10:07:40Z ##[error]The operation was canceled.'],
  ['no time stamps', '##[error]The operation was canceled.'],
])('states no time limit if there is only %s', (_, end) => {
  const begin = '2026-11-27T10:00:00Z ';
  const stamp = end.startsWith('2026') ? begin : '';
  const answer = composeAnswer(
    createInsight(
      [`${stamp}##[group]Run ./weigh`, `${stamp}##[endgroup]`, `${stamp}weighing`, end].join('\n'),
    ),
  );
  expect(answer.rootCause).toContain('canceled');
  expect(answer.rootCause).not.toContain('minutes');
});

it('states no time limit if a test failed before the run was canceled', () => {
  const at = '2026-11-27T10:05:01Z ';
  const log = [
    '2026-11-27T10:00:00Z ##[group]Run npm test',
    '2026-11-27T10:00:00Z ##[endgroup]',
    `${at}FAIL src/pear.test.ts`,
    `${at}  ● weighs a pear`,
    `${at}    expect(received).toBe(expected)`,
    `${at}    Expected: 3`,
    `${at}    Received: 4`,
    `${at}##[error]The operation was canceled.`,
  ];
  expect(composeAnswer(createInsight(log.join('\n'))).rootCause).not.toContain('time limit');
});
