import { describe, expect, it } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { insightOf } from './subject.ts';

/** Answers a failed step of GitHub Actions that ran a command and printed some lines. */
function answerOn(command: string, ...output: readonly string[]) {
  const lines = [
    `##[group]Run ${command}`,
    command,
    'shell: /usr/bin/bash -e {0}',
    '##[endgroup]',
    ...output,
  ];
  const log = lines.concat('##[error]Process completed with exit code 1.');
  return composeAnswer(insightOf(log.map((line) => `2026-05-04T10:00:00.0000000Z ${line}`).join('\n')));
}

describe('advice about what a compiler reports', () => {
  it('names the first error of each other file', () => {
    const { fixRecommendation } = answerOn(
      'npx tsc --noEmit',
      "src/press.ts(4,9): error TS2304: Cannot find name 'squeeze'.",
      "src/press.ts(7,3): error TS2304: Cannot find name 'bottle'.",
      "src/cellar/rack.ts(12,5): error TS2339: Property 'age' does not exist on type 'Bottle'.",
      "src/label.ts(3,1): error TS2304: Cannot find name 'print'.",
    );
    expect(fixRecommendation).toBe(
      'At src/press.ts:4, import or define `squeeze`, or correct its spelling. ' +
        'Continue with src/cellar/rack.ts:12 and src/label.ts:3.',
    );
  });

  it('names its place behind the package and the script of a task runner', () => {
    const { fixRecommendation } = answerOn(
      'pnpm -r typecheck',
      "apps/press typecheck: src/valve.ts(8,2): error TS2304: Cannot find name 'open'.",
      'apps/press typecheck: Failed',
    );
    expect(fixRecommendation).toContain('At src/valve.ts:8, import or define `open`');
  });

  it('names its place in a checkout below a folder called build', () => {
    const { fixRecommendation } = answerOn(
      'npx tsc',
      "/home/travis/build/orchard/scales/src/valve.ts(8,2): error TS2304: Cannot find name 'open'.",
    );
    expect(fixRecommendation).toContain('At src/valve.ts:8, import or define `open`');
  });
});
