import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { buildHttp } from '../../../src/api/server.ts';
import { digestOfToken, makeToken } from '../../../src/domain/access.ts';
import type { Database } from '../../../src/ports/database.ts';
import { createPostgresArchive } from '../../../src/stores/archive/postgres.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';
import { createStores, type Stores } from '../../../src/stores/stores.ts';
import { createEmptyHttpDeps, TOKENS } from '../../../test/support/http-deps.ts';
import { startPostgres } from '../../../test/support/postgres.ts';
import { createStoredAsk } from '../../../test/support/stored-ask.ts';
import { createFingerprintNumber, fillInsights } from './insights-data.ts';

const WARM_UP = 5;
const REACH_MS = 50;
const DEFAULTS = { failures: '1000000', answers: '200000', results: '1000000', days: '365', rounds: '60' };

/**
 * Typical searches: a rare word, a common word, both with filters, places, and a text that does not occur.
 */
const SEARCHES: Readonly<Record<string, (n: number) => string>> = {
  'a repository': (n) => `repo:acme/service-${n}`,
  'a word of few texts': (n) => `checkout_${n % 9}`,
  'a word of a fifth of all texts': () => 'expected',
  'a quotation of a tenth of all texts': () => '"Temporary failure resolving"',
  'two words': () => 'shipment avatar',
  'a common word and a rarer one': () => 'expected wallet',
  'a word of a thirtieth of all texts': () => 'wallet',
  'a word in a repository': (n) => `repo:acme/service-${n} parser`,
  'a common word in a repository': (n) => `repo:acme/service-${n} expected`,
  'a common word in a branch': (n) => `repo:acme/service-${n} branch:topic-${n} undefined`,
  'a word in a category': () => 'category:INFRA_ERROR wallet',
  'a common word in a category': () => 'category:INFRA_ERROR expected',
  'a category': () => 'category:DEPENDENCY_ERROR',
  'a test': (n) => `test:test_${n}`,
  'a fingerprint': (n) => `fingerprint:${createFingerprintNumber(n)}`,
  'what waits': () => 'is:waiting',
  'a week of a branch': () => 'branch:main since:7d',
  'what is nowhere': () => 'xylophone',
};

/**
 * Runs `scripts/bench console pages [--failures N] [--answers N] [--results N] [--days N] [--rounds N]
 * [--only PART] [--at ADDRESS]`: measures the server time of every page with a PostgreSQL server with its usual
 * settings. Each page is requested many times, for a different item each time if there are several. `--at` names
 * a database that is already filled.
 */
export async function run(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      failures: { type: 'string' },
      answers: { type: 'string' },
      results: { type: 'string' },
      days: { type: 'string' },
      rounds: { type: 'string' },
      only: { type: 'string', default: '' },
      at: { type: 'string' },
    },
  });
  const given = { ...DEFAULTS, ...values };
  const size = { failures: Number(given.failures), answers: Number(given.answers), days: Number(given.days) };
  if (given.at !== undefined) return await measureAt(given.at, Number(given.rounds), given.only);
  const server = await startPostgres();
  try {
    const database = await openPostgres({
      url: await server.createMigrated(),
      poolSize: 8,
      limits: { statement_timeout: 0, query_timeout: 0 },
    });
    const from = performance.now();
    await fillInsights(database, { ...size, testResults: Number(given.results) });
    await database.query('vacuum analyze');
    console.log(
      `${size.failures} failures, ${size.answers} answers, ${given.results} test results of ${size.days} days`,
    );
    console.log(
      `filled in ${((performance.now() - from) / 1000).toFixed(0)} s; fastest / p50 / p95 in ms, ${given.rounds} requests each`,
    );
    console.log(`${loadavg()[0]?.toFixed(1)} processes wished to run on ${cpus().length} cores`);
    await measure(database, Number(given.rounds), given.only);
    await database.close();
  } finally {
    await server.dispose();
  }
}

/** Measures the pages on a database that already contains data. */
async function measureAt(url: string, rounds: number, only: string): Promise<void> {
  const database = await openPostgres({
    url,
    poolSize: 8,
    limits: { statement_timeout: 0, query_timeout: 0 },
  });
  await database.query('vacuum analyze');
  console.log(`${loadavg()[0]?.toFixed(1)} processes wished to run on ${cpus().length} cores`);
  await measure(database, rounds, only);
  await database.close();
}

