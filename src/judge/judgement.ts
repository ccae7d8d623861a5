import { z } from 'zod';
import type { Witness } from '../domain/analysis.ts';
import { CATEGORIES, type Category, type CategoryProbabilities } from '../domain/category.ts';
import type { Route } from '../domain/publish-bound.ts';
import type { UnseenFigures } from '../domain/trust.ts';
import { findMax } from '../lib/collections.ts';
import type { Facts } from './facts.ts';
import stored from './judgement.json' with { type: 'json' };
import { type Match, TELLS } from './rule.ts';

/** The result of weighing all evidence about a failure. */
export interface Judged {
  readonly category: Category;
  readonly probabilities: CategoryProbabilities;
  /** The probability that the category is right and the answer shows the cause, 0..1. */
  readonly sureness: number;
  /** The evidence for the category, structured evidence first. */
  readonly witnesses: readonly Witness[];
  readonly route: Route;
  /** The lead of the learned words for the category over the next category, in logits, within ±3. */
  readonly wordsLead: number;
}

/**
 * The weights of a multinomial regression over facts and hashed words, and of a second regression over the
 * signs of its result.
 */
export interface JudgmentModel {
  /** A weight for each of FACTS, for each category in the order of CATEGORIES. */
  readonly facts: readonly (readonly number[])[];
  readonly wordScale: number;
  /** One signed byte for each bucket, for each category. */
  readonly words: readonly Int8Array[];
  /** A weight for each of SIGNS. */
  readonly sureness: readonly number[];
}

/** A failure as input of the regression: the values of FACTS, and buckets of words with their weights. */
export interface Features {
  readonly facts: readonly number[];
  readonly words: readonly (readonly [bucket: number, weight: number])[];
}

export const BUCKETS = 8_192;

const PER_CATEGORY = ['structured', 'line', 'all', 'tie'].flatMap((what) =>
  CATEGORIES.map((category) => `${what} ${category}`),
);
export const FACTS = [
  ...PER_CATEGORY,
  'always',
  'no rule',
  'failing test',
  'failing test says why',
  'assertion',
  'error with a tool',
  'compiler error',
  'error in a file',
  'linter',
  'exception of ours',
  'any exception',
  'command not found',
  'ended by a signal',
  'exit code 2',
  'a step without an exit code',
  'nothing structured',
  'no rule for INFRA_ERROR',
  'compiler error, and something could not be had',
] as const;

export const SIGNS = [
  'always',
  'odds to the second',
  'facts',
  'words',
  'structured witness',
  'no rule for it',
  'rules for it beside rules for another',
  'second line tells as much',
  'nothing tells',
  'test failure without a test',
  'test failure with a test',
  'code error in a file',
  'nothing ended',
  'several steps failed',
  'rule met beside the telling lines',
  'compiler error, and something could not be had',
] as const;

const ModelFile = z.object({
  provenance: z.record(z.string(), z.unknown()),
  factNames: z.array(z.string()),
  signNames: z.array(z.string()),
  facts: z.array(z.array(z.number())).length(CATEGORIES.length),
  wordScale: z.number(),
  words: z.array(z.string()).length(CATEGORIES.length),
  sureness: z.array(z.number()),
});

let loaded: JudgmentModel | undefined;

/** Reads the model in this folder, once. Throws if it was trained for other facts. */
function readJudgmentModel(): JudgmentModel {
  if (loaded !== undefined) return loaded;
  const file = ModelFile.parse(stored);
  if (file.factNames.join() !== FACTS.join() || file.signNames.join() !== SIGNS.join())
    throw new Error('The judgement was trained for other facts; run node scripts/train/train-judgement.ts.');
  const words = file.words.map((text) => new Int8Array(Buffer.from(text, 'base64')));
  loaded = { facts: file.facts, wordScale: file.wordScale, words, sureness: file.sureness };
  return loaded;
}

/**
 * The measurements on data that were not used in training, with their names: folds by project, and tools that
 * no rule was written for.
 */
