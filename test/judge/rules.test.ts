import { describe, expect, test } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { readFacts } from '../../src/judge/facts.ts';
import { KIND_WORDING } from '../../src/judge/kinds.ts';
import { matchRule, type Rule, TELLS } from '../../src/judge/rule.ts';
import { ALL_RULES } from '../../src/judge/rules/all.ts';
import { TIES } from '../../src/judge/rules/ties.ts';
import { createRulesAnalyst } from '../../src/judge/rules-analyst.ts';
import { listSlots } from '../../src/judge/sentence.ts';
import { listGroups, listSharedSlots } from '../../src/judge/values/find.ts';
import { SHARED_PATTERNS } from '../../src/judge/values/patterns.ts';
import { classify, createInsight, createSubject } from './subject.ts';

const NAMES = ALL_RULES.map((rule) => rule.name);

describe('the rules', () => {
  test('have unique names', () => {
    expect(new Set(NAMES).size).toBe(NAMES.length);
  });

  test('share one set of flags within a rule, and keep no state', () => {
    for (const rule of ALL_RULES) {
      expect(new Set(rule.patterns.map((pattern) => pattern.flags)).size, rule.name).toBe(1);
      expect(rule.patterns[0]?.flags, rule.name).not.toMatch(/[gy]/);
    }
  });

  test('take precedence only over rules that exist', () => {
    for (const { outranks = [] } of ALL_RULES) for (const name of outranks) expect(NAMES).toContain(name);
  });

  test('use only placeholders in their sentences that can be filled', () => {
    const wordings = [...ALL_RULES, ...Object.entries(TIES).map(([name, tie]) => ({ name, ...tie }))];
    const kinds = Object.entries(KIND_WORDING).map(([name, wording]) => ({ name, ...wording }));
    const unknown = [...wordings, ...kinds].flatMap(({ name, ...wording }) => {
      const known = new Set([
        ...listSharedSlots(),
        ...[...(wording.reads ?? []), ...('readsOwn' in wording ? (wording.readsOwn ?? []) : [])].flatMap(
          listGroups,
        ),
      ]);
      return listSlots(wording)
        .filter((slot) => !known.has(slot))
        .map((slot) => `${name}: {${slot}}`);
    });
    expect(unknown).toEqual([]);
  });

  test('state what their examples expect', () => {
    const wrong = ALL_RULES.flatMap(({ name, says = [] }) =>
      says.flatMap(({ log, title, cause, fix }) => {
        const answer = composeAnswer(createInsight(`${log}\n`));
        const silent = answer.act === null && answer.fixRecommendation.startsWith('No fix found.');
        const compared = [
          ['title', title, answer.title],
          ['cause', cause, answer.rootCause],
          ['fix', fix, silent ? null : answer.fixRecommendation],
        ];
        return compared
          .filter(([, wanted, got]) => wanted !== undefined && wanted !== got)
          .map((one) => [name, ...one]);
      }),
    );
    expect(wrong).toEqual([]);
  });

  // A pattern that backtracks would never come to an end here; the runner's own limit tells.
  test('finish on hostile lines', () => {
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
      ...createSubject(''),
      excerpts: lines.map((text, index) => ({
        source: 'log.txt',
        lineStart: index + 1,
        lineEnd: index + 1,
        text,
        reason: '',
        weight: 1,
      })),
    };
    const facts = readFacts(subject).all;
    const patterns = [
      ...ALL_RULES,
      ...Object.values(TIES),
      ...Object.values(KIND_WORDING).map(({ reads = [], readsOwn = [] }) => ({
        reads: [...reads, ...readsOwn],
      })),
    ].flatMap((row) => [...('patterns' in row ? row.patterns : []), ...(row.reads ?? [])]);
    for (const { text } of facts) for (const pattern of [...patterns, ...SHARED_PATTERNS]) pattern.test(text);
    expect(facts.length).toBeGreaterThan(0);
  });

  test('have examples of what they match and what they do not match', () => {
    expect(
      ALL_RULES.filter(({ matches, ignores }) => matches.length === 0 || ignores.length === 0).map(
        ({ name }) => name,
      ),
    ).toEqual([]);
  });

  test('match their examples, and lead to their category if they are decisive', () => {
    const read = ALL_RULES.flatMap((rule) =>
      rule.matches.map((log) => ({ rule, log, isMet: isMet(rule, log), found: classify(`${log}\n`) })),
    );
    const missed = read.filter(({ isMet }) => !isMet);
    const misled = read.filter(
      ({ rule, found }) => rule.strength >= TELLS && (found.category !== rule.category || found.abstained),
    );
    expect(missed.map(({ rule, log }) => `${rule.name}: ${log}`)).toEqual([]);
    expect(
      misled.map(({ rule, log, found }) => `${rule.name}: ${log} (${found.category}: ${found.because})`),
    ).toEqual([]);
  });

  test('that are decisive contain in each pattern where it begins or what failed', () => {
    const loose = ALL_RULES.filter(({ strength }) => strength >= TELLS).flatMap(({ name, patterns }) =>
      patterns
        .flatMap(splitAlternatives)
        .flatMap((source) => (tellsOfFailure(source) ? [] : `${name}: ${source}`)),
    );
    expect(loose).toEqual([]);
  });

  test('do not match the same words next to an error of another kind', () => {
    const met = ALL_RULES.flatMap((rule) =>
      rule.ignores
        .filter((line) => isMet(rule, `${ANOTHER_ERROR}\n${line}`))
        .map((line) => `${rule.name}: ${line}`),
    );
    expect(met).toEqual([]);
  });
});