async function measure(database: Database, rounds: number, only: string): Promise<void> {
  const stores = createStores(database, { now: Date.now });
  const archive = createPostgresArchive(database);
  const app = await buildHttp({
    ...createEmptyHttpDeps(),
    stores,
    database,
    archive,
    ask: createStoredAsk(stores),
  });
  const pages = await listPages(database);
  const whole = Object.entries(pages).map(([name, addresses]) => ({
    name,
    addresses,
    token: TOKENS.admin as string,
  }));
  const scoped = await createScopedToken(stores);
  const own = SCOPED.map((path) => ({
    name: `${path}, three repositories`,
    addresses: [path],
    token: scoped,
  }));
  for (const { name, addresses, token } of [...whole, ...own].filter((page) => page.name.includes(only))) {
    const taken: number[] = [];
    for (let n = 0; n < WARM_UP + rounds; n += 1) {
      const from = performance.now();
      const answer = await app.inject({
        url: addresses[n % addresses.length] ?? '/',
        headers: { authorization: `Bearer ${token}` },
      });
      if (n >= WARM_UP) taken.push(performance.now() - from);
      if (answer.statusCode !== 200)
        throw new Error(`${name}: ${answer.statusCode} ${answer.body.slice(0, 300)}`);
    }
    console.log(formatLine(name, taken));
  }
  await app.close();
}

const SCOPED = [
  '/insights',
  '/insights/trust',
  '/insights/health?days=90',
  '/insights/causes',
  '/insights/cost',
  '/',
  '/builds',
  '/causes',
];

async function createScopedToken({ tokens }: Stores): Promise<string> {
  const token = makeToken();
  const repositories = ['acme/service-7', 'acme/service-50', 'acme/service-121'];
  await tokens.keep({
    digest: digestOfToken(token),
    name: `bench-${Date.now()}`,
    roles: ['read'],
    repositories,
    createdBy: 'bench',
    expiresInDays: null,
  });
  return token;
}

async function listPages(database: Database): Promise<Record<string, readonly string[]>> {
  const ids = async (query: string) => (await database.query<{ id: string }>(query, [])).map(({ id }) => id);
  const reviews = await ids(`select id from reviews where state = 'waiting' order by md5(id) limit 20`);
  const analyses = await ids('select id from analyses order by md5(id) limit 20');
  const builds = await ids('select build_id as id from analyses order by md5(id) limit 20');
  const causes = await ids('select fingerprint as id from answer_facts order by md5(analysis_id) limit 20');
  const of = (folder: string, found: readonly string[]) => found.map((id) => `/${folder}/${id}`);
  const searches = Object.entries(SEARCHES).map(([name, search]) => [
    `search: ${name}`,
    Array.from({ length: 40 }, (_, n) => `/search?q=${encodeURIComponent(search(n))}`),
  ]);
  return {
    '/, the overview': ['/'],
    '/review': ['/review'],
    '/review?repo=': ['/review?repo=acme/service-7'],
    '/review/:id': of('review', reviews),
    '/builds': ['/builds', '/builds?offset=5000'],
    '/builds?repository=&status=': ['/builds?repository=acme/service-7&status=failed'],
    '/builds/:id': of('builds', builds),
    '/analyses/:id': of('analyses', analyses),
    '/runs/:id': of('runs', analyses),
    '/causes': ['/causes'],
    '/failures/:fingerprint': of('failures', causes),
    '/library': ['/library'],
    '/library/rules': ['/library/rules'],
    '/notifications': ['/notifications'],
    '/settings': ['/settings'],
    '/me': ['/me'],
    '/insights': ['/insights', '/insights?repo=acme/service-7'],
    '/insights?days=90': ['/insights?days=90'],
    '/insights/trust': ['/insights/trust'],
    '/insights/trust/answers': ['/insights/trust/answers?t=0.85&verdict=wrong'],
    ...Object.fromEntries(
      [7, 30, 90].map((days) => [`/insights/health?days=${days}`, [`/insights/health?days=${days}`]]),
    ),
    '/insights/health?repo=': ['/insights/health?repo=acme/service-7&days=90'],
    '/tests': ['/tests'],
    '/tests?list=cost': ['/tests?list=cost'],
    '/insights/causes': ['/insights/causes'],
    '/insights/causes?days=90': ['/insights/causes?days=90'],
    '/insights/cost': ['/insights/cost'],
    '/insights/reviewers': ['/insights/reviewers'],
    ...Object.fromEntries(searches),
  };
}

function formatLine(name: string, taken: readonly number[]): string {
  const sorted = taken.toSorted((left, right) => left - right);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const judged = at(0.95) <= REACH_MS ? '' : `  ABOVE ${REACH_MS}`;
  return `${name.padEnd(48)} ${at(0).toFixed(1)} / ${at(0.5).toFixed(1)} / ${at(0.95).toFixed(1)}${judged}`;
}
