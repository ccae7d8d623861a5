import { describe, expect, it } from 'vitest';
import { createSentenceFilter } from '../../../src/console/answer/distinct-sentences.ts';
import { writeTexts } from '../../../src/console/answer/texts.ts';
import { sampleAnalysis } from '../../support/sample-analysis.ts';

describe('the sentences of a page', () => {
  it('exclude one of whose words four fifths are already shown', () => {
    const say = createSentenceFilter();
    expect(say('The coupon total is 43.42 instead of 43.43')).toBe(
      'The coupon total is 43.42 instead of 43.43',
    );
    expect(say('The total is 43.42 instead of 43.43. It was cut, not rounded.')).toBe(
      'It was cut, not rounded.',
    );
    expect(say('It was cut.')).toBe('');
  });

  it('include at least one if a text must not be empty, without splitting paths and numbers', () => {
    const say = createSentenceFilter();
    say('Round to the nearest cent again in src/money.js.');
    expect(say('Round again. In src/money.js.', true)).toBe('Round again.');
    expect(createSentenceFilter()('Start at test/cart.test.js:26 with 1.5 s. Then run it.')).toBe(
      'Start at test/cart.test.js:26 with 1.5 s. Then run it.',
    );
  });
});

it('an answer states each fact once: in the title, otherwise in the lead, under a line, or as advice', () => {
  const { answer } = sampleAnalysis({
    answer: {
      title: 'registry.test answered 503',
      rootCause: 'registry.test answered 503. The step that runs npm ci failed.',
      fixRecommendation: 'Run it again when the registry answers. The step that runs npm ci failed.',
      confidence: 0.9,
      claims: [
        { text: 'registry.test answered 503', evidence: ['E1'], quotes: [] },
        { text: 'Three retries were made.', evidence: ['E1'], quotes: [] },
      ],
      suspects: [],
      hypotheses: [],
    },
  });
  expect(writeTexts({ answer })).toEqual({
    lead: 'The step that runs npm ci failed.',
    claims: ['', 'Three retries were made.'],
    order: 'Run it again when the registry answers',
    advice: '',
  });
});
