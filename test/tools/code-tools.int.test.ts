import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TriageError } from '../../src/domain/errors.ts';
import type { FailingTest } from '../../src/domain/failure.ts';
import type { CodeHost } from '../../src/ports/code-host.ts';
import { createLocalGitHost } from '../../src/providers/git/clone.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { sampleBuild, sampleSubject } from '../support/subject.ts';
import { createContext } from './sources.ts';

const TAX = [
  'import { round } from "./round";',
  '',
  'export function taxOf(net: number) {',
  '  return round(net * 0.19);',
  '}',
  '',
];
const TEST = [
  ...Array.from({ length: 60 }, (_, row) => `// filler ${row}`),
  'it("rounds the sum once", () => {',
  '  expect(taxOf(1)).toBe(0.19);',
  '});',
];

let repository: GitRepository;
let codeHost: CodeHost;
let first: string;
let built: string;

beforeAll(() => {
  repository = createGitRepository();
  first = repository.commit(
    {
      'packages/cart/src/tax.ts': TAX.join('\n'),
      'packages/cart/test/tax.test.ts': TEST.join('\n'),
      'src/main/java/com/shop/Cart.java': 'class Cart {}\n',
      'src/test/java/com/shop/CartTest.java': 'class CartTest {\n  void addsUp() {}\n}\n',
      'tests/test_cart.py': 'class TestCart:\n    def test_total(self):\n        assert 1 == 2\n',
      '.github/workflows/ci.yml': 'on: push\njobs:\n  build: { runs-on: ubuntu-latest }\n',
      'package.json': '{ "name": "shop", "dependencies": { "left-pad": "1" } }\n',
      'package-lock.json': '{ "left-pad": "1.3.0" }\n',
      'a/index.ts': 'export {};\n',
      'b/index.ts': 'export {};\n',
      '.env': 'TOKEN=left-pad\n',
    },
    'Begin',
  );
  built = repository.commit(
    { 'packages/cart/src/tax.ts': TAX.join('\n').replace('0.19', '0.2') },
    'Raise the tax',
    'Grace',
  );
  codeHost = createLocalGitHost({ clones: { 'shop/api': repository.folder } });
});
afterAll(() => repository.remove());

function ask(overrides: Parameters<typeof sampleSubject>[0] = {}) {
  return createContext({ codeHost }, sampleSubject({ build: sampleBuild({ commit: built }), ...overrides }));
}

function createFailingTest(test: Partial<FailingTest>): FailingTest {
  const unknown = {
    suite: null,
    file: null,
    line: null,
    message: null,
    expected: null,
    actual: null,
    at: null,
  };
  return { name: 'sample', framework: 'junit-xml', ...unknown, ...test };
}