const UNSEEN: Readonly<Record<string, string>> = {
  'actions/actions': 'GitHub Actions jobs of 2025–26, by models that had not seen the project',
  'tools, held out': 'Tools without a rule, held out',
};

/** Returns how this release performs on the sets in `UNSEEN`, as measured during its training. */
export function listUnseenFigures(): UnseenFigures[] {
  const measured = z.array(z.string()).parse(stored.provenance.crossValidatedByProject);
  const found = measured.flatMap((line) => {
    const [, set = '', cases, accuracy, macroF1, ece, published = ''] =
      /^(.+): (\d+), category ([\d.]+), macro-F1 ([\d.]+), ECE ([\d.]+)(?:, useful [\d.]+)?; published from (.+)$/.exec(
        line,
      ) ?? [];
    const name = UNSEEN[set];
    if (name === undefined) return [];
    const thresholds = [...published.matchAll(/([\d.]+): [\d.]+, (\d+) of (\d+) wrong/g)].map(
      ([, threshold, wrong, of]) => ({
        threshold: Number(threshold),
        coverage: Number(of) / Number(cases),
        wrong: Number(wrong),
        published: Number(of),
      }),
    );
    const figures = {
      cases: Number(cases),
      accuracy: Number(accuracy),
      macroF1: Number(macroF1),
      calibrationError: Number(ece),
    };
    return [{ name, ...figures, thresholds }];
  });
  const order = Object.values(UNSEEN);
  return found.toSorted((left, right) => order.indexOf(left.name) - order.indexOf(right.name));
}

/** Replaces the model, for measurements on a project that the other model was not trained on. */
export function useJudgmentModel(model: JudgmentModel): void {
  loaded = model;
}

/** Combines the evidence for each category into probabilities and a sureness. Pure. */
export function judge(facts: Facts, matches: readonly Match[], model = readJudgmentModel()): Judged {
  const features = extractFeatures(facts, matches);
  const odds = weigh(features, model);
  const { category, probabilities } = chooseCategory(odds, matches);
  const sum = computeSigns(facts, matches, odds).reduce(
    (total, sign, i) => total + sign * (model.sureness[i] ?? 0),
    0,
  );
  const sureness = 1 / (1 + Math.exp(-sum));
  const witnesses = listWitnesses(category, matches, odds);
  const wordsLead = computeMargin(odds.words, category);
  const route = chooseRoute(category, witnesses, matches, wordsLead);
  return { category, probabilities, sureness, witnesses, route, wordsLead };
}

/** Rules for javac, whose errors look the same whether the project's code or a library changed. */
const JAVA_COMPILER = /^java(?:c-|-compilation)/;
const OWN_CATEGORY: ReadonlySet<string> = new Set(['test TEST_FAILURE', 'tool error CODE_ERROR']);

/**
 * Chooses the route of an answer: what its category is based on. Outcomes are measured separately for each
 * route.
 */
function chooseRoute(
  category: Category,
  witnesses: readonly Witness[],
  matches: readonly Match[],
  wordsLead: number,
): Route {
  const by = new Set(witnesses.map((witness) => witness.by));
  if (matches.some(({ rule, strength }) => rule.category !== category && strength >= SUGGESTS))
    return 'contradicted';
  const structured = by.has('test') ? 'test' : by.has('diagnostic') ? 'tool error' : null;
  if (structured === null) return chooseRouteWithoutStructure(category, by, matches, wordsLead);
  if (witnesses.some(({ name }) => JAVA_COMPILER.test(name))) return 'Java compiler';
  if (by.has('words')) return `${structured} and words`;
  return OWN_CATEGORY.has(`${structured} ${category}`) ? structured : 'inferred';
}

