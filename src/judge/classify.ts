import type { Classification } from '../domain/analysis.ts';
import type { Category } from '../domain/category.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { type Facts, readFacts } from './facts.ts';
import { judge } from './judgement.ts';
import { countOutcomes } from './outcomes.ts';
import { type Match, matchRule, type Rule } from './rule.ts';
import { ALL_RULES } from './rules/all.ts';
import { TIES } from './rules/ties.ts';

/** A classification with its grounds, which later judgments use. */
export interface Ruling {
  readonly classification: Classification;
  readonly facts: Facts;
  /** The matches that still count, strongest first. */
  readonly matches: readonly Match[];
  /** The best match of the chosen category; null if there is none. */
  readonly decisive: Match | null;
}

/** The sureness below which the classification abstains (tie 7). */
const THIN = 0.5;
/** The maximum confidence of an abstained classification. It must not read as "more likely than not". */
const ABSTAINED_MOST = 0.49;
/**
 * The minimum lead of the learned words, in logits, to decide a category without a rule. In 2,150 messages of
 * invented words the highest lead was 2.93: without known words, only the shape of the log counts, which is
 * the same for every unknown tool. Must be measured again after each training.
 */
const KNOWN_WORDS = 3;

/** Classifies a subject by its facts. Pure: the same subject always gets the same result. */
export function classifyByRules(subject: TriageSubject): Ruling {
  const known = RULINGS.get(subject);
  if (known !== undefined) return known;
  const ruling = classifyByTheseRules(subject, ALL_RULES);
  RULINGS.set(subject, ruling);
  return ruling;
}

/** The results by subject. All judgments of one round need the same one, and subjects are immutable. */
const RULINGS = new WeakMap<TriageSubject, Ruling>();

/** Classifies a subject by other rules, such as all rules except those about one tool. */
export function classifyByTheseRules(subject: TriageSubject, rules: readonly Rule[]): Ruling {
  const { facts, matches } = findMatches(subject, rules);
  const { category, probabilities, sureness, witnesses, route, wordsLead } = judge(facts, matches);
  const decisive = findBestMatch(matches, category);
  const hasNothingToJudge = matches.length === 0 && subject.messages.length === 0;
  const isUnknown = route === 'words' && wordsLead < KNOWN_WORDS;
  const abstained = hasNothingToJudge || isUnknown || sureness < THIN;
  const stated = Math.round(Math.min(MOST, sureness) * 1e4) / 1e4;
  const record = countOutcomes(route, stated);
  const classification = {
    category,
    kind: decisive?.rule.kind ?? ('unknown' as const),
    confidence: abstained ? Math.min(stated, ABSTAINED_MOST) : stated,
    probabilities,
    abstained,
    because: explainRuling(decisive, abstained, subject),
    witnesses: [...witnesses],
    route,
    ...(record === null ? {} : { record }),
  };
  return { classification, facts, matches, decisive };
}

/** The maximum confidence of any classification. */
const MOST = 0.98;

/** Returns a subject's facts and the matches of rules and ties, strongest first. */
export function findMatches(
  subject: TriageSubject,
  rules: readonly Rule[] = ALL_RULES,
): { readonly facts: Facts; readonly matches: readonly Match[] } {
  const facts = readFacts(subject);
  const met = rules.flatMap((rule) => matchRule(rule, facts) ?? []).sort(compareStrength);
  return {
    facts,
    matches: explainAway(softenInfra(settleTies(met, facts), facts), facts).sort(compareStrength),
  };
}

/** Returns the strongest match of a category. Returns null if there is none. */
export function findBestMatch(matches: readonly Match[], category: Category): Match | null {
  return matches.find((match) => match.rule.category === category) ?? null;
}

