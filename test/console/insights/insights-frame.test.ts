import { expect, it } from 'vitest';
import { InsightsQuery } from '../../../src/console/insights/insights-frame.ts';

it.each(['0000-01-01', '0001-01-01', '1999-12-31', '2100-01-01', '9999-12-31', '2026-02-30', 'today'])(
  'an invalid day such as %s is ignored',
  (day) => {
    expect(InsightsQuery.parse({ day }).day).toBeUndefined();
  },
);

it('a valid day is kept', () => {
  expect(InsightsQuery.parse({ day: '2026-11-22' }).day).toBe('2026-11-22');
});
