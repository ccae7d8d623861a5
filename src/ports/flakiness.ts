import type { TestResult } from '../domain/build.ts';
import type { TestFlakiness } from '../domain/flakiness.ts';
import type { Sql } from './database.ts';
import type { Page } from './page.ts';

export interface FlakinessFilter {
  readonly repository?: string;
  /** The test's name, as its report or log writes it. */
  readonly test?: string;
  /** Tests with at least as many flakes in their window; absent: one. */
  readonly minFlakes?: number;
  /** Only of these: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/** A test of a repository; without a suite, whichever test of that name flaked most. */
export interface TestName {
  readonly repository: string;
  readonly name: string;
  readonly suite?: string | null;
}

/** What passing and failing results say about tests. Beside a failure's category, never instead of it. */
export interface FlakinessStore {
  /**
   * Takes account of results that were just saved for a build, in the transaction that saved them. Saying the same again changes nothing.
   * Only tests that failed at least once are followed. A build in which very many tests fail at once says nothing about any of them and is left out.
   */
  follow(buildId: string, results: readonly TestResult[], sql: Sql): Promise<void>;
  /** Tests with a flake among their newest runs, the highest share of flakes first. */
  list(filter: FlakinessFilter, page: Page): Promise<TestFlakiness[]>;
  /** What is known of one test; null where it never failed. */
  ofTest(test: TestName): Promise<TestFlakiness | null>;
  /** The same of several, in their order; at most 200. */
  ofTests(tests: readonly TestName[]): Promise<(TestFlakiness | null)[]>;
}