describe('read_file', () => {
  it.each([
    'packages/cart/src/tax.ts',
    '/home/runner/work/api/api/packages/cart/src/tax.ts',
    'D:\\a\\api\\api\\packages\\cart\\src\\tax.ts',
    '/var/jenkins_home/workspace/shop@2/packages/cart/src/tax.ts',
    'src/tax.ts',
    '/opt/somewhere/else/cart/src/tax.ts',
  ])('finds %s in the repository, with exact lines', async (path) => {
    const outcome = await ask()('CODE_ERROR', 'read_file', { path, line: 4 });

    expect(outcome).toMatchObject({
      status: 'ok',
      findings: [{ source: 'packages/cart/src/tax.ts', lineStart: 1, lineEnd: 5 }],
    });
    expect(outcome.findings[0]?.text.split('\n')[3]).toBe('  return round(net * 0.2);');
    expect(outcome.findings[0]?.data).toMatchObject({
      path: 'packages/cart/src/tax.ts',
      commit: built,
      totalLines: 5,
    });
  });

  it('notes that another commit had to be used', async () => {
    const build = sampleBuild({ commit: 'deadbeefdeadbeef' });
    const outcome = await ask({ build })('CODE_ERROR', 'read_file', { path: 'src/tax.ts' });

    expect(outcome.findings[0]?.title).toContain(
      `as of ${built.slice(0, 10)}: deadbeefde is not in the clone`,
    );
  });

  it('notes that the build names no commit', async () => {
    const outcome = await ask({ build: sampleBuild({ commit: null }) })('CODE_ERROR', 'read_file', {
      path: 'src/tax.ts',
    });

    expect(outcome.findings[0]?.title).toContain('the build names no commit');
  });

  it('reads the built commit, not the newest', async () => {
    const outcome = await ask({ build: sampleBuild({ commit: first }) })('CODE_ERROR', 'read_file', {
      path: 'src/tax.ts',
      line: 4,
    });

    expect(outcome.findings[0]?.text).toContain('0.19');
  });

  it('lists the files if a path matches several', async () => {
    const outcome = await ask()('CODE_ERROR', 'read_file', { path: 'index.ts' });

    expect(outcome.findings).toMatchObject([
      { title: 'index.ts fits 2 files; name one of them', text: 'a/index.ts\nb/index.ts' },
    ]);
  });

  it.each(['node_modules/left-pad/index.ts', '/usr/lib/python3.11/a/index.ts', 'nowhere/absent.ts'])(
    'finds nothing for %s',
    async (path) => {
      expect(await ask()('CODE_ERROR', 'read_file', { path })).toMatchObject({ status: 'empty' });
    },
  );

  it('suggests the nearest names, and lines that mention it, if a file does not exist', async () => {
    const { status, findings } = await ask()('CODE_ERROR', 'read_file', {
      path: 'packages/cart/src/taxs.ts',
      line: 4,
    });

    expect(status).toBe('ok');
    expect(findings).toHaveLength(1);
    expect(findings[0]?.title).toBe('packages/cart/src/taxs.ts does not exist; name one of these instead');
    expect(findings[0]?.text.split('\n')).toEqual(['nearest names:', 'packages/cart/src/tax.ts']);
    expect(findings[0]?.data).toMatchObject({ candidates: ['packages/cart/src/tax.ts'] });

    const moved = await ask()('CODE_ERROR', 'read_file', { path: 'lib/round.ts' });
    expect(moved.findings[0]?.text).toContain('lines with "round":\npackages/cart/src/tax.ts:1');
  });

  it('returns 200 lines, and states what is cut', async () => {
    const lines = Array.from({ length: 900 }, (_, row) => `const value${row} = ${'x'.repeat(50)}${row};`);
    const files = {
      'src/long.ts': `${lines.join('\n')}\n`,
      'src/wide.ts': `${'y'.repeat(900)}\n`.repeat(100),
    };
    const commit = repository.commit(files, 'Grow');
    const read = ask({ build: sampleBuild({ commit }) });
    const shown = async (args: Record<string, unknown>) =>
      (await read('CODE_ERROR', 'read_file', args)).findings;

    const long = await shown({ path: 'src/long.ts', lineStart: 1, lineEnd: 900 });
    expect(long.map(({ text }) => text).join('\n')).toBe(lines.slice(0, 200).join('\n'));
    expect(long.at(-1)?.title).toMatch(
      /lines \d+–200 of 900; lines 201–900 are not shown: ask for them by lineStart$/,
    );

    const whole = await shown({ path: 'src/long.ts', lineStart: 701, lineEnd: 900 });
    expect(whole.at(-1)?.lineEnd).toBe(900);
    expect(whole.map(({ title }) => title).join()).not.toContain('not shown');

    const wide = await shown({ path: 'src/wide.ts' });
    expect(wide.at(-1)?.title).toMatch(/ of 100; lines \d+–100 are not shown/);
  });

  it.each([
    '../../../../etc/passwd',
    '/etc/passwd',
    '--upload-pack=id',
    '/proc/self/environ',
    'x/../../../etc/shadow',
  ])('never leaves the repository for %s', async (path) => {
    expect(await ask()('CODE_ERROR', 'read_file', { path })).toMatchObject({ status: 'empty', findings: [] });
  });

  it.each(['--upload-pack=id', 'main:../x', '-x'])('refuses a commit such as %s', async (commit) => {
    const outcome = await ask({ build: sampleBuild({ commit }) })('CODE_ERROR', 'read_file', {
      path: 'src/tax.ts',
    });

    expect(outcome).toMatchObject({ status: 'invalid-arguments', findings: [] });
  });

  it.each([
    ['CONFIG_ERROR', '.github/workflows/ci.yml', 'ok'],
    ['CONFIG_ERROR', '/home/runner/work/api/api/.github/workflows/ci.yml', 'ok'],
    ['CONFIG_ERROR', 'packages/cart/src/tax.ts', 'ok'],
    ['DEPENDENCY_ERROR', 'package.json', 'ok'],
    ['DEPENDENCY_ERROR', 'package-lock.json', 'ok'],
    ['DEPENDENCY_ERROR', 'packages/cart/src/tax.ts', 'ok'],
  ] as const)('accepts for %s and %s: %s', async (category, path, status) => {
    expect(await ask()(category, 'read_file', { path })).toMatchObject({ status });
  });

  it('falls back to searching the code for the function that failed', async () => {
    const flaky: CodeHost = {
      ...codeHost,
      findFiles: async () => {
        throw new TriageError('upstream-failed', 'It answered 502.', { retryable: true });
      },
    };
    const frames = [{ file: '/app/src/tax.ts', line: 4, function: 'Cart.taxOf', own: true }];
    const exceptions = [{ type: 'Error', message: 'x', chain: [], frames, at: null }];
    const subject = sampleSubject({ build: sampleBuild({ commit: built }), exceptions });
    const outcome = await createContext({ codeHost: flaky }, subject)('CODE_ERROR', 'read_file', {
      path: '/app/src/tax.ts',
      line: 4,
    });

    expect(outcome).toMatchObject({ status: 'ok', answeredBy: 'search_code', attempts: 5 });
    expect(outcome.findings.map(({ source }) => source)).toContain('packages/cart/src/tax.ts');
  });
});

