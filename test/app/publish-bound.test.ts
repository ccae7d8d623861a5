import { expect, it } from 'vitest';
import { boundByKnown } from '../../src/app/publish-bound.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { parseConfig } from '../../src/config/schema.ts';

const CONFIG = parseConfig(createEmbeddedPreset('data', 'knowledge'));

/** Counts the outcomes of a route, and the wrong ones among them, with these known here. */
function computeStanding(origin: 'outcome' | 'unsure', right: boolean) {
  const known = { route: 'tool error', stated: 0.95, right, origin } as const;
  const before = boundByKnown(CONFIG, [])?.routes.find(({ route }) => route === known.route);
  const after = boundByKnown(CONFIG, [known])?.routes.find(({ route }) => route === known.route);
  return (after?.wrong ?? 0) - (before?.wrong ?? 0);
}

it('a grade by a model or an outcome counts more than one if it is wrong, and little if it is right', () => {
  expect(computeStanding('unsure', false)).toBeCloseTo(1);
  expect(computeStanding('outcome', false)).toBeGreaterThan(3);
  expect(computeStanding('unsure', true)).toBe(0);
  expect(computeStanding('outcome', true)).toBeCloseTo(0.005);
});
