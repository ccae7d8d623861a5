import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TriageError } from '../../src/domain/errors.ts';
import type { FailureRow } from '../../src/domain/failure.ts';
import type { CodeHost } from '../../src/ports/code-host.ts';
import type { HistoryStore } from '../../src/ports/stores.ts';
import { createLocalGitHost } from '../../src/providers/git/clone.ts';
import { createEmptyHistory } from '../../src/stores/memory.ts';
import { createTools } from '../../src/tools/all-tools.ts';
import { listChangedRanges } from '../../src/tools/repository.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { sampleBuild, sampleSubject } from '../support/subject.ts';
import { createContext, createEmptySources } from './sources.ts';

const TAX = [
  'export function taxOf(net: number) {',
  '  return net * 0.19;',
  '}',
  '',
  'export const RATE = 0.19;',
  '',
];

let repository: GitRepository;
let codeHost: CodeHost;
let green: string;
let middle: string;
let built: string;

beforeAll(() => {
  repository = createGitRepository();
  green = repository.commit(
    {
      'src/tax.ts': TAX.join('\n'),
      'package.json': '{}\n',
      '.github/workflows/ci.yml': 'on: push\n',
      'docs/tax.md': 'Tax\n',
    },
    'Begin',
  );
  middle = repository.commit(
    { 'src/tax.ts': TAX.join('\n').replace('0.19;\n}', '0.2;\n}') },
    'Raise the tax (#41)',
    'Grace',
  );
  built = repository.commit(
    {
      'package.json': '{ "a": 1 }\n',
      '.github/workflows/ci.yml': 'on: [push]\n',
      'docs/tax.md': `${'more\n'.repeat(50)}`,
    },
    'Tidy up (#42)',
    'Ada',
  );
  codeHost = createLocalGitHost({ clones: { 'shop/api': repository.folder } });
});
afterAll(() => repository.remove());

function createHistoryWithPassedBuild(commit: string | null): HistoryStore {
  const lastGreen =
    commit === null
      ? null
      : { ...sampleBuild({ id: 'bld_green', number: '811', commit }), status: 'passed' as const };
  return {
    ...createEmptyHistory(),
    kept: true,
    consecutiveFailures: async () => ({ count: 1, firstBuild: null, lastGreen, same: 0, firstSame: null }),
  };
}

function ask(
  history: HistoryStore,
  overrides: Parameters<typeof sampleSubject>[0] = {},
  host: CodeHost = codeHost,
) {
  return createContext(
    { codeHost: host, history },
    sampleSubject({ build: sampleBuild({ commit: built }), ...overrides }),
  );
}

describe('changed_since_green', () => {
  it('lists commits and files since the last passed build, and shows patches of files named by the failure first', async () => {
    const frames = [{ file: '/home/runner/work/api/api/src/tax.ts', line: 2, function: 'taxOf', own: true }];
    const exceptions = [{ type: 'Error', message: 'x', chain: [], frames, at: null }];
    const { findings } = await ask(createHistoryWithPassedBuild(green), { exceptions })(
      'CODE_ERROR',
      'changed_since_green',
    );

    expect(findings[0]).toMatchObject({
      title: `4 files in 2 commits since the green build #811 (${green.slice(0, 10)})`,
      data: { fileCount: 4, truncated: false, base: green },
    });
    expect(findings[0]?.text).toContain('Grace, 2026-01-01: Raise the tax (#41)');
    expect(findings[1]).toMatchObject({
      source: 'src/tax.ts',
      data: { path: 'src/tax.ts', commit: middle, author: 'Grace', pullRequest: 41, lines: [[2, 2]] },
    });
    expect(findings[1]?.text).toContain('+  return net * 0.2;');
    expect(findings.at(-1)?.source).toBe('docs/tax.md');
  });

  it.each([
    ['CONFIG_ERROR', '.github/workflows/ci.yml'],
    ['DEPENDENCY_ERROR', 'package.json'],
  ] as const)('shows only the right files for %s: %s', async (category, path) => {
    const { findings } = await ask(createHistoryWithPassedBuild(green))(category, 'changed_since_green');

    expect(findings[0]?.data?.files).toEqual([path]);
    expect(findings.slice(1).map(({ source }) => source)).toEqual([path]);
  });

  it('compares with the default branch if no passed build is known', async () => {
    const branch = repository.git('rev-parse', 'HEAD~1');
    repository.git('checkout', '--quiet', '-b', 'topic', branch);
    const topic = repository.commit({ 'src/round.ts': 'export {};\n' }, 'Round');
    repository.git('checkout', '--quiet', 'main');
    const outcome = await ask(createHistoryWithPassedBuild(null), {
      build: sampleBuild({ commit: topic, branch: 'topic' }),
    })('TEST_FAILURE', 'changed_since_green');

    expect(outcome.findings[0]?.title).toContain('that the default branch');
    expect(outcome.findings[0]?.data?.files).toEqual(['src/round.ts']);
  });

  it.each([
    ['the build names no commit', null],
    ['the commit is not in the clone', 'f'.repeat(40)],
  ])('finds nothing if %s', async (_why, commit) => {
    const asked = ask(createHistoryWithPassedBuild(green), { build: sampleBuild({ commit }) });
    expect(await asked('CODE_ERROR', 'changed_since_green')).toMatchObject({ status: 'empty' });
  });
});

