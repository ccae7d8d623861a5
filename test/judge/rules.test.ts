import { describe, expect, test } from 'vitest';
import { readFacts } from '../../src/judge/facts.ts';
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

  test.each([
    ['npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\n', 'DEPENDENCY_ERROR', 'version_conflict'],
    ['ERROR: No matching distribution found for pomology==9.9\n', 'DEPENDENCY_ERROR', 'dependency_install'],
    ['java.lang.NoSuchMethodError: org.fruit.Basket.weigh()I\n', 'DEPENDENCY_ERROR', 'version_conflict'],
    ['./ci/pack.sh: line 3: fruitctl: command not found\n', 'CONFIG_ERROR', 'environment'],
    ['/bin/sh: 1: bison: not found\n', 'DEPENDENCY_ERROR', 'dependency_install'],
    ['./ci/pack.sh: line 9: ORCHARD_TOKEN: ORCHARD_TOKEN is not set\n', 'CONFIG_ERROR', 'permission_or_secret'],
    ['Error: Resource not accessible by integration\n', 'CONFIG_ERROR', 'permission_or_secret'],
    ['error: invalid source release: 21\n', 'CONFIG_ERROR', 'environment'],
    ['FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n', 'INFRA_ERROR', 'out_of_memory'],
    ['Build timed out (after 90 minutes). Marking the build as aborted.\n', 'INFRA_ERROR', 'timeout'],
    ['WARNING: DATA RACE\nWrite at 0x00c0000b4010 by goroutine 8:\n', 'CODE_ERROR', 'crash'],
    ["main.cpp:(.text+0x1f): undefined reference to `grams(Basket)'\n", 'CODE_ERROR', 'link_error'],
    ['would reformat src/scales.py\n1 file would be reformatted.\n', 'CODE_ERROR', 'formatting_failure'],
  ])('know %j', (log, category, kind) => {
    expect(classify(log)).toMatchObject({ category, kind, abstained: false });
  });
});

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
