import { describe, expect, it } from 'vitest';
import { MAX_RULES, type Rule } from '../../../src/domain/library.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createRuleAnalysis, findRule, type RuleAnswerDeps } from '../../../src/service/triage/recall.ts';
import { sampleFailure } from '../../support/sample-analysis.ts';
import { sampleSubject } from '../../support/subject.ts';

function rule(change: Partial<Rule> = {}): Rule {
  return {
    id: 'rul_1',
    version: 2,
    pattern: 'expected [0-9.]+, got 10\\.21',
    sample: 'expected 1.0, got 10.21',
    repository: 'shop/api',
    category: 'CONFIG_ERROR',
    kind: 'environment',
    title: 'TAX_TABLE is not set',
    rootCause: 'TAX_TABLE is not set. The job lost it.',
    fixRecommendation: 'Set it.',
    author: 'ada',
    createdAt: '2026-10-01T08:00:00.000Z',
    timesUsed: 0,
    lastUsedAt: null,
    withdrawn: null,
    ...change,
  };
}

function createDeps(
  rules: readonly Rule[],
  elapsed?: () => number,
): RuleAnswerDeps & { readonly warned: string[] } {
  const warned: string[] = [];
  const logger = { ...silentLogger, warn: (_: unknown, said: string) => void warned.push(said) };
  return {
    stores: { rules: { active: async (_, limit) => rules.slice(0, limit) } },
    logger,
    warned,
    ...(elapsed && { elapsed }),
  };
}

describe('rules of reviewers', () => {
  it('answer with the first that matches, and name the line', async () => {
    const rules = [rule({ id: 'rul_0', pattern: 'something else' }), rule(), rule({ id: 'rul_2' })];
    const match = await findRule([sampleFailure()], 'shop/api', createDeps(rules));
    expect(match).toMatchObject({ rule: { id: 'rul_1' }, line: 'expected 10.20, got 10.21' });
    expect(
      await findRule([sampleFailure({ message: 'x', excerpt: null })], 'shop/api', createDeps(rules)),
    ).toBeNull();
  });

  it('name their author, and do not count as answers of the machine', async () => {
    const match = await findRule([sampleFailure()], 'shop/api', createDeps([rule()]));
    if (match === null) throw new Error('no match');
    const analysis = createRuleAnalysis(sampleSubject(), match, 3, 1_000, 1_004);
    expect(analysis).toMatchObject({
      category: 'CONFIG_ERROR',
      analyst: 'recall',
      terminationReason: 'known_failure',
      model: null,
      recalled: null,
      ruled: { ruleId: 'rul_1', version: 2, author: 'ada', timesUsed: 3 },
      verdict: { action: 'auto_notify', confidence: 0.9, reasons: ['known: rule by ada, 2026-10-01'] },
    });
    expect(analysis.usage.modelCalls).toBe(0);
  });

  it('stop at the time limit, with a note', async () => {
    let now = 0;
    const many = Array.from({ length: MAX_RULES }, (_, n) =>
      rule({ id: `rul_${n}`, pattern: `nothing like it ${n % 7}` }),
    );
    const slow = createDeps(many, () => (now += 100));
    expect(await findRule([sampleFailure()], 'shop/api', slow)).toBeNull();
    expect(slow.warned).toEqual(['rules took too long; the rest was not tried on this failure']);
  });

  it('skip a pattern that this version cannot read', async () => {
    const rules = [rule({ pattern: '(?=x)y' }), rule({ id: 'rul_2' })];
    expect(await findRule([sampleFailure()], 'shop/api', createDeps(rules))).toMatchObject({
      rule: { id: 'rul_2' },
    });
  });
});