describe('changed_since_green for a file that several commits changed', () => {
  const text = (lines: readonly string[]) => `${lines.join('\n')}\n`;
  const LIMITS = ['export const limits = {', '  depth: 4,', '  pageLength: 10,', '};'];
  const PAGES = [
    "import { limits } from './limits.js';",
    '',
    'export function cut(items, page = 0) {',
    '  if (items === null) {',
    '    return [];',
    '  }',
    '  return items.slice(page * limits.pageLength);',
    '}',
  ];
  const ask = async (commits: readonly (readonly [author: string, files: Record<string, string>])[]) => {
    const other = createGitRepository();
    try {
      const begun = other.commit(
        { 'src/pages.js': text(PAGES), 'src/limits.js': text(LIMITS) },
        'Begin',
        'Ada',
      );
      const ids = commits.map(([author, files]) => other.commit(files, `By ${author}`, author));
      const host = createLocalGitHost({ clones: { 'shop/api': other.folder } });
      const subject = sampleSubject({ build: sampleBuild({ commit: ids.at(-1) ?? null }) });
      const { findings } = await createContext(
        { codeHost: host, history: createHistoryWithPassedBuild(begun) },
        subject,
      )('CODE_ERROR', 'changed_since_green');
      return findings.slice(1).map(({ text: patch, data }) => ({ patch, data }));
    } finally {
      other.remove();
    }
  };

  it('names for each hunk its own commit, not the newest of the file', async () => {
    const guardless = PAGES.filter((_, at) => at < 3 || at > 5);
    const described = guardless.flatMap((line) =>
      line.startsWith('export') ? ['export const FIRST = 0;', line] : [line],
    );
    const found = await ask([
      ['Bob', { 'src/pages.js': text(guardless) }],
      ['Dora', { 'src/pages.js': text(described) }],
    ]);

    const bob = found.find(({ data }) => data?.author === 'Bob');
    expect(bob?.patch).toContain('-  if (items === null) {');
    expect(bob?.patch).not.toContain('+export const FIRST = 0;');
    expect(found.find(({ data }) => data?.author === 'Dora')?.patch).toContain('+export const FIRST = 0;');
    expect(found).toHaveLength(2);
  });

  it('omits commits that only formatted, and shows other changes at their present lines', async () => {
    const guardless = text(PAGES.filter((_, at) => at < 3 || at > 5));
    const formatted = guardless
      .replace('{ limits }', '{limits}')
      .replace('(items, page = 0)', '(\n  items, // All of them.\n  page = 0,\n)')
      .replace("'./limits.js';", '"./limits.js"');
    const found = await ask([
      ['Bob', { 'src/pages.js': guardless }],
      ['Cid', { 'src/pages.js': formatted }],
    ]);

    expect(found.map(({ data }) => data?.author)).toEqual(['Bob']);
    expect(found[0]?.data?.lines).toEqual([[7, 7]]);
    expect(found[0]?.patch).toContain('-  if (items === null) {');
  });

  it('names a removed name that other lines still use, with its commit', async () => {
    const renamed = text(LIMITS).replace('pageLength', 'pageSize');
    const found = await ask([
      ['Bob', { 'src/limits.js': renamed }],
      ['Gil', { 'src/limits.js': renamed.replace('depth: 4', 'depth: 6') }],
    ]);

    const bob = found.find(({ data }) => data?.author === 'Bob');
    expect(bob?.data?.stillUsed).toEqual([{ name: 'pageLength', path: 'src/pages.js', line: 7 }]);
    expect(found.find(({ data }) => data?.author === 'Gil')?.data?.stillUsed).toBeUndefined();
  });

  it('does not report a name that was renamed everywhere', async () => {
    const found = await ask([
      [
        'Bob',
        {
          'src/limits.js': text(LIMITS).replace('pageLength', 'size'),
          'src/pages.js': text(PAGES).replace('pageLength', 'size'),
        },
      ],
    ]);
    expect(found.every(({ data }) => data?.stillUsed === undefined)).toBe(true);
  });
});

