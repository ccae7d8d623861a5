import { join } from 'node:path';
import type { App } from '../../app.ts';
import { getErrorMessage } from '../../domain/errors.ts';
import type { Deployment } from '../../domain/health.ts';
import type { Clock } from '../../lib/time.ts';
import { decideReview } from '../../service/review/decide.ts';
import { openReviewFor } from '../../service/review/queue.ts';
import { say } from '../terminal.ts';
import { type DemoRepository, makeDemoClone } from './demo-code.ts';

export const SHOWN = [
  'cart-discount-rounding',
  'profile-none-attribute',
  'npm-eresolve',
  'pip-no-matching-version',
  'registry-unavailable',
  'disk-full-maven-repository',
  'deploy-token-missing',
  'database-service-missing',
  // These are not confident enough to be published, so they wait for a person.
  'renamed-own-module',
  'download-time-limit',
] as const;
type Slug = (typeof SHOWN)[number];

/** A pull request has the failure of the default branch of this repository, so it is not its author's. */
const EXCUSED: Slug = 'profile-none-attribute';
const PULL = { pullRequest: 12, branch: 'translate-farewell', author: 'chris' };

/** The clock of the demo: that of the machine, except for the builds of the past week. */
export interface DemoClock extends Clock {
  /** Sets the current time in milliseconds since 1970; null returns to the machine's time. */
  set(now: number | null): void;
}

export function createDemoClock(): DemoClock {
  let offset = 0;
  return {
    now: () => Date.now() + offset,
    set: (now) => {
      offset = now === null ? 0 : now - Date.now();
    },
  };
}

/** A build that the demo sends. */
export interface DemoBuild {
  readonly repository: string;
  readonly number: string;
  readonly attempt?: number;
  readonly status: 'failed' | 'passed';
  readonly branch: string;
  readonly pullRequest?: number;
  readonly commit?: string;
  readonly author?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  /** The captured failure that is its log; absent for a passed build. */
  readonly slug?: string;
  readonly report?: string;
}

/** Sends a build and resolves to its id; with `answered`, when it has its answer. */
interface Sender {
  send(build: DemoBuild): Promise<string>;
  answered(buildId: string): Promise<{ readonly id: string }>;
}

export const HISTORY = 'demo/shop';
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/**
 * The time in milliseconds by which the first build of a day precedes the present, so that all builds of a
 * day are in the past.
 */
const EARLIER_MS = 5 * HOUR_MS;

interface Past {
  /** The number of days ago. */
  readonly ago: number;
  readonly number: number;
  readonly slug?: string;
  /** True if the same commit was rerun and passed. */
  readonly rerun?: true;
  /** The version that it deployed to production. */
  readonly deployed?: string;
  /** The pull request that it built, from a branch of this name. */
  readonly pull?: { readonly number: number; readonly branch: string };
}

const FLAKY = 'reminder-queue-wait';
const REGRESSION = 'receipt-snapshot';
/** The failure that a pull request brings, whose tests passed on the default branch. */
const BROUGHT = 'cart-discount-rounding';

/**
 * The builds of the week: a flaky test that passes on the same commit, a day on which the default branch was
 * broken, its fix, an unreachable server, and a pull request that breaks a test.
 */
const WEEK: readonly Past[] = [
  { ago: 7, number: 101 },
  { ago: 7, number: 102, slug: FLAKY, rerun: true },
  { ago: 6, number: 103 },
  { ago: 5, number: 104, slug: FLAKY, rerun: true },
  { ago: 5, number: 105 },
  { ago: 4, number: 106, slug: REGRESSION },
  { ago: 4, number: 107, slug: REGRESSION },
  { ago: 3, number: 108, slug: REGRESSION },
  { ago: 3, number: 109, deployed: '1.4.1' },
  { ago: 2, number: 110, slug: 'download-connection-reset', rerun: true },
  { ago: 1, number: 111, slug: FLAKY, rerun: true },
  { ago: 1, number: 112 },
  { ago: 0, number: 113, slug: BROUGHT, pull: { number: 31, branch: 'round-coupons' } },
];

/**
 * Sends a week of builds of one repository, each at its own time, and confirms the answer about the
 * regression as a person would. Leaves the clock at the machine's time. Resolves with a build of each
 * captured failure. If they were sent before, sends and returns nothing.
 */
export async function sendHistory(
  app: App,
  clock: DemoClock,
  { commits }: DemoCode,
  sender: Sender,
): Promise<Map<string, string>> {
  const sent = new Map<string, string>();
  if ((await app.stores.builds.list({ repository: HISTORY }, { limit: 1, offset: 0 })).length > 0)
    return sent;
  const now = Date.now();
  try {
    for (const past of WEEK) {
      clock.set(computeStart(past, now));
      const commit = commits.get(past.number) ?? `${past.number}`.repeat(14).slice(0, 40);
      const buildId = await sender.send(createBuild(past, { at: clock.now(), attempt: 1, commit }));
      if (past.slug !== undefined) sent.set(past.slug, buildId);
      const { id } = past.slug === undefined ? { id: null } : await sender.answered(buildId);
      if (id !== null && past.slug === REGRESSION) await confirm(app, clock, id);
      clock.set(clock.now() + 20 * MINUTE_MS);
      if (past.rerun) await sender.send(createBuild(past, { at: clock.now(), attempt: 2, commit }));
      if (past.deployed !== undefined)
        await app.stores.health.addDeployment(createDeployment(past.deployed, clock.now()));
    }
  } finally {
    clock.set(null);
  }
  return sent;
}

