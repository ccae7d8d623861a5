import { expect, it } from 'vitest';
import { chooseCause } from '../../../src/service/ask/choose-cause.ts';
import { sampleAnalysis } from '../../support/sample-analysis.ts';

const cart = sampleAnalysis({ id: 'ana_cart' });
const registry = sampleAnalysis({
  id: 'ana_registry',
  category: 'INFRA_ERROR',
  kind: 'network',
  failureIds: ['a', 'b', 'c'],
  answer: {
    ...cart.answer,
    title: 'The registry answered 503',
    rootCause: 'The package registry did not answer.',
  },
});

it('a question is about the cause whose words it shares', () => {
  expect(chooseCause('why did the registry not answer?', [cart, registry])?.id).toBe('ana_registry');
  expect(chooseCause('why is the cart total rounded?', [cart, registry])?.id).toBe('ana_cart');
});

it('a question without the words of a cause is about the one with the most failures', () => {
  expect(chooseCause('why?', [cart, registry])?.id).toBe('ana_registry');
  expect(chooseCause('why?', [])).toBeNull();
});