describe('read_blame', () => {
  it('names the last change of the line first', async () => {
    const outcome = await ask()('CODE_ERROR', 'read_blame', { path: 'src/tax.ts', line: 4 });

    expect(outcome.findings[0]).toMatchObject({
      lineStart: 4,
      lineEnd: 4,
      text: '  return round(net * 0.2);',
      data: { author: 'Grace', commit: built, subject: 'Raise the tax', path: 'packages/cart/src/tax.ts' },
    });
    const runs = outcome.findings.filter(({ title }) => !title.includes('(changed lines here)'));
    expect(runs.slice(1).every(({ data }) => data?.commit === first)).toBe(true);
  });

  it('shows the former lines that the commit replaced', async () => {
    const { findings } = await ask()('CODE_ERROR', 'read_blame', { path: 'src/tax.ts', line: 4 });

    expect(findings.at(-1)).toMatchObject({
      title: expect.stringContaining('Raise the tax (changed lines here)'),
      text: expect.stringContaining('-  return round(net * 0.19);\n+  return round(net * 0.2);'),
      data: { author: 'Grace', commit: built, lines: [[4, 4]] },
    });
  });

  it('accepts a range, and requires a line or a range', async () => {
    const ranged = await ask()('CODE_ERROR', 'read_blame', { path: 'src/tax.ts', lineStart: 4, lineEnd: 4 });
    expect(ranged.findings.map(({ data }) => data?.commit)).toEqual([built, built]);
    expect(await ask()('CODE_ERROR', 'read_blame', { path: 'src/tax.ts' })).toMatchObject({
      status: 'invalid-arguments',
    });
  });
});

describe('read_blame of a line next to removed lines', () => {
  it('names the commit that removed them, although no present line is from it', async () => {
    const other = createGitRepository();
    try {
      const lines = [
        'function total(net) {',
        '  if (net < 0) throw new RangeError();',
        '  return net * 1.19;',
        '}',
        '',
      ];
      other.commit({ 'src/total.js': lines.join('\n') }, 'Begin', 'Ada');
      const without = lines.filter((line) => !line.includes('RangeError'));
      const culprit = other.commit({ 'src/total.js': without.join('\n') }, 'Drop the check', 'Grace');
      const host = createLocalGitHost({ clones: { 'shop/api': other.folder } });
      const subject = sampleSubject({ build: sampleBuild({ commit: culprit }) });
      const outcome = await createContext({ codeHost: host }, subject)('CODE_ERROR', 'read_blame', {
        path: 'src/total.js',
        line: 2,
      });

      expect(outcome.findings[0]).toMatchObject({
        title: expect.stringContaining('Drop the check (removed lines here)'),
        data: { author: 'Grace', commit: culprit, path: 'src/total.js' },
      });
      expect(outcome.findings.slice(1).every(({ data }) => data?.author === 'Ada')).toBe(true);
    } finally {
      other.remove();
    }
  });
});