function chooseRouteWithoutStructure(
  category: Category,
  by: ReadonlySet<Witness['by']>,
  matches: readonly Match[],
  wordsLead: number,
): Route {
  const isTold = filterByCategory(matches, category).some(({ strength }) => strength >= TELLS);
  if (by.has('exception')) return isTold ? 'telling exception' : 'exception';
  if (!by.has('rule')) return 'words';
  if (!by.has('words')) return 'rule';
  if (!isTold) return 'rule and words';
  return wordsLead >= CLEAR ? 'telling rule and clear words' : 'telling rule and words';
}

/** The lead of the learned words, in logits, from which they are more than a hint. */
const CLEAR = 1;

type LogOdds = ReturnType<typeof weigh>;

/** Computes the two sums of the regression: log-odds for each category from the facts and from the words. */
export function weigh(
  { facts, words }: Features,
  model: Pick<JudgmentModel, 'facts' | 'wordScale' | 'words'>,
) {
  return {
    facts: model.facts.map((weights) => facts.reduce((sum, value, i) => sum + value * (weights[i] ?? 0), 0)),
    words: model.words.map(
      (weights) =>
        words.reduce((sum, [bucket, weight]) => sum + weight * (weights[bucket] ?? 0), 0) * model.wordScale,
    ),
  };
}

/**
 * Applies softmax to both sums. Words decide only if no rule supports another category strongly: if no rule
 * supports the category that the words favor, a tie, or a decisive rule that matches a structured fact or the
 * most informative line, keeps its own category.
 */
export function chooseCategory(
  odds: LogOdds,
  matches: readonly Match[],
): { readonly category: Category; readonly probabilities: CategoryProbabilities } {
  const sums = CATEGORIES.map((_, i) => (odds.facts[i] ?? 0) + (odds.words[i] ?? 0));
  const most = findMax(sums);
  const shares = sums.map((sum) => Math.exp(sum - most));
  const total = shares.reduce((sum, share) => sum + share, 0);
  const [code = 0, infra = 0, config = 0, dependency = 0, test = 0] = shares.map(
    (share) => Math.round((share / total) * 1e4) / 1e4,
  );
  const probabilities = {
    CODE_ERROR: code,
    INFRA_ERROR: infra,
    CONFIG_ERROR: config,
    DEPENDENCY_ERROR: dependency,
    TEST_FAILURE: test,
  };
  const first = rankCategories(probabilities)[0] ?? 'CODE_ERROR';
  const ruling = filterByCategory(matches, first).length > 0 ? undefined : matches.find(isDecisive);
  return { category: ruling?.rule.category ?? first, probabilities };
}

function isDecisive({ rule, fact, strength }: Match): boolean {
  return rule.tie === true || strength >= TELLS || (rule.strength >= TELLS && STRUCTURED.has(fact.origin));
}

const STRUCTURED: ReadonlySet<string> = new Set(['test', 'diagnostic', 'exception']);

/** Categories, most probable first. */
export function rankCategories(probabilities: CategoryProbabilities): readonly Category[] {
  return [...CATEGORIES].sort((left, right) => probabilities[right] - probabilities[left]);
}

/** Extracts the facts and words of a failure. */
export function extractFeatures(given: Facts, matches: readonly Match[]): Features {
  const { subject, assertion, compileErrors, productException } = given;
  const { failingTests, exceptions, exits, diagnostics, failedSections } = subject;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const codes = exits.map(({ code }) => code ?? 0);
  const best = (isOne: (match: Match) => boolean) => {
    const strengths = (category: Category) =>
      filterByCategory(matches.filter(isOne), category).map(({ strength }) => strength);
    return CATEGORIES.map((category) => findMax(strengths(category), 0) / FULL);
  };
  const facts = [
    ...best(({ fact }) => fact.origin !== 'line'),
    ...best(({ fact }) => fact.origin === 'line'),
    ...CATEGORIES.map((category) =>
      Math.min(
        1.5,
        filterByCategory(matches, category).reduce((sum, { strength }) => sum + strength, 0) / (2 * FULL),
      ),
    ),
    ...best(({ rule }) => rule.tie === true).map((strength) => Math.min(1, (strength * FULL) / PLAIN)),
    ...[
      true,
      matches.length === 0,
      failingTests.length > 0,
      failingTests.some(({ message }) => message !== null),
      assertion !== null,
      errors.length > 0,
      compileErrors.length > 0,
      errors.some(({ file }) => file !== null),
      errors.some(({ tool }) => tool === 'linter'),
      productException !== null,
      exceptions.length > 0,
      codes.some((code) => code === 126 || code === 127),
      codes.some((code) => code >= 128 && code !== 255),
      codes.includes(2),
      codes.length === 0 && failedSections.length > 0,
      errors.length + failingTests.length + exceptions.length === 0,
      filterByCategory(matches, 'INFRA_ERROR').length === 0,
      hasUnresolved(given),
    ].map(Number),
  ];
  return { facts, words: weighWords({ subject }, errors, matches) };
}

