import { CATEGORIES, type Category } from './category.ts';
import { CauseState, toOwnerKey } from './cause.ts';
import { TriageError } from './errors.ts';

/** The properties of a failure that `is:` can test, other than the state of its cause. */
export const SEARCH_FLAGS = ['flaky', 'decided', 'undecided', 'waiting', 'unanswered'] as const;
export type SearchFlag = (typeof SEARCH_FLAGS)[number];
/** The values of `is:`. */
export const SEARCH_STATES = [...SEARCH_FLAGS, ...CauseState.options] as const;

/** The criteria of a search for failures; a failure must meet all that are given. Times are ISO 8601. */
export interface FailureFilter {
  /** The repository: `owner/name`, or `owner/*`. */
  readonly repository?: string;
  /** The category that a person decided; otherwise the analyst's. */
  readonly category?: Category;
  readonly branch?: string;
  readonly author?: string;
  /** The build's number. */
  readonly build?: string;
  readonly fingerprint?: string;
  /** The first seven characters or more of a commit. */
  readonly commit?: string;
  /** The first characters of a commit, or a whole fingerprint. */
  readonly id?: string;
  /** A test by its exact name. */
  readonly test?: string;
  /** A part of a test's name, ignoring case. */
  readonly testPart?: string;
  /** A part of the path of the test's file or of a file that the message names, ignoring case. */
  readonly file?: string;
  /**
   * The words of which each must occur in the message or in the test's name, suite or file, or all of which
   * must occur in the title of the cause. Case is ignored.
   */
  readonly words?: readonly string[];
  /**
   * The people of whom one must own the cause or be assigned to it, in lower case and without the `@` of a
   * mention.
   */
  readonly owners?: readonly string[];
  readonly flags?: readonly SearchFlag[];
  /** The states of which the cause must have one. */
  readonly states?: readonly CauseState[];
  /** The limit for the confidence of the answer, from 0 to 1. */
  readonly confidence?: { readonly is: Comparison; readonly than: number };
  readonly since?: string;
  readonly until?: string;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
  /** The id of the build to which the failures belong. */
  readonly buildId?: string;
  /** True to leave out failures of muted causes and of tests in quarantine. */
  readonly alerting?: true;
}

const COMPARISONS = ['>', '>=', '<', '<='] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** One part of a search as it was typed: `repo:shop/api`, or words. */
export interface SearchTerm {
  /** The name of the filter. Null for words. */
  readonly name: SearchName | null;
  readonly value: string;
  readonly typed: string;
}

export interface Search {
  readonly terms: readonly SearchTerm[];
  readonly filter: FailureFilter;
}

/** The filters with an example of each, in the order in which they are explained. */
export const SEARCH_NAMES = {
  repo: 'repo:shop/api',
  category: 'category:INFRA_ERROR',
  branch: 'branch:main',
  test: 'test:checkout',
  file: 'file:src/cart.ts',
  is: 'is:flaky',
  confidence: 'confidence:>0.8',
  since: 'since:7d',
  until: 'until:2026-11-01',
  build: 'build:812',
  commit: 'commit:a41f9c2',
  author: 'author:ada',
  owner: 'owner:@shop/payments',
  fingerprint: 'fingerprint:721cc397dcd2ea9b',
} as const;
export type SearchName = keyof typeof SEARCH_NAMES;

export const MAX_SEARCH = 500;
const MAX_TERMS = 20;
/** The minimum length of words. Shorter ones occur in nearly every text. */
const MIN_WORD = 3;

const TERM = /\s*(?:([a-z]{2,20}):(?![:/\\]))?("[^"]*"|“[^”]*”|[^\s"“]\S*)?/y;

/**
 * Parses a search such as `repo:shop/api category:INFRA_ERROR is:flaky since:7d "connection refused"`. `now`
 * is in milliseconds since 1970. `me` lists the names for which `owner:me` stands. Throws `invalid-input`
 * with a sentence that names the wrong part and a correct form.
 */
export function parseSearch(text: string, now: number, me: readonly string[] = []): Search {
  if (text.length > MAX_SEARCH)
    throw createSearchError(`A search has at most ${MAX_SEARCH} characters; this one has ${text.length}.`);
  const terms = parseTerms(text);
  if (terms.length > MAX_TERMS)
    throw createSearchError(`A search has at most ${MAX_TERMS} parts; this one has ${terms.length}.`);
  let filter: FailureFilter = {};
  const given = new Set<string>();
  for (const term of terms) {
    const { name } = term;
    if (name !== null && name !== 'is' && given.has(name))
      throw createSearchError(`${name}: is given twice; a failure has only one.`);
    if (name !== null) given.add(name);
    filter = { ...filter, ...toFilter(term, filter, now, me) };
  }
  if (filter.since !== undefined && filter.until !== undefined && filter.since >= filter.until)
    throw createSearchError('since: is not before until:, so nothing can match.');
  return { terms, filter };
}

