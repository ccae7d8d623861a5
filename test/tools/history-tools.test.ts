import { describe, expect, it } from 'vitest';
import type { FailureRow } from '../../src/domain/failure.ts';
import type { HistoryStore } from '../../src/ports/stores.ts';
import { createEmptyHistory } from '../../src/stores/memory.ts';
import { sampleBuild, sampleSubject } from '../support/subject.ts';
import { createContext } from './sources.ts';

const failure = sampleSubject().failures[0]!;

function createRow(number: number): FailureRow {
  return {
    failure: { ...failure, id: `fal_${number}` },
    repository: 'shop/api',
    pipeline: 'ci',
    number: String(number),
    branch: 'main',
    commit: 'c0ffee',
    category: 'TEST_FAILURE',
    analysisId: `ana_${number}`,
    seenAt: '2026-01-04T10:00:00.000Z',
  };
}

function createRecording(answers: Partial<HistoryStore>) {
  const asked: unknown[] = [];
  const history: HistoryStore = {
    ...createEmptyHistory(),
    kept: true,
    failureHistory: async (query) => {
      asked.push(query);
      return (await answers.failureHistory?.(query)) ?? [];
    },
    similarFailures: async (query) => {
      asked.push(query);
      return (await answers.similarFailures?.(query)) ?? [];
    },
    ...(answers.consecutiveFailures === undefined
      ? {}
      : { consecutiveFailures: answers.consecutiveFailures }),
  };
  return { history, asked };
}

describe('read_failure_history', () => {
  it('searches for the fingerprint and the failing test in earlier builds of the repository', async () => {
    const { history, asked } = createRecording({
      failureHistory: async () => [createRow(811), createRow(809)],
    });
    const test = {
      name: 'adds up',
      suite: null,
      file: null,
      line: null,
      message: null,
      expected: null,
      actual: null,
      framework: 'x',
      at: null,
    };
    const outcome = await createContext({ history }, sampleSubject({ failingTests: [test] }))(
      'TEST_FAILURE',
      'read_failure_history',
      {
        limit: 20,
      },
    );

    expect(asked).toEqual([
      {
        repository: 'shop/api',
        fingerprint: 'f00d',
        test: 'adds up',
        beforeBuildId: 'bld_sample',
        limit: 20,
      },
    ]);
    expect(outcome.findings).toMatchObject([
      {
        title: 'ci #811, 2026-01-04, TEST_FAILURE: expected 10.20, got 10.21',
        source: 'history/shop/api/ci/811',
        data: { analysisId: 'ana_811' },
      },
      { source: 'history/shop/api/ci/809' },
    ]);
  });
});

describe('find_similar_failures', () => {
  const trigrams = 0.62;
  const other = (number: number, message: string) => ({
    ...createRow(number),
    failure: { ...failure, id: `fal_${number}`, message, test: null, frames: [], excerpt: null },
    score: trigrams,
  });

  it('compares the whole failure with the candidates for its message, and returns the similarity', async () => {
    const { history, asked } = createRecording({
      similarFailures: async () => [
        other(699, 'expected 3 rows, got none'),
        { ...createRow(700), score: trigrams },
      ],
    });
    const outcome = await createContext({ history })('CODE_ERROR', 'find_similar_failures');

    expect(asked).toMatchObject([{ text: 'expected 10.20, got 10.21', excludeBuildId: 'bld_sample' }]);
    expect(outcome.findings).toMatchObject([
      { source: 'history/shop/api/ci/700', data: { category: 'TEST_FAILURE' } },
    ]);
    expect(outcome.findings[0]?.score).toBeCloseTo(1, 9);
  });

  it('finds nothing if the candidates share only words', async () => {
    const { history } = createRecording({
      similarFailures: async () => [other(699, 'got tired of what was expected')],
    });
    expect(await createContext({ history })('CODE_ERROR', 'find_similar_failures')).toMatchObject({
      status: 'empty',
    });
  });
});

describe('count_consecutive_failures', () => {
  it('returns the number, since when, and the last passed build', async () => {
    const firstBuild = sampleBuild({ id: 'bld_1', number: '810', commit: 'aaaaaaaaaaaa' });
    const lastGreen = sampleBuild({ id: 'bld_0', number: '809', commit: 'bbbbbbbbbbbb' });
    const { history } = createRecording({
      consecutiveFailures: async () => ({ count: 3, firstBuild, lastGreen, same: 3, firstSame: firstBuild }),
    });
    const outcome = await createContext({ history })('INFRA_ERROR', 'count_consecutive_failures');

    expect(outcome.findings).toMatchObject([
      {
        text: 'ci on main failed 3 times in a row since #810 (aaaaaaaaaa), 2026-01-05, each time this way (since #810). Last green: #809 (bbbbbbbbbb), 2026-01-05.',
        data: { count: 3, firstBuildId: 'bld_1', lastGreenCommit: 'bbbbbbbbbbbb' },
      },
    ]);
  });

  it.each([
    [1, 'ci on main failed 7 times in a row since #804, 2026-01-05, for other reasons before this build.'],
    [2, 'ci on main failed 7 times in a row since #804, 2026-01-05, the last 2 times this way (since #809).'],
  ] as const)('58: counts this failure, not other failures of the job: %i of 7', async (same, text) => {
    const firstBuild = sampleBuild({ id: 'bld_1', number: '804', commit: null });
    const firstSame = sampleBuild({ id: 'bld_9', number: '809', commit: null });
    const { history } = createRecording({
      consecutiveFailures: async () => ({ count: 7, firstBuild, lastGreen: null, same, firstSame }),
    });
    const { findings } = await createContext({ history })('INFRA_ERROR', 'count_consecutive_failures');

    expect(findings[0]).toMatchObject({
      title: `ci on main: 7 failed in a row, ${same} of them this way`,
      data: { count: 7, same },
    });
    expect(findings[0]?.text).toContain(text);
  });

  it('is empty without history', async () => {
    expect(await createContext({})('INFRA_ERROR', 'count_consecutive_failures')).toMatchObject({
      status: 'empty',
    });
  });
});

describe('search_web', () => {
  it('sends one short line and returns pages with their address', async () => {
    const queries: string[] = [];
    const webSearch = {
      driver: 'test',
      configured: true,
      search: async (query: string) => {
        queries.push(query);
        return [{ title: 'Answer', url: 'https://example.test/1', text: 'Do this.' }];
      },
    };
    const outcome = await createContext({ webSearch })('CODE_ERROR', 'search_web', {
      query: 'q'.repeat(400),
    });

    expect(queries).toEqual(['q'.repeat(200)]);
    expect(outcome.findings).toEqual([
      { title: 'Answer', text: 'Do this.', source: 'web', url: 'https://example.test/1' },
    ]);
  });
});