describe('read_blame of lines where one commit added and removed lines', () => {
  it('names it for the removal, with its patch', async () => {
    const other = createGitRepository();
    try {
      const guard = ['  if (net === undefined) {', '    return 0;', '  }'];
      const lines = ['function total(net, rate) {', ...guard, '  return net * rate;', '}', ''];
      other.commit({ 'src/total.js': lines.join('\n') }, 'Begin', 'Ada');
      const without = ['function total(net, rate, tip) {', '  return net * rate;', '}', ''];
      const culprit = other.commit({ 'src/total.js': without.join('\n') }, 'Prepare for tips', 'Grace');
      const host = createLocalGitHost({ clones: { 'shop/api': other.folder } });
      const subject = sampleSubject({ build: sampleBuild({ commit: culprit }) });
      const { findings } = await createContext({ codeHost: host }, subject)('CODE_ERROR', 'read_blame', {
        path: 'src/total.js',
        line: 2,
      });

      expect(findings[0]).toMatchObject({
        title: expect.stringContaining('Prepare for tips (removed lines here)'),
        text: expect.stringContaining('-  if (net === undefined) {'),
        data: { author: 'Grace', commit: culprit, removes: true },
      });
      expect(findings.some(({ data }) => data?.author === 'Ada')).toBe(true);
    } finally {
      other.remove();
    }
  });
});

describe('read_blame of lines that a later commit only formatted', () => {
  const LOAD = [
    'def load(env):',
    '    retries = env.get("RETRIES", "3")',
    '    return {"retries": int(retries)}',
    '',
  ];
  const CHANGED = LOAD.map((line) => line.replace(', "3")', ')'));
  const FORMATTED = CHANGED.flatMap((line) =>
    line.includes('return') ? ['    return {', '        "retries": int(retries),', '    }'] : [line],
  );

  async function blameFormatted(hide: (host: CodeHost) => CodeHost) {
    const other = createGitRepository();
    try {
      other.commit({ 'app/conf.py': LOAD.join('\n') }, 'Load', 'Ann');
      other.commit({ 'app/conf.py': CHANGED.join('\n') }, 'Simplify', 'Bob');
      const commit = other.commit({ 'app/conf.py': FORMATTED.join('\n') }, 'Format', 'Cid');
      const host = hide(createLocalGitHost({ clones: { 'shop/api': other.folder } }));
      const subject = sampleSubject({ build: sampleBuild({ commit }) });
      const query = { path: 'app/conf.py', line: 4 };
      return (await createContext({ codeHost: host }, subject)('CODE_ERROR', 'read_blame', query)).findings;
    } finally {
      other.remove();
    }
  }

  it('attributes them to their author, and shows other changes next to them', async () => {
    const findings = await blameFormatted((host) => host);

    const runs = findings.map(({ lineStart, lineEnd, data }) => [data?.author, lineStart, lineEnd]);
    expect(runs.slice(0, -1)).toEqual([
      ['Bob', 2, 2],
      ['Ann', 1, 1],
      ['Ann', 3, 5],
    ]);
    expect(findings.at(-1)).toMatchObject({
      text: expect.stringContaining('-    retries = env.get("RETRIES", "3")'),
      data: { author: 'Bob', lines: [[2, 2]] },
    });
  });

  it('attributes them to the formatting commit, marked as such, if the former file is not known', async () => {
    const findings = await blameFormatted((host) => ({ ...host, history: async () => [] }));

    const cid = findings.find(({ data }) => data?.author === 'Cid');
    expect(cid).toMatchObject({ lineStart: 3, lineEnd: 5, data: { formats: true } });
  });
});