function settleTies(matches: readonly Match[], facts: Facts): Match[] {
  let settled = [...matches];
  for (const [name, { apply, ...wording }] of Object.entries(TIES)) {
    const ruling = apply(facts, settled);
    if (ruling === null) continue;
    const { category, kind, strength, fact, drop, like } = ruling;
    const { reads, title, cause, fix } = { ...like, ...wording };
    const reasons = Object.fromEntries(
      Object.entries({ reads, title, cause, fix }).filter(([, words]) => words !== undefined),
    );
    const rule: Rule = {
      ...reasons,
      name,
      category,
      kind,
      strength,
      from: [fact.origin],
      patterns: [],
      tie: true,
    };
    settled = [...settled.filter((match) => !drop(match)), { rule, fact, strength }].sort(compareStrength);
  }
  return settled;
}

/**
 * Weakens matches of INFRA_ERROR, because this category needs positive evidence and no counter-evidence: a
 * failed assertion, a compile error, an exception of the product, or the word "flaky" on the same line (tie
 * 6).
 */
function softenInfra(matches: readonly Match[], facts: Facts): Match[] {
  const against = speaksAgainstInfra(facts);
  return matches.map((match) => {
    if (match.rule.category !== 'INFRA_ERROR') return match;
    const flaky = /\b(?:flaky|flake|intermittent)/i.test(match.fact.text);
    return against || flaky ? { ...match, strength: match.strength * 0.35 } : match;
  });
}

function speaksAgainstInfra({ assertion, compileErrors, productException }: Facts): boolean {
  return assertion !== null || compileErrors.length > 0 || productException !== null;
}

/** Drops matches that another cause explains. */
function explainAway(found: readonly Match[], facts: Facts): Match[] {
  const matches = found.map((match) => (isDetail(match, found, facts) ? raiseDetail(match) : match));
  const causes = matches.filter(({ strength }) => strength >= EXPLAINS_FROM);
  const explained = new Set(causes.flatMap(({ rule }) => rule.outranks ?? []));
  const isTold = ({ rule, fact }: Match) =>
    SAYS_UNCAUGHT.has(rule.name) &&
    causes.some((cause) => cause.rule.category === 'CONFIG_ERROR' && cause.fact.text === fact.text);
  if (matches.some(isTold)) for (const name of SAYS_UNCAUGHT) explained.add(name);
  return matches.filter((match) => !explained.has(match.rule.name));
}

/** Rules that say of an exception only that it was not caught. A rule about a setting in it says why. */
const SAYS_UNCAUGHT: ReadonlySet<string> = new Set(['uncaught-product-exception', 'unhandled-exception']);

/**
 * Checks whether a match is a detail of a message that it explains, a few lines below, as in "cannot access
 * Pear / bad class file / class file has wrong version". The ranking considers such a line less informative
 * than the message. Does not apply to INFRA_ERROR, which must have no counter-evidence.
 */
function isDetail({ rule, fact }: Match, matches: readonly Match[], facts: Facts): boolean {
  const { line, source } = fact;
  if (line === null || rule.strength < SETTLES) return false;
  if (rule.category === 'INFRA_ERROR' && speaksAgainstInfra(facts)) return false;
  return matches.some(
    (other) =>
      rule.outranks?.includes(other.rule.name) === true &&
      other.fact.source === source &&
      other.fact.line !== null &&
      line > other.fact.line &&
      line <= other.fact.line + DETAIL_LINES,
  );
}

function raiseDetail(match: Match): Match {
  return { ...match, strength: Math.max(match.strength, match.rule.strength * DETAIL_SHARE) };
}

/** The logits of a rule that decides alone, and the number of lines below a message that belong to it. */
const [SETTLES, DETAIL_LINES] = [4.2, 5];
/** The share of its strength that a detail keeps. */
const DETAIL_SHARE = 0.85;

function explainRuling(decisive: Match | null, abstained: boolean, { messages }: TriageSubject): string {
  const thin = abstained ? 'little evidence; best match: ' : '';
  if (decisive !== null) return `${thin}rule ${decisive.rule.name}: ${toOneLine(decisive.fact.text)}`;
  const [message] = messages;
  return message === undefined
    ? 'no log line points to a cause'
    : `${thin}the wording of: ${toOneLine(message.text)}`;
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 160);
}

function compareStrength(left: Match, right: Match): number {
  return right.strength - left.strength;
}

/** The minimum evidence in logits of a cause that explains others. */
const EXPLAINS_FROM = 3;
