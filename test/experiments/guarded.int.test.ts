import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { REPOSITORY_VARIABLES } from '../../src/git/command.ts';
import { PLACE_CASES } from '../support/experiments/places.ts';
import { THOROUGH } from '../support/thorough.ts';

const MINUTES = 240_000;
/** One of each place and of each experiment. */
const SHORT = [
  'try-fix in a pre-commit hook',
  'try-fix in a pre-commit hook of a linked worktree',
  'bisect in rebase --exec',
  'confirm in a pre-commit hook of a submodule',
  'try-fix in a bare GIT_INDEX_FILE',
  'bisect in GIT_DIR and GIT_WORK_TREE',
];

describe('an experiment leaves the checkout as it was', () => {
  const cases = PLACE_CASES.filter(({ name }) => THOROUGH || SHORT.includes(name));
  test.each(cases.map((one) => [one.name, one] as const))('%s', { timeout: MINUTES }, async (_, { run }) => {
    expect(await run()).toEqual([]);
  });
});

test('the variables that name a repository are those that git says', () => {
  const said = execFileSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' }).trim().split('\n');
  expect(said.filter((name) => !REPOSITORY_VARIABLES.has(name))).toEqual([]);
});