function createDeployment(version: string, at: number): Deployment {
  return {
    repository: HISTORY,
    environment: 'production',
    version,
    url: null,
    at: new Date(at).toISOString(),
  };
}

const AUTHORS = ['ada', 'ben', 'chris'];
const MINUTES = 9;

function pickAuthor(number: number): string {
  return AUTHORS[number % AUTHORS.length] ?? 'ada';
}

function computeStart(past: Past, now: number): number {
  return (
    now -
    past.ago * DAY_MS -
    EARLIER_MS +
    (past.number - (WEEK.find(({ ago }) => ago === past.ago)?.number ?? 0)) * 3 * HOUR_MS
  );
}

/**
 * The clones of the demo's repositories and the commits of its week by build number; both are empty if git is
 * missing.
 */
export interface DemoCode {
  readonly clones: Readonly<Record<string, string>>;
  readonly commits: ReadonlyMap<number, string>;
  /**
   * The commits of the other repositories: the last one that passed, the one that fails, and that of a pull
   * request.
   */
  readonly histories: ReadonlyMap<string, readonly string[]>;
}

/** Makes clones of the demo's repositories, each with its owners, so that failures show who must act. */
export async function makeDemoCode(folder: string): Promise<DemoCode> {
  const now = Date.now();
  const first = { message: 'Start', author: 'ada', at: now - 30 * DAY_MS };
  const clones = new Map<string, string>();
  const histories = new Map<string, readonly string[]>();
  try {
    for (const [index, slug] of SHOWN.entries()) {
      const commits = [
        first,
        {
          message: 'Change what fails',
          author: 'ben',
          at: now - computeRedMs(index) - HOUR_MS,
          lays: { slug, as: 'project' } as const,
        },
        { message: 'Translate the farewell', author: 'chris', at: now - HOUR_MS, branch: PULL.branch },
      ];
      const repository = { slugs: [slug], owners: ['* @demo/platform'], commits };
      histories.set(slug, await makeDemoClone(join(folder, slug), repository));
      clones.set(`demo/${slug}`, join(folder, slug));
    }
    const ids = await makeDemoClone(join(folder, 'shop'), createShopRepository(now));
    clones.set(HISTORY, join(folder, 'shop'));
    return {
      clones: Object.fromEntries(clones),
      commits: new Map(ids.map((id, at) => [WEEK[at]?.number ?? 0, id])),
      histories,
    };
  } catch (error) {
    say(`without git, the demo has no code and no owners: ${getErrorMessage(error)}`);
    return { clones: Object.fromEntries(clones), commits: new Map(), histories };
  }
}

/**
 * Creates the repository of the week, with one commit per build. One commit breaks the receipt, and a later
 * one fixes it.
 */
function createShopRepository(now: number): DemoRepository {
  const broken = WEEK.findIndex(({ slug }) => slug === REGRESSION);
  const fixedFrom = WEEK.findLastIndex(({ slug }) => slug === REGRESSION) + 1;
  const commits = WEEK.map((past, at) => ({
    message:
      at === broken
        ? 'Print amounts with their currency'
        : at === fixedFrom
          ? 'Print amounts as before'
          : past.slug === BROUGHT
            ? 'Round coupons in one place'
            : `Prepare build ${past.number}`,
    author: pickAuthor(past.number),
    ...(past.pull !== undefined && { branch: past.pull.branch }),
    ...(past.slug === BROUGHT && { lays: { slug: BROUGHT, as: 'project' } as const }),
    at: computeStart(past, now) - HOUR_MS,
    ...(at === broken && { lays: { slug: REGRESSION, as: 'project' } as const }),
    ...(at === fixedFrom && { lays: { slug: REGRESSION, as: 'before' } as const }),
  }));
  const owners = [
    '* @demo/platform',
    'lib/ @demo/reminders',
    'test/queue.test.js @demo/reminders',
    'src/receipt.ts @demo/checkout',
    'test/receipt.test.ts @demo/checkout',
    'src/money.js @demo/checkout',
  ];
  return { slugs: [FLAKY, REGRESSION, BROUGHT], owners, commits };
}

