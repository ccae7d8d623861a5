import { describe, expect, test } from 'vitest';
import { readFacts } from '../../src/judge/facts.ts';
import { matchRule, type Rule, TELLS } from '../../src/judge/rule.ts';
import { ALL_RULES } from '../../src/judge/rules/all.ts';
import { EXPLANATIONS } from '../../src/judge/rules/explanations.ts';
import { createRulesAnalyst } from '../../src/judge/rules-analyst.ts';
import { classify, subjectOf } from './subject.ts';

const NAMES = ALL_RULES.map((rule) => rule.name);

describe('the rules', () => {
  test('have names of their own', () => {
    expect(new Set(NAMES).size).toBe(NAMES.length);
  });

  test('share one set of flags within a rule, and none keeps state', () => {
    for (const rule of ALL_RULES) {
      expect(new Set(rule.patterns.map((pattern) => pattern.flags)).size, rule.name).toBe(1);
      expect(rule.patterns[0]?.flags, rule.name).not.toMatch(/[gy]/);
    }
  });

  test('are explained only by rules that exist', () => {
    for (const { cause, explains } of EXPLANATIONS) for (const name of [cause, ...explains]) expect(NAMES).toContain(name);
  });

  // A pattern that backtracks would never come to an end here; the runner's own limit tells.
  test('come to an end on hostile lines', () => {
    const lines = [
      'a'.repeat(20_000),
      ' '.repeat(20_000),
      'error: '.repeat(3000),
      '/x'.repeat(9000),
      'expected '.repeat(2500),
      '(['.repeat(9000),
      '1:'.repeat(9000),
    ];
    const subject = {
      ...subjectOf(''),
      excerpts: lines.map((text, index) => ({ source: 'log.txt', lineStart: index + 1, lineEnd: index + 1, text, reason: '', weight: 1 })),
    };
    const facts = readFacts(subject).all;
    for (const fact of facts) for (const rule of ALL_RULES) for (const pattern of rule.patterns) pattern.test(fact.text);
    expect(facts.length).toBeGreaterThan(0);
  });

  test('say by example what they meet and what they spare', () => {
    expect(ALL_RULES.filter(({ meets, spares }) => meets.length === 0 || spares.length === 0).map(({ name }) => name)).toEqual([]);
  });

  test('meet their examples, and lead to their category where they decide', () => {
    const read = ALL_RULES.flatMap((rule) =>
      rule.meets.map((log) => ({ rule, log, isMet: isMet(rule, log), found: classify(`${log}\n`) })),
    );
    const missed = read.filter(({ isMet }) => !isMet);
    const misled = read.filter(({ rule, found }) => rule.strength >= TELLS && (found.category !== rule.category || found.abstained));
    expect(missed.map(({ rule, log }) => `${rule.name}: ${log}`)).toEqual([]);
    expect(misled.map(({ rule, log, found }) => `${rule.name}: ${log} (${found.category}: ${found.because})`)).toEqual([]);
  });

  test('spare the same words beside an error of another kind', () => {
    const met = ALL_RULES.flatMap((rule) =>
      rule.spares.filter((line) => isMet(rule, `${ANOTHER_ERROR}\n${line}`)).map((line) => `${rule.name}: ${line}`),
    );
    expect(met).toEqual([]);
  });
});

/** An error in words that no rule knows. */
const ANOTHER_ERROR = 'error: the scales do not balance';

function isMet(rule: Rule, log: string): boolean {
  return matchRule(rule, readFacts(subjectOf(`${log}\n`))) !== null;
}

describe('the rules analyst', () => {
  test('judges for nothing, by itself, and the same way twice', async () => {
    const log = './ci/pack.sh: line 3: fruitctl: command not found\n';
    const analyst = createRulesAnalyst({ note: 'no model is configured' });
    const first = await analyst.classify({ subject: subjectOf(log) }, new AbortController().signal);
    const second = await createRulesAnalyst().classify({ subject: subjectOf(log) }, new AbortController().signal);
    expect(first).toMatchObject({ by: 'rules', model: null, promptHash: null, note: 'no model is configured' });
    expect(first.usage).toEqual({ inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0 });
    expect(first.value).toEqual(second.value);
    expect(Object.values(first.value.probabilities).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 2);
  });

  test('stops when it is cancelled', async () => {
    await expect(createRulesAnalyst().classify({ subject: subjectOf('') }, AbortSignal.abort())).rejects.toThrow();
  });
});