describe('the expected value of a call', () => {
  const outlook = async (
    history: HistoryStore,
    tool: string,
    overrides: Parameters<typeof sampleSubject>[0] = {},
  ) => {
    const toolbox = createToolbox(createTools({ ...createEmptySources(), codeHost, history }), {
      mask: (text) => text,
    });
    const subject = sampleSubject({ build: sampleBuild({ commit: built }), ...overrides });
    const offered = await toolbox.askable?.('TEST_FAILURE', subject, new AbortController().signal);
    return offered?.find(({ name }) => name === tool)?.outlook;
  };

  it('is good for the changes since a passed build of another commit', async () => {
    expect(await outlook(createHistoryWithPassedBuild(green), 'changed_since_green')).toBe('good');
    expect(await outlook(createHistoryWithPassedBuild(green), 'read_test_file')).toBeUndefined();
  });

  it('is poor if no build passed, or this commit did', async () => {
    expect(await outlook(createHistoryWithPassedBuild(null), 'changed_since_green')).toBe('poor');
    expect(await outlook(createHistoryWithPassedBuild(built), 'changed_since_green')).toBe('poor');
    const asked = await ask(createHistoryWithPassedBuild(built))('TEST_FAILURE', 'changed_since_green');
    expect(asked).toMatchObject({ status: 'empty', findings: [] });
  });

  it('is good for past fixes only if the failure ended with another commit', async () => {
    const [failure] = sampleSubject().failures;
    if (failure === undefined) throw new Error('The sample has a failure.');
    const known = { repository: 'shop/api', pipeline: 'ci', number: '700', branch: 'main' };
    const row = { failure, ...known, category: null, analysisId: null, seenAt: '2026-01-01T00:00:00.000Z' };
    const history = (commit: string): HistoryStore => ({
      ...createHistoryWithPassedBuild(middle),
      failureHistory: async () => [{ ...row, commit }],
    });
    expect(await outlook(history(green), 'read_past_fixes')).toBe('good');
    expect(await outlook(history(middle), 'read_past_fixes')).toBe('poor');
    expect(await outlook(history(green), 'read_past_fixes', { generic: true })).toBe('poor');
  });
});

describe('read_past_fixes', () => {
  const red = (over: Partial<FailureRow> = {}): FailureRow => {
    const [failure] = sampleSubject().failures;
    if (failure === undefined) throw new Error('The sample has a failure.');
    const known = {
      repository: 'shop/api',
      pipeline: 'ci',
      number: '700',
      branch: 'main',
      category: null,
      analysisId: null,
    };
    return { failure, ...known, commit: green, seenAt: '2026-01-01T00:00:00.000Z', ...over };
  };
  const fixes = async (rows: FailureRow[], subject = {}) => {
    const history = { ...createHistoryWithPassedBuild(middle), failureHistory: async () => rows };
    return ask(history, subject)('TEST_FAILURE', 'read_past_fixes');
  };

  it('names what changed between the failed build and the next passed one', async () => {
    const { findings } = await fixes([red(), red()]);

    expect(findings).toMatchObject([
      {
        title: '1 file changed between ci #700 (red) and #811 (green)',
        data: { files: ['src/tax.ts'], fileCount: 1 },
      },
    ]);
    expect(findings[0]?.text).toContain('Raise the tax (#41)');
  });

  it.each<[string, Partial<FailureRow>]>([
    ['another branch', { branch: 'topic' }],
    ['a later build', { seenAt: '2027-01-01T00:00:00.000Z' }],
    ['no commit', { commit: null }],
  ])('finds nothing for a failure of %s', async (_why, over) => {
    expect(await fixes([red(over)])).toMatchObject({ status: 'empty' });
  });

  it('finds nothing for a generic failure', async () => {
    expect(await fixes([red()], { generic: true })).toMatchObject({ status: 'empty' });
  });
});