describe('find_files', () => {
  const foundBy = async (
    category: 'CODE_ERROR' | 'CONFIG_ERROR' | 'DEPENDENCY_ERROR' | 'TEST_FAILURE',
    more: object,
    args: object = {},
  ) => {
    const none = {
      exceptions: [],
      failures: [],
      diagnostics: [],
      messages: [],
      excerpts: [],
      failingTests: [],
      failedSections: [],
    };
    const outcome = await ask({ ...none, ...more })(category, 'find_files', { ...args });
    return {
      outcome,
      data: outcome.findings[0]?.data as {
        found: { path: string; by: string; line: number | null }[];
        missing: string[];
      },
    };
  };
  const message = (text: string) => ({ messages: [{ text, at: null, weight: 1 }] });

  it('finds files named in the kept lines, by their paths in the repository, and nothing for words that only look like files', async () => {
    const { data } = await foundBy(
      'CODE_ERROR',
      message('/builds/shop/api/packages/cart/src/tax.ts:4:10: e.g. see https://x.test/a/index.ts, index.ts'),
    );
    expect(data.found).toEqual([
      {
        path: 'packages/cart/src/tax.ts',
        as: '/builds/shop/api/packages/cart/src/tax.ts:4:10',
        line: 4,
        by: 'log',
      },
      { path: 'a/index.ts', as: 'index.ts', line: null, by: 'log' },
      { path: 'b/index.ts', as: 'index.ts', line: null, by: 'log' },
    ]);
  });

  it('reports which of the requested paths exist', async () => {
    const { data } = await foundBy('CODE_ERROR', {}, { paths: ['src/tax.ts', 'src/price.ts'] });
    expect(data.found.map(({ path }) => path)).toEqual(['packages/cart/src/tax.ts']);
    expect(data.missing).toEqual(['src/price.ts']);
  });

  it('follows the imports of the failing test to files of the project, in several languages', async () => {
    const other = createGitRepository();
    try {
      const commit = other.commit(
        {
          'test/cart.test.ts': "import { vi } from 'vitest';\nimport { Price } from '../src/money/price';\n",
          'src/money/price.ts': '',
          'tests/test_cart.py': 'import os\nfrom shop.cart import Cart\nfrom shop import tax\n',
          'shop/cart.py': '',
          'shop/tax.py': '',
          'src/test/java/shop/CartTest.java':
            'package shop;\nimport java.util.List;\nimport shop.money.Price;\n',
          'src/main/java/shop/money/Price.java': '',
          'tests/run.rs': 'use crate::money::Price;\n',
          'src/money.rs': '',
        },
        'Begin',
      );
      const host = createLocalGitHost({ clones: { 'shop/api': other.folder } });
      const imported = async (file: string) => {
        const subject = sampleSubject({
          build: sampleBuild({ commit }),
          failingTests: [createFailingTest({ file })],
        });
        const { findings } = await createContext({ codeHost: host }, subject)('TEST_FAILURE', 'find_files');
        const data = findings[0]?.data as { found: { path: string; by: string }[] } | undefined;
        return data?.found.filter(({ by }) => by === 'import').map(({ path }) => path);
      };
      expect(await imported('test/cart.test.ts')).toEqual(['src/money/price.ts']);
      expect(await imported('tests/test_cart.py')).toEqual(['shop/cart.py', 'shop/tax.py']);
      expect(await imported('src/test/java/shop/CartTest.java')).toEqual([
        'src/main/java/shop/money/Price.java',
      ]);
      expect(await imported('tests/run.rs')).toEqual(['src/money.rs']);
    } finally {
      other.remove();
    }
  });

  it('finds the CI file with the failed step, and the manifests nearest to the root', async () => {
    const step = {
      source: 'log',
      name: 'build / Run runs-on: ubuntu-latest',
      lineStart: 1,
      lineEnd: 9,
      failed: true,
    };
    const { data } = await foundBy('DEPENDENCY_ERROR', { failedSections: [step] });
    expect(data.found.map(({ path, by }) => [path, by])).toEqual([
      ['.github/workflows/ci.yml', 'step'],
      ['package-lock.json', 'manifest'],
      ['package.json', 'manifest'],
    ]);
  });
});

