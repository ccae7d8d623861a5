import { describe, expect, it } from 'vitest';
import {
  boundReason,
  choosePublished,
  isPublishedRoute,
  type Route,
  type RouteOutcome,
} from '../../src/domain/publish-bound.ts';
import { getSourceOutcomes } from '../../src/judge/outcomes.ts';

const outcomes = (route: Route, of: number, wrong = 0, stated = 0.9): RouteOutcome[] =>
  Array.from({ length: of }, (_, at) => ({ route, stated, right: at >= wrong }));
const computePublished = (known: readonly RouteOutcome[], maxWrong = 0.03) =>
  choosePublished(known, { maxWrong, floor: 0.85 })
    .routes.filter(({ published }) => published)
    .map(({ route }) => route);

describe('which answers may be published', () => {
  it('combine structured routes, and exclude them if they cannot prove the bound', () => {
    expect(computePublished([...outcomes('test', 40), ...outcomes('tool error', 36)])).toEqual([
      'test',
      'tool error',
    ]);
    expect(computePublished([...outcomes('test', 40), ...outcomes('tool error', 35)])).toEqual([]);
  });

  it('come with the number of correct outcomes that are missing', () => {
    const bound = choosePublished(outcomes('test', 70, 1), { maxWrong: 0.03, floor: 0.85 });
    expect(bound.routes.find(({ route }) => route === 'test')).toMatchObject({
      outcomes: 70,
      wrong: 1,
      published: false,
      missing: 59,
    });
    expect(boundReason(bound, 'test')).toBe(
      '1 of 70 answers like this were wrong; 59 more must be right before they are published without a person',
    );
    expect(boundReason(choosePublished([], { maxWrong: 0.03, floor: 0.5 }), 'test')).toMatch(
      /^no answer like this was checked yet; \d+ more must be right/,
    );
  });

  it('include a route with 110 outcomes only if it meets the bound by itself, however good the others are', () => {
    const good = outcomes('test', 2000);
    expect(computePublished([...good, ...outcomes('telling rule and words', 109, 1)])).toContain(
      'telling rule and words',
    );
    expect(computePublished([...good, ...outcomes('telling rule and words', 110, 1)])).not.toContain(
      'telling rule and words',
    );
  });

  it('exclude a route that one more wrong answer would bring above the bound, however few outcomes it has', () => {
    const published = (of: number, wrong: number) =>
      computePublished([...outcomes('test', 2000), ...outcomes('telling rule and words', of, wrong)]);
    expect(published(34, 0)).toContain('telling rule and words');
    expect(published(33, 0)).not.toContain('telling rule and words');
    expect(published(66, 1)).not.toContain('telling rule and words');
    expect(published(67, 1)).toContain('telling rule and words');
  });

  it('exclude precedents until there are enough to test, and then test them like any route', () => {
    const known = (precedents: readonly RouteOutcome[]) =>
      computePublished([...outcomes('test', 200), ...precedents, ...outcomes('telling rule and words', 40)]);
    expect(known([])).toEqual(['test', 'telling rule and words']);
    expect(known(outcomes('precedent', 33, 1))).toEqual(['test', 'telling rule and words']);
    expect(known(outcomes('precedent', 34))).toEqual(['test', 'precedent', 'telling rule and words']);
    expect(known(outcomes('precedent', 60, 1))).toEqual(['test']);
    const doubted = (of: number) => outcomes('precedent', of).map((one) => ({ ...one, doubt: 0.005 }));
    expect(known(doubted(39))).toEqual(['test', 'telling rule and words']);
    expect(known(doubted(41))).toEqual(['test', 'precedent', 'telling rule and words']);
  });

  it('end at the first route that fails, and exclude answers below the lowest confidence', () => {
    const known = [
      ...outcomes('test', 300),
      ...outcomes('telling rule and words', 60, 30),
      ...outcomes('exception', 99),
    ];
    expect(computePublished(known)).toEqual(['test']);
    expect(computePublished([...outcomes('test', 300), ...outcomes('test', 100, 90, 0.8)])).toContain('test');
  });

  it('are not derived for a model from outcomes of the rules', () => {
    expect(computePublished(outcomes('test', 500))).not.toContain('model');
    expect(computePublished(outcomes('model', 76))).toEqual(['model']);
  });

  it('become more or fewer with the outcomes of the installation', () => {
    const shipped = [...outcomes('test', 250, 2), ...outcomes('telling rule and words', 99, 6)];
    expect(computePublished(shipped)).not.toContain('telling rule and words');
    expect(computePublished([...shipped, ...outcomes('telling rule and words', 300)])).toContain(
      'telling rule and words',
    );
    expect(computePublished([...shipped, ...outcomes('test', 40, 12)])).toEqual([]);
  });

  it('count weighted outcomes by their effective number', () => {
    const one = { route: 'test', stated: 0.9, right: true, weight: 100 } as const;
    expect(computePublished([...outcomes('test', 70), one])).toEqual([]);
  });
});

describe('the outcomes of this release', () => {
  it('let the default bound publish answers with structured evidence, and at most 3 % of those were wrong', () => {
    const bound = choosePublished(getSourceOutcomes(), { maxWrong: 0.03, floor: 0.85 });
    const published = getSourceOutcomes().filter(
      ({ route, stated }) => stated >= 0.85 && isPublishedRoute(bound, route),
    );
    expect(published.length).toBeGreaterThan(0.2 * getSourceOutcomes().length);
    expect(published.filter(({ right }) => !right).length).toBeLessThanOrEqual(0.03 * published.length);
  });
});