/** What a pattern is met by, one of them at a time: "a|b(?:c|d)" is "a" or "b(?:c|d)". */
function splitAlternatives({ source }: RegExp): string[] {
  const parts = [''];
  let depth = 0;
  for (const token of source.match(/\\.|\[(?:\\.|[^\]\\])*\]|./g) ?? []) {
    if (token === '|' && depth === 0) parts.push('');
    else parts.push(`${parts.pop()}${token}`);
    depth += Number(token === '(') - Number(token === ')');
  }
  return parts;
}

/** Whether it is anchored to the line's beginning, holds a word that only a failure has, or is the name of an error (ECONNRESET, NU1004). */
function tellsOfFailure(source: string): boolean {
  const words = source.replace(/\\[a-zA-Z]/g, ' ');
  const isName = /^\\b\S+\\b$/.test(source) || /\b(?:E|SIG)[A-Z]{3,}\b/.test(words);
  return isName || /^(?:\(\?:)?\^/.test(source) || FAILURE_WORDS.test(words);
}

/** As patterns spell them. */
const FAILURE_WORDS = new RegExp(
  [
    'rror|err[!_]|exception|fail|fatal|panic|crash|abort|kill|fault|violat|overflow|leak|race detected|assert|expect|\\bwant|should be|equal|==',
    'not\\b|not.?(?:found|available)|n.t\\b|\\bno\\b|non-|nothing|never|neither|without|can ?not|only one|can only|nable to|missing|\\blost|gone|dying',
    'un(?:approved|authori|available|checked|declared|defined|expected|healthy|known|met|reachable|recogni|reported|resolved|satisf|supported)',
    'denied|refus|reject|declin|forbid|disabled|offline|blocked|banned|(?:in|mal-?)(?:valid|compatib|complete|consistent|correct|sufficient|formed)',
    'wrong|bad |broken|corrupt|mis(?:match|behav)|differ|conflict|duplicate|multiple def|redefin|redeclare|ambiguous|truncated|impossible|thrashing',
    'exceed|exhausted|out of|time.{0,2}out|timed ?out|expired|too.{0,2}many|too long|longer than|is full|low on|over its|reached your|preempted|early|signal',
    'disconnect|closed|reset|hung up|hang up|interrupt|canc|must|require|need|already|dereference|problem|critical|offense|exit .{0,3}code|429|[45]0',
  ].join('|'),
  'i',
);

/** An error in words that no rule knows. */
const ANOTHER_ERROR = 'error: the scales do not balance';

function isMet(rule: Rule, log: string): boolean {
  return matchRule(rule, readFacts(createSubject(`${log}\n`))) !== null;
}

describe('the rules analyst', () => {
  test('judges without cost, without a server, and repeatably', async () => {
    const log = './ci/pack.sh: line 3: fruitctl: command not found\n';
    const analyst = createRulesAnalyst({ note: 'no model is configured' });
    const first = await analyst.classify({ subject: createSubject(log) }, new AbortController().signal);
    const second = await createRulesAnalyst().classify(
      { subject: createSubject(log) },
      new AbortController().signal,
    );
    expect(first).toMatchObject({
      by: 'rules',
      model: null,
      promptHash: null,
      note: 'no model is configured',
    });
    expect(first.usage).toEqual({ inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0 });
    expect(first.value).toEqual(second.value);
    expect(Object.values(first.value.probabilities).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 2);
  });

  test('stops when it is aborted', async () => {
    await expect(
      createRulesAnalyst().classify({ subject: createSubject('') }, AbortSignal.abort()),
    ).rejects.toThrow();
  });
});
