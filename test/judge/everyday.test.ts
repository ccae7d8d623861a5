import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { insightOf } from './subject.ts';

/** Captured failures of `test/captures/tools/everyday.ts`, and words of the cause and of the advice. */
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
  ['bash-unbound-variable', 'DEPLOY_TARGET', 'Set DEPLOY_TARGET'],
  ['python-environment-key', 'TIDES_URL', 'Set TIDES_URL'],
  ['docker-socket-denied', 'no permission to use the Docker socket', 'the group that owns'],
  ['bash-byte-order-mark', 'begins with a byte order mark', 'Save pack.sh as UTF-8'],
  ['bash-carriage-return', 'ends with a carriage return', 'LF line endings'],
  ['timeout-ends-silently', 'its time limit expired', ''],
  ['bash-interpreter-missing', 'The first line of ci/chart.sh names', 'Install the interpreter'],
])('tells the cause of %s, and what to do', (slug, cause, fix) => {
  const log = readFileSync(join(import.meta.dirname, '../fixtures/tools', slug, 'log.txt'), 'utf8');
  const answer = composeAnswer(insightOf(log));
  expect(answer.rootCause).toContain(cause);
  expect(answer.fixRecommendation).toContain(fix);
});