/** The logits of a rule that decides alone, and of a tie that is stated plainly. */
const [FULL, PLAIN] = [5, 3];

function filterByCategory(matches: readonly Match[], category: Category): Match[] {
  return matches.filter(({ rule }) => rule.category === category);
}

/**
 * Returns buckets for words and word pairs of the most informative lines, step names, tools, exceptions, and
 * kinds. The weights are normalized to the same length.
 */
function weighWords(
  { subject }: Pick<Facts, 'subject'>,
  errors: Facts['subject']['diagnostics'],
  matches: readonly Match[],
): [number, number][] {
  const weights = new Map<number, number>();
  const add = (key: string, weight: number) => {
    const bucket = hash(key);
    weights.set(bucket, Math.max(weights.get(bucket) ?? 0, weight));
  };
  const addText = (text: string, weight: number, prefix: string) => {
    let previous = '^';
    const head = text.slice(0, 300).toLowerCase();
    for (const raw of head.match(/[a-z_]{2,30}|\d+/g)?.slice(0, 40) ?? []) {
      const word = /^\d/.test(raw) ? '0' : raw;
      add(`${prefix}${word}`, weight);
      add(`${prefix}${previous} ${word}`, weight);
      previous = word;
    }
  };
  for (const [rank, { text, weight }] of subject.messages.slice(0, 8).entries())
    addText(text, rank === 0 ? 1 : Math.max(0.15, (0.7 * weight) / 100), '');
  for (const { name } of subject.failedSections.slice(0, 2)) addText(name, 0.7, 'step:');
  for (const { tool } of errors.slice(0, 3)) add(`tool:${tool}`, 1);
  for (const { type } of subject.exceptions.slice(0, 3)) add(`thrown:${type.split('.').pop()}`, 1);
  for (const { rule, strength } of matches.slice(0, 6)) add(`kind:${rule.kind}`, strength / 4);
  const length = Math.sqrt([...weights.values()].reduce((sum, weight) => sum + weight * weight, FEW));
  return Array.from(weights, ([bucket, weight]) => [bucket, (2 * weight) / length]);
}

/**
 * The smoothing: a pseudo-count of uninformative words. If a failure has few words, each of them counts less.
 */
const FEW = 4;

/** Returns the bucket of a text by its FNV-1a hash. */
function hash(text: string): number {
  let value = 2_166_136_261;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16_777_619);
  return (value ^ (value >>> 16)) & (BUCKETS - 1);
}

