import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Suspect } from '../../../src/domain/analysis.ts';
import type { CodeHost } from '../../../src/ports/code-host.ts';
import { type Logger, silentLogger } from '../../../src/ports/telemetry.ts';
import { createLocalGitHost } from '../../../src/providers/git/clone.ts';
import { createOwnerFinder } from '../../../src/service/triage/owners.ts';
import { createGitRepository, type GitRepository } from '../../support/git-repository.ts';
import { createHostileOwners, HOSTILE_OWNERS, listLongPaths } from '../../support/hostile-owners.ts';
import { sampleBuild, sampleSubject } from '../../support/subject.ts';
import { THOROUGH } from '../../support/thorough.ts';

const signal = new AbortController().signal;
/** Enough for git on any machine: what is tried is who is named, not how soon. */
const AMPLE_MS = 60_000;
let repository: GitRepository;
beforeEach(() => {
  repository = createGitRepository();
});
afterEach(() => repository.remove());

const suspect: Suspect = {
  path: 'src/tax.ts',
  line: 2,
  commit: null,
  author: null,
  score: 0.9,
  reason: 'named',
};

function ask(
  commit: string,
  {
    category = 'CODE_ERROR' as const,
    suspects = [suspect],
    host = createLocalGitHost({ clones: { 'shop/api': repository.folder } }),
    logger = silentLogger,
    limitMs = AMPLE_MS,
  }: {
    category?: 'CODE_ERROR' | 'INFRA_ERROR';
    suspects?: Suspect[];
    host?: CodeHost;
    logger?: Pick<Logger, 'warn'>;
    limitMs?: number | undefined;
  } = {},
) {
  const test = {
    name: 'adds',
    suite: null,
    file: 'pkg/test/tax.test.ts',
    line: 1,
    message: null,
    expected: null,
    actual: null,
    framework: 'vitest',
    at: null,
  };
  const subject = sampleSubject({ build: sampleBuild({ commit, provider: 'github' }), failingTests: [test] });
  const find = createOwnerFinder(host, logger, { limitMs });
  return find(subject, { category, suspects }, signal);
}

it('63: the owner is the one in CODEOWNERS for the first suspect, with those of the other files', async () => {
  const long = `${'# nothing\n'.repeat(450)}/src/ @shop/payments\ntest/ @shop/quality\n`;
  const files = { 'src/tax.ts': 'a\nb\n', 'test/tax.test.ts': 'x\n' };
  const commit = repository.commit(
    { ...files, 'pkg/test/tax.test.ts': 'x\n', '.github/CODEOWNERS': long, CODEOWNERS: '* @nobody\n' },
    'All',
  );
  const { owner, fileOwners } = await ask(commit);
  expect(owner).toEqual({
    path: 'src/tax.ts',
    names: ['@shop/payments'],
    by: 'codeowners',
    at: '.github/CODEOWNERS:451',
  });
  expect(fileOwners?.map(({ path, names }) => [path, names[0]])).toEqual([
    ['src/tax.ts', '@shop/payments'],
    ['pkg/test/tax.test.ts', '@shop/quality'],
  ]);
  expect((await ask(commit, { category: 'INFRA_ERROR', suspects: [] })).owner).toBeUndefined();
});

it('an infrastructure failure has the owners of the pipeline, never an author', async () => {
  const files = { 'src/tax.ts': 'a\nb\n', 'pkg/test/tax.test.ts': 'x\n' };
  const owners = '/src/ @shop/payments\n/.github/ @shop/platform\n';
  const commit = repository.commit({ ...files, '.github/CODEOWNERS': owners }, 'All');
  const { owner } = await ask(commit, { category: 'INFRA_ERROR' });
  expect(owner).toMatchObject({ path: '.github/workflows/ci.yml', names: ['@shop/platform'] });
});

it('without CODEOWNERS, the owner is the last author of the faulty line, without an e-mail address and excluding bots', async () => {
  const first = repository.commit({ 'src/tax.ts': 'a\nb\n' }, 'Begin', 'grace@example.test');
  const commit = repository.commit({ 'src/tax.ts': 'changed\nb\n' }, 'Bump', 'renovate[bot]');
  expect((await ask(commit)).owner).toEqual({
    path: 'src/tax.ts',
    names: ['grace'],
    by: 'last-change',
    at: first,
  });
  const known = { ...suspect, author: 'Ada', commit };
  expect((await ask(commit, { suspects: [known] })).owner).toMatchObject({ names: ['Ada'], at: commit });
  expect((await ask(commit, { suspects: [{ ...suspect, line: 1 }] })).owner?.names).toEqual(['grace']);
});

// Each takes all the time that matching may take.
it.each(THOROUGH ? HOSTILE_OWNERS : HOSTILE_OWNERS.slice(0, 1))(
  'a CODEOWNERS file of 970 KB is given up: $kind',
  async ({ provider, rule }) => {
    const suspects = listLongPaths(5).map((path) => ({ ...suspect, path, author: 'Ada' }));
    const files = Object.fromEntries(suspects.map(({ path }) => [path, 'a\nb\n']));
    const commit = repository.commit({ ...files, CODEOWNERS: createHostileOwners(rule, 970_000) }, 'All');
    const subject = sampleSubject({ build: sampleBuild({ commit, provider }), failingTests: [] });
    const warnings: object[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
    const find = createOwnerFinder(createLocalGitHost({ clones: { 'shop/api': repository.folder } }), logger);
    const found = await find(subject, { category: 'CODE_ERROR', suspects }, signal);
    expect(found.owner?.names).toEqual(['Ada']);
    expect(JSON.stringify(warnings)).not.toBe('[]');
  },
);

it('enough time remains to find the last author of the line, however long the search for files takes', async () => {
  const commit = repository.commit({ 'src/tax.ts': 'a\nb\n', CODEOWNERS: '* @nobody\n' }, 'All');
  const host = createLocalGitHost({ clones: { 'shop/api': repository.folder } });
  const query = { repository: 'shop/api', ref: commit, path: 'src/tax.ts', lineStart: 2, lineEnd: 2 };
  const blamed = await host.blame(query, signal);
  const slow: CodeHost = {
    ...host,
    // What git answers is known before the time runs, so that only the waits count.
    blame: async () => blamed,
    history: async () => [],
    findFiles: async () => await sleep(2_000, []),
    readFile: async (_query, limit) => await sleep(60_000, null, { signal: limit }),
  };
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) };
  const { owner } = await ask(commit, { host: slow, logger, limitMs: 5_000 });
  expect(owner).toMatchObject({ by: 'last-change', names: ['Ada'] });
  expect(warnings).toEqual(['CODEOWNERS was not used: reading or matching it failed or took too long']);
});

it('the first 500 KB of CODEOWNERS are read, with a note', async () => {
  const comments = `# ${'c'.repeat(500)}\n`.repeat(1_200);
  const file = `/src/ @shop/payments\n${comments}/src/ @shop/never\n`;
  const commit = repository.commit({ 'src/tax.ts': 'a\nb\n', CODEOWNERS: file }, 'All');
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
  const { owner } = await ask(commit, { logger });
  expect(owner).toMatchObject({ names: ['@shop/payments'], at: 'CODEOWNERS:1' });
  expect(warnings).toEqual([
    {
      repository: 'shop/api',
      file: 'CODEOWNERS',
      problems: [{ line: 995, why: 'the file is longer than 5000 lines or 500 KB; the rest is not read' }],
    },
  ]);
});