describe('find_files if several CI files run the failed command', () => {
  let other: GitRepository;
  beforeAll(() => {
    other = createGitRepository();
    const workflow = (name: string, job: string) =>
      `name: ${name}\non: push\njobs:\n  ${job}:\n    steps:\n      - run: npm test\n`;
    other.commit(
      {
        '.github/workflows/ci.yml': workflow('CI', 'unit'),
        '.github/workflows/nightly.yml': workflow('"Nightly"', 'browsers'),
      },
      'Begin',
    );
  });
  afterAll(() => other.remove());
  const stepFiles = async (pipeline: string, step: string) => {
    const host = createLocalGitHost({ clones: { 'shop/api': other.folder } });
    const failed = { source: 'log', name: step, lineStart: 1, lineEnd: 9, failed: true };
    const subject = sampleSubject({
      build: sampleBuild({ commit: null, branch: null, pipeline, job: null }),
      failedSections: [failed],
      messages: [],
      excerpts: [],
    });
    const { findings } = await createContext({ codeHost: host }, subject)('CONFIG_ERROR', 'find_files');
    const data = findings[0]?.data as { found: { path: string; by: string }[] } | undefined;
    return (data?.found ?? []).filter(({ by }) => by === 'step').map(({ path }) => path);
  };

  it.each([
    ['the pipeline’s name', 'Nightly', 'Run npm test', ['.github/workflows/nightly.yml']],
    ['the job’s name', 'build', 'unit (node 24) / Run npm test', ['.github/workflows/ci.yml']],
    ['nothing: none is known to define it', 'build', 'Run npm test', []],
  ])('names the one with %s', async (_what, pipeline, step, files) => {
    expect(await stepFiles(pipeline, step)).toEqual(files);
  });
});

describe('search_code', () => {
  it('returns one finding per line', async () => {
    const outcome = await ask()('CODE_ERROR', 'search_code', { text: 'taxOf(' });

    expect(outcome.findings.map(({ title }) => title).toSorted()).toEqual([
      'packages/cart/src/tax.ts:3',
      'packages/cart/test/tax.test.ts:62',
    ]);
  });

  it('searches everywhere, whatever the category', async () => {
    for (const category of ['DEPENDENCY_ERROR', 'CONFIG_ERROR'] as const) {
      const { findings } = await ask()(category, 'search_code', { text: 'left-pad' });
      expect(findings.map(({ source }) => source)).toEqual(
        expect.arrayContaining(['package-lock.json', 'package.json']),
      );
    }
  });

  it.each(['--open-files-in-pager=id', '-e', '$(id)', '`id`'])('treats %s as text', async (text) => {
    expect(await ask()('CODE_ERROR', 'search_code', { text })).toMatchObject({ status: 'empty' });
  });

  it('requires a single line', async () => {
    expect(await ask()('CODE_ERROR', 'search_code', { text: 'a\nb' })).toMatchObject({
      status: 'invalid-arguments',
    });
  });
});

describe('read_commit_history', () => {
  it('lists the newest commits, of one file on request', async () => {
    const all = await ask()('CODE_ERROR', 'read_commit_history');
    expect(all.findings.map(({ data }) => data?.commit)).toEqual([built, first]);
    const one = await ask()('CODE_ERROR', 'read_commit_history', { path: '/app/package.json' });
    expect(one.findings.map(({ data }) => [data?.commit, data?.path])).toEqual([[first, 'package.json']]);
  });
});

describe('read_test_file', () => {
  const shown = async (test: Partial<FailingTest>, args = {}) => {
    const { findings } = await ask({ failingTests: [createFailingTest(test)] })(
      'TEST_FAILURE',
      'read_test_file',
      args,
    );
    return findings[0];
  };

  it('finds the file that the report names, around the test', async () => {
    const found = await shown({
      name: 'cart > tax > rounds the sum once',
      file: '/home/runner/work/api/api/packages/cart/test/tax.test.ts',
    });

    expect(found).toMatchObject({ source: 'packages/cart/test/tax.test.ts', data: { line: 61 } });
    expect(found?.text).toContain('expect(taxOf(1)).toBe(0.19);');
  });

  it.each([
    [{ name: 'addsUp', suite: 'com.shop.CartTest' }, 'src/test/java/com/shop/CartTest.java', 2],
    [{ name: 'com.shop.CartTest.addsUp()' }, 'src/test/java/com/shop/CartTest.java', 2],
    [{ name: 'tests/test_cart.py::TestCart::test_total' }, 'tests/test_cart.py', 2],
    [{ name: 'test_total', suite: 'tests.test_cart.TestCart' }, 'tests/test_cart.py', 2],
  ] as const)('finds the file of %j', async (test, source, line) => {
    expect(await shown(test)).toMatchObject({ source, data: { line } });
  });

  it('finds nothing without a failing test', async () => {
    expect(await ask()('TEST_FAILURE', 'read_test_file')).toMatchObject({ status: 'empty' });
    expect(await shown({ name: 'a', file: 'absent.ts' }, { test: 'another' })).toBeUndefined();
  });
});