/** Computes the values of SIGNS, which describe how well the chosen category is supported. */
export function computeSigns(given: Facts, matches: readonly Match[], odds: LogOdds): number[] {
  const { subject } = given;
  const { category, probabilities } = chooseCategory(odds, matches);
  const second = rankCategories(probabilities).find((other) => other !== category) ?? category;
  const ofCategory = filterByCategory(matches, category);
  const rival = matches.find(({ rule }) => rule.category !== category);
  const { failingTests, messages, diagnostics, exits, failedSections } = subject;
  const line = ofCategory[0]?.fact.line ?? null;
  const isNear = messages
    .slice(0, 4)
    .some(({ at }) => at !== null && line !== null && Math.abs(at.line - line) <= 2);
  const isTest = category === 'TEST_FAILURE';
  return [
    1,
    Math.log((probabilities[category] + 0.01) / (probabilities[second] + 0.01)),
    computeMargin(odds.facts, category),
    computeMargin(odds.words, category),
    Number(ofCategory.some(isStructured)),
    Number(ofCategory.length === 0),
    ((ofCategory[0]?.strength ?? 0) - (rival?.strength ?? 0)) / FULL,
    (messages[1]?.weight ?? 0) / 100,
    Number(messages.length === 0),
    Number(isTest && !failingTests.some(({ message, at }) => message !== null || at !== null)),
    Number(isTest && failingTests.length > 0),
    Number(
      category === 'CODE_ERROR' &&
        diagnostics.some(({ severity, file }) => severity === 'error' && file !== null),
    ),
    Number(exits.length + failedSections.length === 0),
    Number(failedSections.length > 1),
    line === null ? 0 : isNear ? 1 : -1,
    Number(hasUnresolved(given)),
  ];
}

/**
 * Checks whether a log shows both a compile error and a dependency that could not be resolved. Then it is
 * unclear whether the project's code or the missing dependency is to blame.
 */
function hasUnresolved({ compileErrors, all }: Facts): boolean {
  return compileErrors.length > 0 && all.some(({ text }) => UNRESOLVED.some((pattern) => pattern.test(text)));
}

/** Returns the lead of a category over the best other one, within ±3. */
function computeMargin(sums: readonly number[], category: Category): number {
  const at = CATEGORIES.indexOf(category);
  const others = sums.filter((_, i) => i !== at);
  return Math.max(-3, Math.min(3, (sums[at] ?? 0) - findMax(others)));
}

function isStructured(match: Match): boolean {
  return toWitnessKind(match) !== 'rule';
}

/**
 * Returns the kind of evidence of a match. A structured fact counts as such only if the rule says more than
 * that something failed.
 */
function toWitnessKind({ fact: { origin }, strength }: Match): 'test' | 'diagnostic' | 'exception' | 'rule' {
  return (origin === 'test' || origin === 'diagnostic' || origin === 'exception') && strength >= SUGGESTS
    ? origin
    : 'rule';
}

/** The minimum logits of a rule that says more than that something failed. */
const SUGGESTS = 2.5;

const MAX_WITNESSES = 6;

function listWitnesses(category: Category, matches: readonly Match[], odds: LogOdds): Witness[] {
  const ofCategory = filterByCategory(matches, category);
  const texts = [
    ...ofCategory.filter(isStructured),
    ...ofCategory.filter((match) => !isStructured(match)),
  ].slice(0, MAX_WITNESSES);
  const rules = texts.map((match): Witness => {
    const { rule, fact } = match;
    const at = fact.source === null || fact.line === null ? null : { source: fact.source, line: fact.line };
    return { by: toWitnessKind(match), name: rule.name, at };
  });
  const words: Witness[] =
    computeMargin(odds.words, category) > 0 ? [{ by: 'words', name: 'learned words', at: null }] : [];
  return [...rules, ...words];
}

/**
 * Messages of package managers about something that could not be fetched, whether or not the build ended.
 * Metadata that is missing in one of several repositories is excluded, because the next repository is tried.
 */
const UNRESOLVED = [
  /\b(?:dependency|dependencies|artifacts?|plugins?) could not be (?:resolved|found|downloaded)/i,
  /could not (?:resolve|find|download) (?:dependency|dependencies|artifacts?|all (?:files|dependencies|artifacts))\b/i,
  /\b(?:unable|failed) to (?:resolve|download|fetch) (?:the )?(?:dependency|dependencies|artifacts?|packages?)\b/i,
  /no matching distribution found for\b/i,
];
