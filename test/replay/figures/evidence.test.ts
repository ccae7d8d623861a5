import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Action, Correction } from '../../../src/domain/analysis.ts';
import type { Category } from '../../../src/domain/category.ts';
import {
  computePercentile,
  getToolClass,
  scoreCosts,
  scoreLoop,
  scoreTools,
  scoreToolsByCategory,
} from '../../../src/replay/figures/effort.ts';
import { countPairs, pairIntervals } from '../../../src/replay/figures/groups.ts';
import { computeCoveredShare, scoreQuotes } from '../../../src/replay/figures/reading.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import { describeTools } from '../../../src/tools/all-tools.ts';
import { createJudged, createReplayed, findFigure } from './cases.ts';

describe('line figures', () => {
  it('are computed by set operations: overlapping excerpts count once, reversed ranges are empty', () => {
    expect(
      computeCoveredShare(
        [[1, 10]],
        [
          [1, 4],
          [3, 5],
          [20, 30],
        ],
      ),
    ).toBe(0.5); // prettier-ignore
    expect(computeCoveredShare([[1, 1_000_000_000]], [[1, 500_000_000]])).toBe(0.5);
    expect(computeCoveredShare([[5, 1]], [[1, 9]])).toBe(0);
    expect(
      computeCoveredShare(
        [
          [1, 2],
          [2, 3],
        ],
        [[2, 2]],
      ),
    ).toBe(0.5); // prettier-ignore
  });
});

describe('quotation figures', () => {
  it('count each labeled line once, and allow an answer without quotations', () => {
    const quoting = (id: string, lines: readonly number[], literal = lines.length): ReplayedCase => {
      const quotes = lines.map((line) => ({ source: 'log', line, text: 'x' }));
      const excerpts = [{ source: 'log', lineStart: 1, lineEnd: 9, text: 'x', reason: '' }];
      const answer = createReplayed(
        { id, expected_lines: [[3, 4]] },
        { action: 'human_review', claims: [{ text: '', quotes }], excerpts },
      );
      return { ...answer, quotes: { made: lines.length, literal } };
    };
    const figures = scoreQuotes([quoting('a', [3, 3, 7], 2), quoting('b', [3, 4]), quoting('c', [])]);
    expect(findFigure(figures, 'quotations literally in the log')).toMatchObject({
      value: 4 / 5,
      cases: 5,
      against: ['a'],
    });
    expect(findFigure(figures, 'answers without a quotation')).toMatchObject({
      value: 1 / 3,
      against: ['c'],
    });
    expect(findFigure(figures, 'recall of labelled lines, by quotations').value).toBeCloseTo(
      (0.5 + 1 + 0) / 3,
    );
    expect(findFigure(figures, 'quotations on a labelled line')).toMatchObject({
      value: 3 / 4,
      against: ['a'],
    });
    expect(findFigure(figures, 'answers that quote a labelled line').value).toBeCloseTo(2 / 3);
  });
});

describe('pair figures', () => {
  const cases = [...'aaab'].map((group, at) => ({ group, key: at === 2 ? null : 'f' }));

  it('are counted without listing the pairs', () => {
    expect(countPairs(cases)).toEqual({ both: 1, sameKey: 3, sameGroup: 3 });
    const many = Array.from({ length: 100_000 }, () => ({ group: 'g', key: 'k' }));
    expect(countPairs(many).both).toBe((100_000 * 99_999) / 2);
  });

  it('have intervals over groups', () => {
    const groups = Array.from({ length: 30 }, (_, at) =>
      [0, 1, 2].map((member) => ({
        group: `g${at}`,
        key: at % 3 === 0 && member === 0 ? 'stray' : `k${at}`,
      })),
    ); // prettier-ignore
    const { both, sameKey, sameGroup } = countPairs(groups.flat());
    const [precision, recall] = pairIntervals(groups.flat());
    for (const [interval, value] of [
      [precision, both / sameKey],
      [recall, both / sameGroup],
    ] as const) {
      // prettier-ignore
      expect(interval?.[0]).toBeLessThan(value);
      expect(interval?.[1]).toBeGreaterThan(value);
    }
  });
});

