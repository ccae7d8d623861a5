import { CATEGORIES } from '../../../src/domain/category.ts';
import type { Sql } from '../../../src/ports/database.ts';
import type { VectorIndex } from '../../../src/ports/vector-index.ts';
import type { Stores } from '../../../src/stores/stores.ts';
import { createMessages } from './store-data.ts';

/** A query of the stores during a triage or on a page of the console. `n` varies its parameters. */
export interface Question {
  readonly name: string;
  /** The time in milliseconds within which 95 of 100 queries must return. Null if there is no target. */
  readonly reach: number | null;
  ask(n: number): Promise<unknown>;
}

/** The limits of `find_similar_failures`. */
const CANDIDATES = { minScore: 0.2, limit: 50 };
const PAGE = { limit: 100, offset: 0 };

/** Returns the queries whose times must not grow with the amount of data. */
export async function listQuestions(sql: Sql, stores: Stores, index: VectorIndex): Promise<Question[]> {
  const messages = await createMessages(sql, 900_000, 500);
  const message = (n: number) => messages[n % messages.length] ?? '';
  const repository = (n: number) => `acme/service-${n % 200}`;
  const build = (n: number) => `bld_${1 + ((n * 37) % 1900)}`;
  const category = (n: number) => CATEGORIES[n % CATEGORIES.length] ?? 'CODE_ERROR';
  const { library, history, reviews, failures, builds } = stores;
  return [
    {
      name: 'recall lookup',
      reach: 10,
      ask: (n) => library.recall({ fingerprint: `fp_${n}`, repository: repository(n) }),
    },
    {
      name: 'similar search: library by meaning',
      reach: 50,
      ask: (n) => index.search('error_library', { text: message(n), limit: 10 }),
    },
    {
      name: 'similar search: failures by message',
      reach: 50,
      ask: (n) => history.similarFailures({ text: message(n), excludeBuildId: build(n), ...CANDIDATES }),
    },
    { name: 'review list: waiting', reach: 50, ask: () => reviews.list({ state: 'waiting' }, PAGE) },
    {
      name: 'review list: waiting in a category',
      reach: 50,
      ask: (n) => reviews.list({ state: 'waiting', category: category(n) }, PAGE),
    },
    { name: 'review queue: by risk', reach: 50, ask: () => reviews.list({ state: 'waiting' }, PAGE, 'risk') },
    {
      name: 'review queue: least sure',
      reach: 50,
      ask: () => reviews.list({ state: 'waiting' }, PAGE, 'confidence'),
    },
    {
      name: 'review queue: of a repository',
      reach: 50,
      ask: (n) => reviews.listGroups({ repository: repository(n) }, PAGE),
    },
    { name: 'review queue: one of each fingerprint', reach: 50, ask: () => reviews.listGroups({}, PAGE) },
    {
      name: 'review queue: nothing is there for that reason',
      reach: 50,
      ask: () => reviews.listGroups({ why: 'no such reason' }, PAGE),
    },
    { name: 'review queue: counts', reach: 50, ask: () => reviews.counts('ada') },
    {
      name: 'review queue: of the same fingerprint',
      reach: 50,
      ask: (n) => reviews.listSame(`rev_${n + 1}`, 'ada', 200),
    },
    { name: 'last decision of a reviewer', reach: 50, ask: () => reviews.lastDecision('ada') },
    { name: 'review list: decided', reach: 50, ask: () => reviews.list({ state: 'decided' }, PAGE) },
    { name: 'review list: all', reach: 50, ask: () => reviews.list({}, PAGE) },
    {
      name: 'failure history',
      reach: null,
      ask: (n) =>
        history.failureHistory({
          repository: repository(n),
          fingerprint: `fp_${n}`,
          test: `test_${n}`,
          beforeBuildId: build(n),
          limit: 20,
        }),
    },
    {
      name: 'consecutive failures',
      reach: null,
      ask: (n) =>
        history.consecutiveFailures({
          repository: repository(n),
          pipeline: 'CI',
          branch: 'main',
          buildId: build(n),
        }),
    },
    { name: 'failures page: newest', reach: 50, ask: () => failures.search({}, PAGE) },
    {
      name: 'failures page: of a repository',
      reach: 50,
      ask: (n) => failures.search({ repository: repository(n) }, PAGE),
    },
    {
      name: 'failures page: with a word',
      reach: 50,
      ask: (n) => failures.search({ words: [message(n).split(' ')[3] ?? 'cart'] }, PAGE),
    },
    { name: 'builds page: newest', reach: 50, ask: () => builds.list({}, PAGE) },
    {
      name: 'builds page: of a repository',
      reach: 50,
      ask: (n) => builds.list({ repository: repository(n) }, PAGE),
    },
    { name: 'library page', reach: 50, ask: () => library.list(PAGE) },
  ];
}
