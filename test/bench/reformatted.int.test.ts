import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openServicePath, openTerminalPath, type Path } from '../../scripts/parts/bench/planted/answers.ts';
import type { PlantedHistory } from '../../scripts/parts/bench/planted/history.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';

/** A file as each author left it, and the log of the last one's build. */
interface Told {
  readonly path: string;
  readonly commits: readonly (readonly [author: string, text: string])[];
  readonly log: string;
}

const LOAD = `def load(env):
    retries = env.get("RETRIES", "3")
    return {"retries": int(retries)}
`;
const WITHOUT_DEFAULT = LOAD.replace(', "3")', ')');
const RETRIES: Told = {
  path: 'app/conf.py',
  commits: [
    ['Ann', LOAD],
    ['Bob', WITHOUT_DEFAULT],
    [
      'Cid',
      WITHOUT_DEFAULT.replace('{"retries": int(retries)}', '{\n        "retries": int(retries),\n    }'),
    ],
  ],
  log: `=================================== FAILURES ===================================
___________________________________ test_load __________________________________

    def load(env):
        retries = env.get("RETRIES")
        return {
>           "retries": int(retries),
        }
E       TypeError: int() argument must be a string, a bytes-like object or a real number, not 'NoneType'

app/conf.py:4: TypeError
=========================== short test summary info ============================
FAILED tests/test_conf.py::test_load - TypeError: int() argument must be a string
============================== 1 failed in 0.03s ===============================
`,
};

const RUN = `'use strict';

// Runs the hooks in their order.
function run(hooks, payload) {
  for (const hook of hooks) {
    if (typeof hook !== 'function') {
      continue;
    }
    payload = hook(payload);
  }
  return payload;
}
`;
const UNGUARDED = RUN.replace(/ {4}if[^}]*\}\n/, '');
const HOOKS: Told = {
  path: 'src/plugins/runner.js',
  commits: [
    ['Ann', RUN],
    ['Bob', UNGUARDED],
    ['Cid', UNGUARDED.replace('hook(payload)', 'hook( payload )')],
  ],
  log: `FAIL src/plugins/runner.test.js
  ● skips what is no function

    TypeError: hook is not a function

      at run (src/plugins/runner.js:6:15)
      at Object.<anonymous> (src/plugins/runner.test.js:4:10)

Tests:       1 failed, 1 total
`,
};

const SUM = `package ring

// Ring keeps numbers.
type Ring struct {
	items []int
}

// Sum adds up all.
func (r *Ring) Sum() int {
	total := 0
	length := len(r.items)
	for i := 0; i < length; i++ {
		total += r.items[i]
	}
	return total
}
`;
const RING: Told = {
  path: 'ring/ring.go',
  commits: [
    ['Ann', SUM],
    ['Bob', SUM.replace('i < length', 'i <= length')],
  ],
  log: `--- FAIL: TestSum (0.00s)
panic: runtime error: index out of range [3] with length 3

goroutine 18 [running]:
shop/ring.(*Ring).Sum(...)
	/home/runner/work/shop/shop/ring/ring.go:13
shop/ring.TestSum(0xc000007a00)
	/home/runner/work/shop/shop/ring/ring_test.go:8 +0x1d
FAIL	shop/ring	0.005s
FAIL
`,
};

const repositories: GitRepository[] = [];
const folder = mkdtempSync(join(tmpdir(), 'faultline-reformatted-'));
const paths = new Map<string, Path>();

function write({ path, commits, log }: Told): PlantedHistory {
  const repository = createGitRepository();
  repositories.push(repository);
  const ids = commits.map(([author, text]) => repository.commit({ [path]: text }, `By ${author}`, author));
  const [green = '', culprit = ''] = ids;
  const known = { language: 'Go', plant: 'off-by-one', isReformatted: true } as const;
  const head = ids.at(-1) ?? '';
  return { ...known, name: path, folder: repository.folder, green, culprit, head, commits: ids.length, log };
}

const histories = { retries: write(RETRIES), hooks: write(HOOKS), ring: write(RING) };

beforeAll(async () => {
  paths.set('terminal', await openTerminalPath(join(folder, 'terminal')));
  paths.set('service', await openServicePath(join(folder, 'service'), Object.values(histories)));
});
afterAll(async () => {
  for (const path of paths.values()) await path.close();
  for (const repository of repositories) repository.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe.each([
  ['terminal', true],
  ['terminal', false],
  ['service', true],
  ['service', false],
])(
  'a planted fault next to lines that others changed, in the %s, passed build known: %s',
  (name, knowsGreen) => {
    it.each([
      ['retries', 'removed the default', 'Restore the default `retries = env.get("RETRIES", "3")`'],
      ['hooks', 'removed the check', "Restore the check `if (typeof hook !== 'function') {`"],
      ['ring', 'changed `for i := 0; i < length; i++ {` to', 'Restore `for i := 0; i < length; i++ {`'],
    ] as const)(
      'is the commit that made it, and the fix reverts it: %s',
      async (which, did, fix) => {
        const history = histories[which];
        const analysis = await paths.get(name)?.answer(history, knowsGreen);

        expect(analysis?.answer.suspects[0]).toMatchObject({ commit: history.culprit, author: 'Bob' });
        expect(analysis?.answer.rootCause).toContain(`Commit ${history.culprit.slice(0, 10)} (Bob) ${did}`);
        expect(analysis?.answer.fixRecommendation).toContain(fix);
        expect(JSON.stringify(analysis?.answer)).not.toContain('Cid');
      },
      60_000,
    );
  },
);