function parseTerms(text: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  TERM.lastIndex = 0;
  while (TERM.lastIndex < text.length && text.slice(TERM.lastIndex).trim() !== '') {
    const start = TERM.lastIndex;
    const found = TERM.exec(text);
    if (found === null || found[0].trim() === '')
      throw createSearchError(`The quotation mark at character ${findFirstMark(text, start)} is not closed.`);
    const [typed, name, raw = ''] = found;
    if (name !== undefined && !isName(name)) throw createUnknownNameError(name, raw);
    const value = /^["“]/.test(raw) ? raw.slice(1, -1).trim() : raw;
    if (name !== undefined && value === '') {
      const open = /^\s*["“]/.test(text.slice(TERM.lastIndex));
      throw createSearchError(
        open
          ? `The quotation mark after ${name}: is not closed.`
          : `${name}: needs a value, such as ${SEARCH_NAMES[name]}.`,
      );
    }
    if (value !== '') terms.push({ name: name ?? null, value, typed: typed.trim() });
  }
  return terms;
}

function findFirstMark(text: string, from: number): number {
  const at = text.slice(from).search(/["“]/);
  return from + Math.max(0, at) + 1;
}

function isName(name: string): name is SearchName {
  return Object.hasOwn(SEARCH_NAMES, name);
}

function createUnknownNameError(name: string, value: string): TriageError {
  const known = Object.keys(SEARCH_NAMES).map((prefix) => `${prefix}:`);
  return createSearchError(
    `There is no filter ${name}:. Available filters: ${known.join(' ')}. ` +
      `To search for it as text, quote it: "${name}:${value}".`,
  );
}

/** Returns the fields that a term adds to the filter. */
function toFilter(
  { name, value, typed }: SearchTerm,
  filter: FailureFilter,
  now: number,
  me: readonly string[],
): FailureFilter {
  switch (name) {
    case null:
      return parseWords(value, typed, filter);
    case 'repo':
      return { repository: value };
    case 'category':
      return { category: parseCategory(value) };
    case 'is':
      return parseState(value, filter);
    case 'confidence':
      return { confidence: parseConfidence(value) };
    case 'since':
    case 'until':
      return { [name]: parseTime(name, value, now) };
    case 'test':
      return { testPart: requireLength(value) };
    case 'file':
      return { file: requireLength(value) };
    case 'owner':
      if (value === 'me' && me.length === 0)
        throw createSearchError(
          'owner:me needs a signed-in user. Name the owner instead, such as owner:@shop/payments.',
        );
      return { owners: (value === 'me' ? me : [value]).map(toOwnerKey) };
    case 'commit':
      if (!/^[0-9a-f]{7,64}$/i.test(value))
        throw createSearchError(
          `commit:${value} is not a commit: use seven or more characters of its hash, 0–9 and a–f.`,
        );
      return { commit: value.toLowerCase() };
    default:
      return { [name]: value };
  }
}

/**
 * Reads an unquoted value that can only be a commit or a fingerprint as an id; reads any other value as text.
 */
function parseWords(value: string, typed: string, filter: FailureFilter): FailureFilter {
  const isId = !/^["“]/.test(typed) && /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}$/i.test(value);
  if (isId && filter.id === undefined) return { id: value.toLowerCase() };
  return { words: [...(filter.words ?? []), requireLength(value)] };
}

/** Returns the words of a text that are long enough for a search, up to the maximum number of terms. */
export function searchWords(text: string): string[] {
  return text
    .split(/\s+/)
    .filter((word) => word.length >= MIN_WORD)
    .slice(0, MAX_TERMS);
}

function requireLength(value: string): string {
  if (value.length >= MIN_WORD) return value;
  throw createSearchError(`“${value}” is too short to search for: use at least ${MIN_WORD} characters.`);
}

function parseCategory(value: string): Category {
  const found = CATEGORIES.find((category) => category === value.toUpperCase());
  if (found === undefined)
    throw createSearchError(`category:${value} is not a category. Use one of ${CATEGORIES.join(', ')}.`);
  return found;
}

/**
 * Adds a flag or a state to the filter. A failure must have every flag, and its cause must be in one of the
 * states.
 */
function parseState(value: string, { flags = [], states = [] }: FailureFilter): FailureFilter {
  const name = value.toLowerCase();
  const flag = SEARCH_FLAGS.find((known) => known === name);
  if (flag !== undefined) return { flags: [...flags, flag] };
  const state = CauseState.options.find((option) => option === name);
  if (state !== undefined) return { states: [...states, state] };
  throw createSearchError(
    `is:${value} is not a filter. Use one of ${SEARCH_STATES.map((known) => `is:${known}`).join(', ')}.`,
  );
}

function parseConfidence(value: string): NonNullable<FailureFilter['confidence']> {
  const [, sign = '>=', number = '', percent] = /^([<>]=?)?(\d{1,3}(?:\.\d{1,6})?)(%)?$/.exec(value) ?? [];
  const is = COMPARISONS.find((comparison) => comparison === sign);
  const than = percent === undefined ? Number(number) : Number(number) / 100;
  if (is === undefined || number === '' || than > 1)
    throw createSearchError(
      `confidence:${value} is not a confidence. Use a number from 0 to 1, such as confidence:>0.8 or ` +
        'confidence:<0.5.',
    );
  return { is, than };
}

const DAY_MS = 86_400_000;
const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };

function parseTime(name: string, value: string, now: number): string {
  const daysAgo = ['today', 'yesterday'].indexOf(value.toLowerCase());
  if (daysAgo >= 0) return new Date((Math.floor(now / DAY_MS) - daysAgo) * DAY_MS).toISOString();
  const [, count, unit = ''] = /^(\d{1,4})([hdw])$/.exec(value) ?? [];
  if (count !== undefined) return new Date(now - Number(count) * (UNIT_MS[unit] ?? 0)).toISOString();
  const time = /^\d{4}-\d\d-\d\d(?:T[\d:.]{5,12}(?:Z|[+-]\d\d:\d\d)?)?$/.test(value)
    ? Date.parse(value)
    : Number.NaN;
  if (Number.isNaN(time) || time < 0)
    throw createSearchError(
      `${name}:${value} is not a time. Use hours, days or weeks ago ` +
        `(${name}:12h, ${name}:7d, ${name}:2w), a date (${name}:2026-11-01), today or yesterday (UTC).`,
    );
  return new Date(time).toISOString();
}

function createSearchError(message: string): TriageError {
  return new TriageError('invalid-input', message);
}
