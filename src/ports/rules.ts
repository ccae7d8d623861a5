import type { Rule } from '../domain/rule.ts';
import type { Sql } from './database.ts';
import type { Page } from './page.ts';

export interface RuleFilter {
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