function createBuild(
  { number, slug, pull }: Past,
  { at, attempt, commit }: { at: number; attempt: number; commit: string },
): DemoBuild {
  const failed = slug !== undefined && attempt === 1;
  return {
    repository: HISTORY,
    number: String(number),
    attempt,
    status: failed ? 'failed' : 'passed',
    branch: pull?.branch ?? 'main',
    ...(pull !== undefined && { pullRequest: pull.number }),
    commit,
    author: pickAuthor(number),
    startedAt: new Date(at - MINUTES * MINUTE_MS).toISOString(),
    finishedAt: new Date(at).toISOString(),
    ...(failed && { slug }),
    // Failures before the tests ran have no test report.
    ...((!failed || TESTS.some((test) => test.slug === slug)) && {
      report: createReport(failed ? slug : null),
    }),
  };
}

/** The test results of every build. `slug` is the captured failure in which the test failed. */
const TESTS: readonly { suite: string; name: string; file: string; slug?: string; failure?: string }[] = [
  {
    suite: 'ReminderQueue when nobody adds more',
    name: 'sends what is waiting after a short while',
    file: 'test/queue.test.js',
  },
  {
    suite: 'ReminderQueue when nobody adds more',
    name: 'sends the weekly digest within half a second',
    file: 'test/queue.test.js',
    slug: FLAKY,
    failure:
      'Timeout of 500ms exceeded. For async tests and hooks, ensure &quot;done()&quot; is called; ' +
      'if returning a Promise, ensure it resolves.',
  },
  {
    suite: 'renderReceipt',
    name: 'prints a whole receipt',
    file: 'test/receipt.test.ts',
    slug: REGRESSION,
    failure: 'Snapshot `renderReceipt &gt; prints a whole receipt 1` mismatched',
  },
  {
    suite: 'cart',
    name: 'takes the coupon off and rounds to the nearest cent',
    file: 'test/cart.test.js',
    slug: BROUGHT,
    failure: 'expect(received).toBe(expected) // Object.is equality Expected: 43.43 Received: 43.42',
  },
];

/**
 * Creates the test report of a build in which the test of this captured failure failed; null for a passed
 * build.
 */
function createReport(slug: string | null): string {
  const cases = TESTS.map(({ suite, name, file, slug: failing, failure: message }) => {
    const failure = slug !== null && failing === slug ? `<failure message="${message}"/>` : '';
    return `<testcase classname="${suite}" name="${name}" file="${file}">${failure}</testcase>`;
  });
  return `<testsuite name="ci" tests="${TESTS.length}">\n${cases.join('\n')}\n</testsuite>`;
}

/**
 * Lists the builds of one of the ten repositories: one that passed yesterday and one that fails. A repository
 * whose builds were sent before gets one more failed build.
 */
export async function listOwnBuilds(
  app: App,
  { histories }: DemoCode,
  slug: Slug,
): Promise<readonly (DemoBuild & { readonly at: number })[]> {
  const repository = `demo/${slug}`;
  const [newest] = await app.stores.builds.list({ repository }, { limit: 1, offset: 0 });
  const [passed, failed, pulled] = histories.get(slug) ?? [];
  const number = Number(newest?.number ?? FIRST_NUMBER) + 1;
  const red = Date.now() - (newest === undefined ? computeRedMs(SHOWN.indexOf(slug)) : 0);
  const build = (numbered: number, status: DemoBuild['status'], at: number, commit: string | undefined) => ({
    repository,
    number: String(numbered),
    status,
    branch: 'main',
    at,
    startedAt: new Date(at - MINUTES * MINUTE_MS).toISOString(),
    finishedAt: new Date(at).toISOString(),
    ...(commit !== undefined && { commit, author: status === 'passed' ? 'ada' : 'ben' }),
  });
  if (newest !== undefined || passed === undefined)
    return [{ ...build(number, 'failed', red, failed), slug }];
  const green = build(number, 'passed', red - GREEN_MS, passed);
  const broken = { ...build(number + 1, 'failed', red, failed), slug };
  if (slug !== EXCUSED) return [green, broken];
  const same = build(number + 2, 'failed', Math.min(red + HOUR_MS, Date.now()), pulled);
  return [green, broken, { ...same, ...PULL, slug }];
}

const FIRST_NUMBER = 40;
/** The time in milliseconds between the last build that passed and the one that fails. */
const GREEN_MS = 14 * HOUR_MS;

/** Computes for how long a repository is red, in milliseconds: each of them for another time. */
function computeRedMs(index: number): number {
  return (SHOWN.length - index) * 27 * MINUTE_MS;
}

/** Accepts the answer as a user of the demo would. A recalled answer needs no decision. */
async function confirm(app: App, clock: Clock, analysisId: string): Promise<void> {
  const deps = { ...app, clock, claimMs: app.config.review.claimMs };
  const analysis = await app.stores.analyses.find(analysisId);
  if (analysis === null || analysis.recalled !== null) return;
  const review = await openReviewFor(deps, { analysisId, by: 'demo' });
  await decideReview(deps, {
    reviewId: review.id,
    version: review.version,
    reviewer: 'demo',
    input: { type: 'accept' },
  });
}
