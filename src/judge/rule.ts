import type { Category, Kind } from '../domain/category.ts';
import type { Fact, Facts, Origin } from './facts.ts';
import type { Wording } from './sentence.ts';

/**
 * One thing we know about how builds fail: data, what to say of it, and, where words are not enough, a small
 * predicate.
 */
export interface Rule extends Wording {
  /** Kebab-case; said to people in `because`. */
  readonly name: string;
  readonly category: Category;
  readonly kind: Kind;
  /** Evidence in logits when met in a structured fact: 1 hints, 2 suggests, 3.5 tells, 5 settles. */
  readonly strength: number;
  /** The origins it may be met in. */
  readonly from: readonly Origin[];
  /** Any of them. Bounded: no pattern may take more than linear time on a line. */
  readonly patterns: readonly RegExp[];
  /** Checks further positive evidence that the rule needs. False vetoes the match. */
  readonly when?: (fact: Fact, facts: Facts) => boolean;
  /** Names of rules whose messages this cause explains. They no longer count if this rule matches. */
  readonly outranks?: readonly string[];
  /** A decision of the taxonomy between two categories. */
  readonly tie?: boolean;
}

/** A log and what the answer to it says; only what is given is compared. */
export interface SaysExample {
  readonly log: string;
  readonly title?: string;
  readonly cause?: string;
  /** null: nothing is advised. */
  readonly fix?: string | null;
}

/** A rule as it is in its table, with examples that a test reads as logs of their own. */
export interface RuleRow extends Rule {
  /** Tool output, with invented names, that the rule must match. */
  readonly matches: readonly string[];
  /**
   * The same words in the output of a run that did not fail, next to an error of another kind. The rule must
   * not match them.
   */
  readonly ignores: readonly string[];
  readonly says?: readonly SaysExample[];
}

/** A rule met in a fact. */
export interface Match {
  readonly rule: Rule;
  readonly fact: Fact;
  /** `rule.strength` times the fact's weight. */
  readonly strength: number;
}

/** Every origin. */
const ANYWHERE: readonly Origin[] = ['test', 'exception', 'diagnostic', 'headline', 'message', 'line'];
/** Origins that an extractor assigns; never single lines. */
export const STRUCTURED: readonly Origin[] = ['test', 'exception', 'diagnostic', 'headline', 'message'];

/** Logits of a rule that tells: it may decide alone. */
export const TELLS = 3.5;

/**
 * Finds the best fact that a rule matches, preferring texts that say more. Returns null if the rule matches
 * none.
 */
export function matchRule(rule: Rule, facts: Facts): Match | null {
  const matcher = buildMatcher(rule);
  let best: Match | null = null;
  let bestWorth = 0;
  for (const fact of facts.all) {
    if (fact.weight <= bestWorth || !rule.from.includes(fact.origin) || !matcher.test(fact.text)) continue;
    const worth = fact.weight * (isSentence(fact.text) ? 1 : BARE_EXIT.test(fact.text) ? 0.6 : 0.8);
    if (worth <= bestWorth) continue;
    if (rule.when !== undefined && !rule.when(fact, facts)) continue;
    best = { rule, fact, strength: rule.strength * fact.weight };
    bestWorth = worth;
  }
  return best;
}

const MATCHERS = new WeakMap<Rule, RegExp>();

/**
 * Returns the patterns of a rule as one alternation, which is several times faster than separate patterns.
 * All patterns of a rule share their flags.
 */
function buildMatcher(rule: Rule): RegExp {
  const known = MATCHERS.get(rule);
  if (known !== undefined) return known;
  const matcher = new RegExp(
    rule.patterns.map(({ source }) => source).join('|'),
    rule.patterns[0]?.flags ?? '',
  );
  MATCHERS.set(rule, matcher);
  return matcher;
}

/** A line with only an exit code. It proves a rule, but any other matching line says more. */
const BARE_EXIT = /^(?:(?:##\[error\])?Process completed with )?exit code \d{1,3}\.?$/;

/** Checks whether a text is informative. A code alone ("E401") proves as much as a sentence but says less. */
function isSentence(text: string): boolean {
  return (
    !BARE_EXIT.test(text) &&
    /\S\s+\S+\s+\S/.test(text.replace(/^(?:npm (?:ERR!|error)|##\[error\]|[\w+-]{1,20}:) ?(?:code )?/, ''))
  );
}

/**
 * Writes a table of rules, each under its name, that share a category and, unless a row says otherwise, the
 * origins they are met in.
 */
export function defineRules(
  category: Category,
  rows: Readonly<
    Record<string, Omit<RuleRow, 'name' | 'category' | 'from'> & Partial<Pick<Rule, 'category' | 'from'>>>
  >,
): RuleRow[] {
  return Object.entries(rows).map(([name, row]) => ({ name, category, from: ANYWHERE, ...row }));
}
