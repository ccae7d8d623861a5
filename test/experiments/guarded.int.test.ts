import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { removeFolder } from '../../src/experiments/temporary-folder.ts';
import { REPOSITORY_VARIABLES } from '../../src/git/command.ts';
import { ENDING_CASES } from '../support/experiments/endings.ts';
import { HONEST_CASES } from '../support/experiments/honest.ts';
import { HOSTILE_CASES } from '../support/experiments/hostile.ts';
import { PLACE_CASES } from '../support/experiments/places.ts';
import { THOROUGH } from '../support/thorough.ts';

const MINUTES = 240_000;
/** One case of each kind; scripts/attack runs all of them as well. Git sets its variables in a hook, too. */
const SHORT = [
  'try-fix in a pre-commit hook of a linked worktree',
  'settings and hooks that start programs',
  'line endings of info/attributes',
  'a process that leaves its session',
];

describe.each([
  ['leaves the checkout as it was', PLACE_CASES],
  ['starts no program that a checkout names', HOSTILE_CASES],
  ['has the files that the checkout has, or refuses', HONEST_CASES],
  ['leaves nothing behind', ENDING_CASES],
] as const)('an experiment %s', (_, all) => {
  const cases = all.filter(({ name }) => THOROUGH || SHORT.includes(name));
  test.each(cases.map((placeCase) => [placeCase.name, placeCase] as const))(
    '%s',
    { timeout: MINUTES },
    async (_name, { run }) => {
      expect(await run()).toEqual([]);
    },
  );
});

test("the variables that name a repository are the same as git's", () => {
  const said = execFileSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  expect(said.filter((name) => !REPOSITORY_VARIABLES.has(name))).toEqual([]);
});

test('a worktree that cannot be removed is named', async () => {
  expect(await removeFolder('/proc/self/fdinfo')).toMatch(
    /^\/proc\/self\/fdinfo could not be removed \(.+\): remove it yourself\.$/,
  );
});
