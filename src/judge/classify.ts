import type { Classification } from '../domain/analysis.ts';
import type { Category } from '../domain/category.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { type Facts, readFacts } from './facts.ts';
import { judge } from './judgement.ts';
import { countOutcomes } from './outcomes.ts';
import { type Match, matchRule, type Rule } from './rule.ts';
import { ALL_RULES } from './rules/all.ts';
import { TIES } from './rules/ties.ts';

/** A classification and its grounds, for later judgments. */
export interface Ruling {
  readonly classification: Classification;
  readonly facts: Facts;
  /** Matches that still count, strongest first. */
  readonly matches: readonly Match[];
  /** The best match of the chosen category. Null if none was met. */
  readonly decisive: Match | null;
}

/** Below this sureness nothing was really said; tie 7. */
const THIN = 0.5;
/**
 * Confidence of an abstained classification never reaches what a person would read as "more likely than not".
 */
const ABSTAINED_MOST = 0.49;
/**
 * Least lead of the learned words, in logits, from which they alone name a category. Of 2,150 messages made
 * of invented words the farthest led by 2.93. Without words that are known, only the shape of the log speaks,
 * and it says the same of every unknown tool. To be measured again with every training.
 */
const KNOWN_WORDS = 3;

/** Classifies a subject from its facts. Pure: the same subject always gets the same ruling. */
export function classifyByRules(subject: TriageSubject): Ruling {
  const known = RULINGS.get(subject);
  if (known !== undefined) return known;
  const ruling = classifyByTheseRules(subject, ALL_RULES);
  RULINGS.set(subject, ruling);
  return ruling;
}

/** The judgements of one round ask for the same subject; subjects are never changed. */
const RULINGS = new WeakMap<TriageSubject, Ruling>();

/** Classifies a subject by other rules, such as all except those of one tool. */
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

/** No evidence states more. */
const MOST = 0.98;

/** Returns a subject's facts and the matches of rules and ties in them, strongest first. */
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
 * Weakens matches of INFRA_ERROR, which needs positive evidence and nothing against it. They count for little
 * if there is also a failed assertion, a compile error, or an exception of the product. The word "flaky" on
 * the same line (tie 6) also counts as evidence against it.
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

/** Drops complaints that another cause explains. */
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

/** The rules that say of an exception that nothing caught it; a rule that reads a setting in it says why. */
const SAYS_UNCAUGHT: ReadonlySet<string> = new Set(['uncaught-product-exception', 'unhandled-exception']);

/**
 * Checks whether a match is a detail of a complaint that it explains: it stands a few lines below, as in
 * "cannot access Pear / bad class file / class file has wrong version". The ranking finds such a line less
 * informative than the complaint. INFRA_ERROR needs that nothing speaks against it.
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

/** Logits of a rule that settles, and lines below a complaint that belong to it. */
const [SETTLES, DETAIL_LINES] = [4.2, 5];
/** The share of its strength that a detail has. */
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

/** Evidence (logits) a cause needs before it explains others away. */
const EXPLAINS_FROM = 3;
