import { describe, expect, it } from 'vitest';
import { computeRougeL, scoreMentions, scoreOverlap } from '../../../src/replay/figures/explanation.ts';
import { listContentWords, mentionFinder } from '../../../src/replay/run/check-case.ts';
import { createReplayed, findFigure } from './cases.ts';

const said = (rootCause: string, fixRecommendation = '') => ({
  rootCause,
  fixRecommendation,
  action: 'human_review',
});

describe('a required mention', () => {
  it.each([
    ['the cache hit MAX_RETRIES', 'maxRetries'],
    ['maxRetries was hit', 'max retries'],
    ['a time-out of the server', 'timeout'],
    ['HTTPServer did not start', 'http server'],
    ['python3.11 is missing', 'Python 3.11'],
    ['needs C++', '++'],
    ['größe fehlt', 'Größe'],
  ])('is contained in "%s": %s', (text, mention) => expect(mentionFinder(text)(mention)).toBe(true));

  it.each([
    ['see the report', 'port'],
    ['version 12', '1.2'],
    ['retries max', 'max retries'],
    ['nothing', '++'],
    ['', 'cache'],
  ])('is not contained in "%s": %s', (text, mention) => expect(mentionFinder(text)(mention)).toBe(false));

  it('counts in cause and advice, like a forbidden one; a failed case contains none', () => {
    const row = { required_mentions: ['zlib', 'header'], forbidden_mentions: ['network'] };
    const figures = scoreMentions([
      createReplayed({ ...row, id: 'all' }, said('zlib is missing', 'install its header')),
      createReplayed({ ...row, id: 'half' }, said('the network is down; zlib')),
      createReplayed({ ...row, id: 'failed' }),
    ]);
    expect(findFigure(figures, 'required mentions said')).toMatchObject({
      value: 0.5,
      against: ['failed', 'half'],
    });
    expect(findFigure(figures, 'answers with every required mention').value).toBeCloseTo(1 / 3);
    expect(findFigure(figures, 'answers with a required mention').value).toBeCloseTo(2 / 3);
    expect(findFigure(figures, 'answers with a forbidden mention')).toMatchObject({
      value: 1 / 3,
      against: ['half'],
    });
  });

  it('counts in any spelling, and an answer is useful if it is right and contains half of them, also in quotations, tests and suspects', () => {
    const row = {
      category: 'CODE_ERROR' as const,
      required_mentions_any: [['zlib', 'libz'], ['header'], ['parse.c'], ['test_inflate'], ['4.2']],
    };
    const shown = {
      ...said('libz is missing'),
      category: 'CODE_ERROR',
      action: 'auto_notify',
      suspects: [{ path: 'src/parse.c', line: 3, score: 1 }],
      failingTests: [{ name: 'test_inflate', suite: null, file: null, line: null }],
    };
    const figures = scoreMentions([
      createReplayed({ ...row, id: 'useful' }, shown),
      createReplayed({ ...row, id: 'other' }, { ...shown, category: 'TEST_FAILURE' }),
      createReplayed(
        { ...row, id: 'empty' },
        { ...said('it failed'), category: 'CODE_ERROR', action: 'auto_notify' },
      ),
    ]);
    expect(findFigure(figures, 'useful answers')).toMatchObject({
      value: 1 / 3,
      against: ['other', 'empty'],
    });
    expect(findFigure(figures, 'published: wrong, or without the cause')).toMatchObject({
      value: 2 / 3,
      against: ['other', 'empty'],
    });
  });
});

describe('overlap', () => {
  it('is the longest common subsequence relative to the words of either text', () => {
    const { precision, recall, f1 } = computeRougeL(['disk', 'was', 'full'], ['disk', 'is', 'full', 'again']);
    expect([precision, recall]).toEqual([2 / 3, 2 / 4]);
    expect(f1).toBeCloseTo(4 / 7);
    expect(computeRougeL([], ['a'])).toEqual({ precision: 0, recall: 0, f1: 0 });
    expect(computeRougeL(['b', 'a'], ['a', 'b']).recall).toBe(0.5);
  });

  it('omits words without content', () => {
    expect(listContentWords('The header of zlib was not found in /usr/include')).toEqual([
      'header',
      'zlib',
      'found',
      'usr',
      'include',
    ]);
  });

  it('has a baseline: the same answers against the labels of other cases', () => {
    const figures = scoreOverlap([
      createReplayed({ id: 'a', root_cause: 'zlib header missing' }, said('missing zlib header')),
      createReplayed({ id: 'b', root_cause: 'disk full' }, said('the disk is full')),
    ]);
    expect(findFigure(figures, 'root cause: word overlap, F1 (ROUGE-L)').value).toBeCloseTo((2 / 3 + 1) / 2);
    expect(findFigure(figures, 'root cause: word overlap, F1 against another case (floor)').value).toBe(0);
    expect(scoreOverlap([createReplayed({ id: 'a', root_cause: 'x' })])).toEqual([]);
  });
});
