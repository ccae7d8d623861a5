import type { Category, Kind } from '../domain/category.ts';
import type { Fact, Facts, Origin } from './facts.ts';
import type { Wording } from './sentence.ts';

/** A rule about how builds fail: patterns, sentences and, if patterns are not enough, a predicate. */
export interface Rule extends Wording {
  /** The name in kebab case. People see it in `because`. */
  readonly name: string;
  readonly category: Category;
  readonly kind: Kind;
  /**
   * The evidence in logits if it matches a structured fact: 1 hints, 2 suggests, 3.5 decides alone, 5
   * settles.
   */
  readonly strength: number;
  /** The origins of facts that it may match. */
  readonly from: readonly Origin[];
  /** The patterns, one of which must match. No pattern may take more than linear time. */
  readonly patterns: readonly RegExp[];
  /** Checks further evidence that the rule needs. If it returns false, the rule does not match. */
  readonly when?: (fact: Fact, facts: Facts) => boolean;
  /**
   * The names of rules that no longer count if this rule matches, because its cause explains their messages.
   */
  readonly outranks?: readonly string[];
  /** True if the rule is a decision of the taxonomy between two categories. */
  readonly tie?: boolean;
}

/** A log and the expected answer. Only the given parts are compared. */
export interface SaysExample {
  readonly log: string;
  readonly title?: string;
  readonly cause?: string;
  /** The expected advice; null if none is expected. */
  readonly fix?: string | null;
}

/** A row of a table of rules, with examples that a test reads as logs. */
export interface RuleRow extends Rule {
  /** Tool output with invented names that the rule must match. */
  readonly matches: readonly string[];
  /**
   * Output with the same words of a run that did not fail, next to an error of another kind. The rule must
   * not match it.
   */
  readonly ignores: readonly string[];
  readonly says?: readonly SaysExample[];
}

/** A rule that matched a fact. */
export interface Match {
  readonly rule: Rule;
  readonly fact: Fact;
  /** The product of `rule.strength` and the fact's weight. */
  readonly strength: number;
}

/** All origins. */
const ANYWHERE: readonly Origin[] = ['test', 'exception', 'diagnostic', 'headline', 'message', 'line'];
/** The origins that an extractor assigns, without single lines. */
export const STRUCTURED: readonly Origin[] = ['test', 'exception', 'diagnostic', 'headline', 'message'];

/** The minimum strength in logits of a rule that may decide alone. */
export const TELLS = 3.5;

/**
 * Finds the best fact that a rule matches, preferring more informative texts. Returns null if the rule does
 * not match.
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
 * Joins the patterns of a rule into one alternation, which is several times faster. All patterns of a rule
 * have the same flags.
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

/** A line with only an exit code. It proves a rule, but any other matching line is more informative. */
const BARE_EXIT = /^(?:(?:##\[error\])?Process completed with )?exit code \d{1,3}\.?$/;

/** Checks whether a text is informative. A code alone ("E401") is as strong as a sentence, but says less. */
function isSentence(text: string): boolean {
  return (
    !BARE_EXIT.test(text) &&
    /\S\s+\S+\s+\S/.test(text.replace(/^(?:npm (?:ERR!|error)|##\[error\]|[\w+-]{1,20}:) ?(?:code )?/, ''))
  );
}

/** Creates the rules of one category from a table by name. Rows without origins get those given here. */
export function defineRules(
  category: Category,
  rows: Readonly<
    Record<string, Omit<RuleRow, 'name' | 'category' | 'from'> & Partial<Pick<Rule, 'category' | 'from'>>>
  >,
): RuleRow[] {
  return Object.entries(rows).map(([name, row]) => ({ name, category, from: ANYWHERE, ...row }));
}
