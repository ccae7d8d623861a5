import { describe, expect, it } from 'vitest';
import { parseSearch, SEARCH_NAMES, searchWords } from '../../src/domain/search.ts';

const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const filter = (text: string) => parseSearch(text, NOW).filter;

describe('a search', () => {
  it('63: accepts owners without @, and "me" for the names of the user', () => {
    expect(filter('owner:@Shop/Payments')).toEqual({ owners: ['shop/payments'] });
    expect(parseSearch('owner:me', NOW, ['Ada', '@shop/web']).filter).toEqual({
      owners: ['ada', 'shop/web'],
    });
    expect(() => parseSearch('owner:me', NOW)).toThrow('owner:me needs a signed-in user');
  });

  it('60: is read with its filters, words and quotations, in any order', () => {
    expect(
      filter('repo:shop/api category:infra_error is:flaky since:7d "connection refused" ECONNRESET'),
    ).toEqual({
      repository: 'shop/api',
      category: 'INFRA_ERROR',
      flags: ['flaky'],
      since: '2026-11-16T12:00:00.000Z',
      words: ['connection refused', 'ECONNRESET'],
    });
    expect(
      filter(
        'test:"applies discount" file:src/cart.ts build:812 branch:main author:ada until:2026-11-01 is:waiting is:decided',
      ),
    ).toEqual({
      testPart: 'applies discount',
      file: 'src/cart.ts',
      build: '812',
      branch: 'main',
      author: 'ada',
      until: '2026-11-01T00:00:00.000Z',
      flags: ['waiting', 'decided'],
    });
    expect(filter('   ')).toEqual({});
  });

  it('accepts today and yesterday, as days in UTC', () => {
    expect(filter('since:yesterday until:today')).toEqual({
      since: '2026-11-22T00:00:00.000Z',
      until: '2026-11-23T00:00:00.000Z',
    });
  });

  it('treats a word that can only be a commit or a fingerprint as such, and a quoted one as text', () => {
    expect(filter('a41f9c2e8d')).toEqual({ id: 'a41f9c2e8d' });
    expect(filter('"a41f9c2e8d"')).toEqual({ words: ['a41f9c2e8d'] });
    expect(filter('deadbeef 1234567')).toEqual({ words: ['deadbeef', '1234567'] });
    expect(filter('commit:A41F9C2')).toEqual({ commit: 'a41f9c2' });
  });

  it('treats addresses and names with colons as words', () => {
    expect(filter('https://registry.example std::bad_alloc TypeError: src/a.ts:12')).toEqual({
      words: ['https://registry.example', 'std::bad_alloc', 'TypeError:', 'src/a.ts:12'],
    });
  });

  it('keeps each part as it was typed', () => {
    expect(parseSearch('repo:shop/api  “no space left”', NOW).terms).toEqual([
      { name: 'repo', value: 'shop/api', typed: 'repo:shop/api' },
      { name: null, value: 'no space left', typed: '“no space left”' },
    ]);
  });

  it('understands its own examples', () => {
    for (const example of Object.values(SEARCH_NAMES))
      expect(parseSearch(example, NOW).terms).toHaveLength(1);
  });

  it.each([
    ['node:internal', 'There is no filter node:. Available filters: repo: category: branch:'],
    ['node:internal', 'To search for it as text, quote it: "node:internal".'],
    ['repo:', 'repo: needs a value, such as repo:shop/api.'],
    ['test:"open', 'The quotation mark after test: is not closed.'],
    ['ab "connection', 'The quotation mark at character 4 is not closed.'],
    ['no', '“no” is too short to search for: use at least 3 characters.'],
    ['category:BROKEN', 'category:BROKEN is not a category. Use one of CODE_ERROR'],
    ['is:red', 'is:red is not a filter. Use one of is:flaky'],
    ['confidence:80', 'confidence:80 is not a confidence. Use a number from 0 to 1'],
    ['confidence:=0.8', 'confidence:=0.8 is not a confidence.'],
    [
      'since:soon',
      'since:soon is not a time. Use hours, days or weeks ago (since:12h, since:7d, since:2w), a date',
    ],
    ['since:1d until:2d', 'since: is not before until:, so nothing can match.'],
    ['commit:xyz', 'commit:xyz is not a commit: use seven or more characters'],
    ['repo:a/b repo:c/d', 'repo: is given twice'],
    [`x${'y'.repeat(500)}`, 'A search has at most 500 characters; this one has 501.'],
    [
      Array.from({ length: 21 }, (_, at) => `word${at}`).join(' '),
      'A search has at most 20 parts; this one has 21.',
    ],
  ])('with %s is refused with a suggestion', (text, sentence) => {
    expect(() => parseSearch(text, NOW)).toThrow(sentence);
    expect(() => parseSearch(text, NOW)).toThrow(expect.objectContaining({ code: 'invalid-input' }));
  });

  it('for a pasted line uses its longer words', () => {
    expect(searchWords('at a.b: it is refused')).toEqual(['a.b:', 'refused']);
  });
});
