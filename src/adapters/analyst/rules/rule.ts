import type { Category } from '../../../domain/category.ts';
import type { Kind } from '../../../domain/kind.ts';
import type { Fact, Facts, Origin } from './facts.ts';

/** One thing we know about how builds fail: data and, where words are not enough, a small predicate. */
export interface Rule {
  /** Kebab-case; said to people in `because`. */
  readonly name: string;
  readonly category: Category;
  readonly kind: Kind;
  /** Evidence in logits when met in a structured fact: 1 hints, 2 suggests, 3.5 tells, 5 settles. */
  readonly strength: number;
  /** The origins it may be met in. */
  readonly from: readonly Origin[];
  readonly pattern: RegExp;
  /** Further positive evidence it needs; false vetoes the match. */
  readonly when?: (fact: Fact, facts: Facts) => boolean;
}

/** A rule met in a fact. */
export interface Match {
  readonly rule: Rule;
  readonly fact: Fact;
  /** `rule.strength` times the fact's weight. */
  readonly strength: number;
}

/** Every origin. */
export const ANYWHERE: readonly Origin[] = ['test', 'exception', 'diagnostic', 'headline', 'message', 'line'];
/** What an extractor claimed; never a bare line. */
export const STRUCTURED: readonly Origin[] = ['test', 'exception', 'diagnostic', 'headline', 'message'];

/** The facts in which a rule is met, strongest first, one per text. */
export function matchRule(rule: Rule, facts: Facts): Match | null {
  let best: Match | null = null;
  for (const fact of facts.all) {
    if (best !== null && rule.strength * fact.weight <= best.strength) continue;
    if (!rule.from.includes(fact.origin) || !rule.pattern.test(fact.text)) continue;
    if (rule.when !== undefined && !rule.when(fact, facts)) continue;
    best = { rule, fact, strength: rule.strength * fact.weight };
  }
  return best;
}

interface Area {
  readonly category: Category;
  readonly from?: readonly Origin[];
}

type Row = readonly [
  name: string,
  kind: Kind,
  strength: number,
  pattern: RegExp,
  more?: { readonly when?: Rule['when']; readonly from?: readonly Origin[]; readonly category?: Category },
];

/** Writes a table of rules that share a category. */
export function ruleTable(area: Area, rows: readonly Row[]): Rule[] {
  return rows.map(([name, kind, strength, pattern, more]) => {
    const rule = {
      name,
      category: more?.category ?? area.category,
      kind,
      strength,
      from: more?.from ?? area.from ?? ANYWHERE,
      pattern,
    };
    return more?.when === undefined ? rule : { ...rule, when: more.when };
  });
}
