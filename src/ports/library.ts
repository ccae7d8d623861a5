import type { LibraryEntry, Rule } from '../domain/library.ts';
import type { Page, Sql } from './database.ts';

export interface LibraryFilter {
  /** Only of these: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
  readonly repository?: string;
  readonly fingerprint?: string;
  /** Withdrawn entries too. */
  readonly withdrawn?: boolean;
  /** Only those that green builds say the same as, and that nobody lets stay. */
  readonly flagged?: boolean;
}

/** What is looked for in green builds. */
interface TellingEntry {
  readonly id: string;
  readonly telling: readonly string[];
}

export interface LibraryStore {
  insert(entry: LibraryEntry, sql?: Sql): Promise<void>;
  find(id: string, sql?: Sql): Promise<LibraryEntry | null>;
  /** The newest human-confirmed entry for this fingerprint in this repository that may answer: a reviewer's latest word wins. */
  recall(key: { readonly fingerprint: string; readonly repository: string }, sql?: Sql): Promise<LibraryEntry | null>;
  /**
   * Keeps others from teaching, withdrawing and restoring for this fingerprint in this repository until the transaction ends: only so can be
   * told what answered before and what answers now.
   */
  alone(key: { readonly fingerprint: string; readonly repository: string }, sql: Sql): Promise<void>;
  /** Counts one more sighting and returns the new total. */
  seen(id: string, at: string, sql?: Sql): Promise<number>;
  list(page: Page, filter?: LibraryFilter): Promise<LibraryEntry[]>;
  /** Entries that a decision made and that are not withdrawn. */
  ofDecision(decisionId: string, sql?: Sql): Promise<LibraryEntry[]>;
  /** Takes an entry out of use. Null where it is withdrawn already, or not stored. */
  withdraw(id: string, by: string, reason: string, sql?: Sql): Promise<LibraryEntry | null>;
  /** Lets a flagged entry answer all the same. Null where it is not stored, withdrawn or not flagged. */
  stay(id: string, by: string, sql?: Sql): Promise<LibraryEntry | null>;
  /** Entries of a repository whose lines a green build may contradict: not withdrawn, and no person lets them stay; newest first. */
  telling(repository: string, limit: number): Promise<TellingEntry[]>;
  /** Counts a green build against entries, once for each build; returns those that were not flagged before. */
  flag(ids: readonly string[], green: { readonly buildId: string; readonly at: string }, sql?: Sql): Promise<LibraryEntry[]>;
}

interface RuleFilter {
  /** Rules of these, and those of every repository: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
  /** Withdrawn versions too. */
  readonly withdrawn?: boolean;
}

export interface RuleStore {
  /** Stores a version of a rule. */
  add(rule: Rule, sql?: Sql): Promise<void>;
  /** The newest version of a rule, withdrawn or not. */
  find(id: string, sql?: Sql): Promise<Rule | null>;
  /** Newest first. */
  list(page: Page, filter?: RuleFilter): Promise<Rule[]>;
  /** Those that apply to a repository, its own before those of every repository, the newest first; at most `limit`. */
  active(repository: string, limit: number): Promise<Rule[]>;
  countActive(sql?: Sql): Promise<number>;
  /** Takes the active version out of use. Null where there is none. */
  withdraw(id: string, by: string, reason: string, sql?: Sql): Promise<Rule | null>;
  /** Counts one more answer and returns the new total. */
  used(rule: Pick<Rule, 'id' | 'version'>, at: string, sql?: Sql): Promise<number>;
}