describe('read_commit_diff', () => {
  it('shows the changes of the built commit, or of another', async () => {
    const own = await ask(createEmptyHistory())('CODE_ERROR', 'read_commit_diff');
    expect(own.findings[0]?.data).toMatchObject({ commit: built, author: 'Ada', pullRequest: 42 });
    const other = await ask(createEmptyHistory())('CODE_ERROR', 'read_commit_diff', {
      commit: middle.slice(0, 12),
      path: 'tax.ts',
    });
    expect(other.findings.map(({ source }) => source)).toEqual([`commit/${middle}`, 'src/tax.ts']);
  });

  it('shows only manifests for a dependency error, unless a path is named', async () => {
    const { findings } = await ask(createEmptyHistory())('DEPENDENCY_ERROR', 'read_commit_diff');
    expect(findings[0]?.data?.files).toEqual(['package.json']);
    expect(findings.every(({ text }) => !text.includes('docs/tax.md'))).toBe(true);
    const named = await ask(createEmptyHistory())('DEPENDENCY_ERROR', 'read_commit_diff', {
      path: 'docs/tax.md',
    });
    expect(named).toMatchObject({ status: 'ok' });
  });

  it.each(['main', '--help', 'HEAD~1', 'abc'])('refuses a commit such as %s', async (commit) => {
    expect(await ask(createEmptyHistory())('CODE_ERROR', 'read_commit_diff', { commit })).toMatchObject({
      status: 'invalid-arguments',
    });
  });
});

describe('read_commit_history', () => {
  it('lists the commits that changed some lines, with their pull requests', async () => {
    const asked = ask(createEmptyHistory());
    const line = await asked('CODE_ERROR', 'read_commit_history', { path: 'src/tax.ts', lineStart: 2 });
    expect(line.findings.map(({ data }) => [data?.commit, data?.pullRequest])).toEqual([
      [middle, 41],
      [green, null],
    ]);
    const rest = await asked('CODE_ERROR', 'read_commit_history', {
      path: 'src/tax.ts',
      lineStart: 5,
      lineEnd: 5,
    });
    expect(rest.findings.map(({ data }) => data?.commit)).toEqual([green]);
    expect(await asked('CODE_ERROR', 'read_commit_history', { lineStart: 2 })).toMatchObject({
      status: 'invalid-arguments',
    });
  });
});

describe('read_blame', () => {
  it('names the pull request of the newest change, or works without if it is unavailable', async () => {
    const blame = (host?: CodeHost) =>
      ask(createEmptyHistory(), {}, host)('CODE_ERROR', 'read_blame', { path: 'src/tax.ts', line: 2 });
    expect((await blame()).findings[0]?.data).toMatchObject({
      commit: middle,
      author: 'Grace',
      pullRequest: 41,
    });
    const commitDiff = async () => {
      throw new TriageError('forbidden', 'No.');
    };
    const { findings } = await blame({ ...codeHost, commitDiff });
    expect(findings[0]?.data).toMatchObject({ commit: middle, pullRequest: null });
  });
});

describe('the lines that a patch changes', () => {
  it('are those of the new file; a removal is at its former place', () => {
    const patch = [
      '@@ -1,3 +1,3 @@',
      ' a',
      '-b',
      '+B',
      ' c',
      '@@ -10,3 +10,2 @@',
      ' x',
      '-y',
      ' z',
      '\\ No newline at end of file',
    ].join('\n');
    expect(listChangedRanges(patch)).toEqual([
      [2, 2],
      [11, 11],
    ]);
    expect(listChangedRanges('')).toEqual([]);
  });
});