describe('loop figures', () => {
  const call = (tool: string, status: string) => ({ tool, status });
  const runs = [
    createJudged(
      'CODE_ERROR',
      'CODE_ERROR',
      { id: 'a' },
      {
        iterations: 2,
        terminationReason: 'confident',
        tools: [call('read_file', 'ok'), call('grep_log', 'empty')],
      },
    ),
    createJudged(
      'CODE_ERROR',
      'CODE_ERROR',
      { id: 'b' },
      { iterations: 1, terminationReason: 'no_progress', tools: [call('read_blame', 'timed-out')] },
    ),
    createJudged('CODE_ERROR', 'INFRA_ERROR', { id: 'c' }, { iterations: 0, terminationReason: 'confident' }),
    createReplayed({ id: 'failed' }),
  ];

  it('include rounds, endings, and who was asked', () => {
    const figures = scoreLoop(runs);
    expect(findFigure(figures, 'rounds a run (mean)')).toMatchObject({ value: 1, cases: 3 });
    expect(findFigure(figures, 'runs of 2 rounds').value).toBe(1);
    expect(findFigure(figures, 'ended by confident').value).toBeCloseTo(2 / 3);
    expect(findFigure(figures, 'CODE_ERROR runs that asked the code host')).toMatchObject({
      value: 1,
      cases: 2,
    });
    expect(findFigure(figures, 'CODE_ERROR runs that the code host answered')).toMatchObject({
      value: 0.5,
      against: ['b'],
    });
    expect(findFigure(figures, 'tool calls that failed')).toMatchObject({ value: 1 / 3, against: ['b'] });
    expect(findFigure(scoreToolsByCategory(runs), 'runs that asked: log, CODE_ERROR').value).toBe(0.5);
    expect(findFigure(scoreTools(runs), 'calls of read_blame: failed').value).toBe(1);
  });

  it('include how often the code was read, among rows with a repository', () => {
    const read = (id: string, tool: string) =>
      createJudged(
        'CODE_ERROR',
        'CODE_ERROR',
        { id, repo_path: 'a.git' },
        { iterations: 1, tools: [call(tool, 'ok')] },
      );
    const figures = scoreLoop([...runs, read('d', 'search_knowledge'), read('e', 'find_files')]);
    expect(findFigure(figures, 'runs with a repository that read code')).toMatchObject({
      value: 0.5,
      cases: 2,
    });
    expect(findFigure(figures, 'CODE_ERROR runs with a repository that read code')).toMatchObject({
      value: 0.5,
      cases: 2,
    });
  });

  it('include how often an answer was sent back, and whether that helped', () => {
    const mark = (action: Action, confidence: number, category: Category) => ({
      action,
      confidence,
      category,
    });
    const sentBack = (id: string, truth: Category, corrections: readonly Correction[]) =>
      createJudged(truth, truth, { id }, { iterations: 2, corrections });
    const figures = scoreLoop([
      ...runs,
      sentBack('d', 'CODE_ERROR', [
        { before: mark('self_correct', 0.55, 'TEST_FAILURE'), after: mark('auto_notify', 0.9, 'CODE_ERROR') },
      ]),
      sentBack('e', 'CODE_ERROR', [
        { before: mark('web_search', 0.3, 'CODE_ERROR'), after: mark('human_review', 0.2, 'CONFIG_ERROR') },
        { before: mark('self_correct', 0.55, 'CODE_ERROR'), after: null },
      ]),
    ]);
    expect(findFigure(figures, 'runs that were sent back')).toMatchObject({ value: 2 / 5, cases: 5 });
    expect(findFigure(figures, 'corrections that made the answer surer')).toMatchObject({
      value: 1 / 3,
      cases: 3,
    });
    expect(findFigure(figures, 'corrections that found nothing new').value).toBeCloseTo(1 / 3);
    expect(findFigure(figures, 'corrections that righted the category').value).toBeCloseTo(1 / 3);
    expect(findFigure(figures, 'corrections that spoiled the category').value).toBeCloseTo(1 / 3);
  });

  it('know every existing tool and no other', () => {
    const folder = new URL('../../../src/tools/', import.meta.url);
    const onlyForQuestions = [
      'describe-stack',
      'find-definition',
      'find-uses',
      'list-files',
      'outline-file',
      'summarize-text',
    ];
    const names = readdirSync(folder)
      .filter((file) => file.endsWith('.ts') && !onlyForQuestions.includes(file.slice(0, -3)))
      .flatMap((file) =>
        [...readFileSync(new URL(file, folder), 'utf8').matchAll(/^ +name: '([a-z_]+)',$/gm)].map(
          ([, name]) => name,
        ),
      );
    expect(new Set(describeTools().map(({ name }) => name))).toEqual(new Set(names));
    expect(['read_file', 'search_web', 'constructor'].map(getToolClass)).toEqual([
      'code host',
      'web',
      'other',
    ]);
  });

  it('include costs: mean, median, 95th percentile by nearest rank, and sum', () => {
    const usage = (inputTokens: number) => ({
      usage: { inputTokens, outputTokens: 0, costUsd: inputTokens / 1000 },
    });
    const figures = scoreCosts(
      [10, 20, 30, 40].map((tokens) =>
        createJudged('CODE_ERROR', 'CODE_ERROR', {}, { ...usage(tokens), milliseconds: tokens }),
      ),
    );
    expect(findFigure(figures, 'tokens a case (p50)').value).toBe(20);
    expect(findFigure(figures, 'tokens a case (p95)').value).toBe(40);
    expect(findFigure(figures, 'dollars')).toMatchObject({ value: 0.1, unit: 'dollars' });
    expect(findFigure(figures, 'milliseconds a case (mean)').value).toBe(25);
    expect(computePercentile([], 0.5)).toBe(0);
  });
});
