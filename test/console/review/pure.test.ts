import { describe, expect, it } from 'vitest';
import {
  DecisionForm,
  explainConflict,
  toDecisionInput,
  toTyped,
} from '../../../src/console/review/decision-routes.ts';
import {
  CarriedQueue,
  formatQuery,
  QueueQuery,
  toNextQuery,
  toReviewFilter,
} from '../../../src/console/review/queue-query.ts';
import { sampleReview } from '../../support/sample-analysis.ts';

describe('the query of the queue', () => {
  it('is the same after a round trip through an address, without default values', () => {
    const query = QueueQuery.parse({
      repo: 'shop/web',
      category: 'CODE_ERROR',
      why: '',
      sort: 'age',
      state: 'all',
      n: '7',
      of: '42',
    });
    expect(formatQuery(query)).toBe('?category=CODE_ERROR&repo=shop%2Fweb&sort=age&n=7&of=42');
    expect(CarriedQueue.parse(formatQuery(query))).toEqual(query);
    expect(toReviewFilter(query)).toEqual({ category: 'CODE_ERROR', repository: 'shop/web' });
    expect(formatQuery(toNextQuery(query))).toContain('n=8&of=42');
    expect(formatQuery(QueueQuery.parse({}))).toBe('');
  });

  it('omits meaningless values', () => {
    const odd = QueueQuery.parse({
      category: 'NONE',
      sort: 'x',
      state: 'y',
      n: '-1',
      of: 'many',
      offset: '-5',
      repo: ' ',
    });
    expect(formatQuery(odd)).toBe('');
  });
});

describe('a decision as a form', () => {
  const form = (fields: object) => DecisionForm.parse({ version: '3', ...fields });

  it('names the evidence of a correction, or its absence', () => {
    const said = { type: 'correct', category: 'CODE_ERROR', rootCause: 'r', fixRecommendation: ' ' };
    expect(toDecisionInput(form({ ...said, evidence: 'E1' }))).toEqual({
      ...{ type: 'correct', category: 'CODE_ERROR', rootCause: 'r' },
      shownBy: { evidence: ['E1'], lines: [] },
    });
    expect(toDecisionInput(form({ ...said, lines: '12, 0, 4-9, x', source: 'build.log' })).shownBy).toEqual({
      evidence: [],
      lines: [
        { source: 'build.log', lineStart: 12, lineEnd: 12 },
        { source: 'build.log', lineStart: 4, lineEnd: 9 },
      ],
    });
    expect(toDecisionInput(form({ ...said, evidence: ['E1', 'E2'], none: '1' })).shownBy).toBe('none');
    expect(toDecisionInput(form(said)).shownBy).toBe('none');
  });

  it('sends only the fields that belong to accepting or rejecting', () => {
    const rest = { category: 'CODE_ERROR', rootCause: 'r', reason: 'why', reasonCode: 'not_a_failure' };
    expect(toDecisionInput(form({ type: 'accept', ...rest }))).toEqual({ type: 'accept' });
    expect(toDecisionInput(form({ type: 'reject', ...rest }))).toEqual({
      type: 'reject',
      reason: 'why',
      reasonCode: 'not_a_failure',
    });
  });

  it('returns what was typed', () => {
    const typed = toTyped(
      form({ type: 'correct', rootCause: 'mine', kind: '', lines: '4', alsoFor: 'same-fingerprint' }),
    );
    expect(typed).toEqual({ rootCause: 'mine', evidence: [], lines: '4', none: false, same: true });
  });
});

describe('the message of a conflict', () => {
  it('names who was faster', () => {
    const decidedAt = '2026-10-12T14:00:00.000Z';
    const now = Date.parse(decidedAt) + 12_000;
    const decision = {
      id: 'd',
      reviewId: 'rev_1',
      analysisId: 'a',
      reviewer: 'ada',
      decidedAt,
      type: 'correct',
      category: 'CONFIG_ERROR',
    } as const;
    expect(explainConflict(sampleReview({ state: 'decided', decision }), 'me', now)).toBe(
      'ada decided this 12 s ago: corrected to Configuration. Your text is kept below.',
    );
    const held = sampleReview({ state: 'claimed', claimedBy: 'grace', claimedAt: decidedAt });
    expect(explainConflict(held, 'me', now)).toBe(
      'grace has been reviewing this since 14:00 UTC. Your text is kept below.',
    );
    expect(explainConflict(sampleReview(), 'me', now)).toContain('changed since you opened it');
  });
});
