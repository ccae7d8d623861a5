import type { App } from '../app.ts';
import type { Clock } from '../lib/time.ts';
import { decideReview } from '../service/review/decide.ts';
import { openReviewFor } from '../service/review/queue.ts';

/** The time of the demo: that of the machine, but for the builds of its last week. */
export interface DemoClock extends Clock {
  /** What the time is from now on, in milliseconds since 1970; null: that of the machine. */
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
  readonly commit?: string;
  readonly author?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  /** The captured failure that is its log; none of a passed build. */
  readonly slug?: string;
  readonly report?: string;
}

/** Sends a build and resolves with its id; `answered`: with its answer, once it is there. */
interface Sender {
  send(build: DemoBuild): Promise<string>;
  answered(buildId: string): Promise<{ readonly id: string }>;
}

export const HISTORY = 'demo/shop';
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The first build of a day is so much earlier than now, so that all of a day's builds are past. */
const EARLIER_MS = 5 * HOUR_MS;

interface Past {
  /** Days ago. */
  readonly ago: number;
  readonly number: number;
  readonly slug?: string;
  /** The same commit was run again, and passed. */
  readonly rerun?: true;
}

const FLAKY = 'reminder-queue-wait';
const REGRESSION = 'receipt-snapshot';

/** A test that fails now and then and passes on the same commit, a day on which the default branch was broken, its fix, and a server away. */
const WEEK: readonly Past[] = [
  { ago: 7, number: 101 },
  { ago: 7, number: 102, slug: FLAKY, rerun: true },
  { ago: 6, number: 103 },
  { ago: 5, number: 104, slug: FLAKY, rerun: true },
  { ago: 5, number: 105 },
  { ago: 4, number: 106, slug: REGRESSION },
  { ago: 4, number: 107, slug: REGRESSION },
  { ago: 3, number: 108, slug: REGRESSION },
  { ago: 3, number: 109 },
  { ago: 2, number: 110, slug: 'download-connection-reset', rerun: true },
  { ago: 1, number: 111, slug: FLAKY, rerun: true },
  { ago: 1, number: 112 },
];

/**
 * Sends a week of builds of one repository, each at its own time, and confirms the answer about the regression as a person would. Leaves the
 * clock at the machine's time. Nothing where they were sent before.
 */
export async function sendHistory(app: App, clock: DemoClock, sender: Sender): Promise<void> {
  if ((await app.stores.builds.list({ repository: HISTORY }, { limit: 1, offset: 0 })).length > 0) return;
  const now = Date.now();
  try {
    for (const past of WEEK) {
      clock.set(now - past.ago * DAY_MS - EARLIER_MS + (WEEK.indexOf(past) % 2) * 3 * HOUR_MS);
      const buildId = await sender.send(buildOf(past, clock.now(), 1));
      const { id } = past.slug === undefined ? { id: null } : await sender.answered(buildId);
      if (id !== null && past.slug === REGRESSION) await confirm(app, clock, id);
      clock.set(clock.now() + 20 * MINUTE_MS);
      if (past.rerun) await sender.send(buildOf(past, clock.now(), 2));
    }
  } finally {
    clock.set(null);
  }
}

const AUTHORS = ['ada', 'ben', 'chris'];
const MINUTES = 9;

function buildOf({ number, slug }: Past, at: number, attempt: number): DemoBuild {
  const failed = slug !== undefined && attempt === 1;
  return {
    repository: HISTORY,
    number: String(number),
    attempt,
    status: failed ? 'failed' : 'passed',
    branch: 'main',
    commit: `${number}`.repeat(14).slice(0, 40),
    author: AUTHORS[number % AUTHORS.length] ?? 'ada',
    startedAt: new Date(at - MINUTES * MINUTE_MS).toISOString(),
    finishedAt: new Date(at).toISOString(),
    ...(failed ? { slug, report: reportOf(slug) } : { report: reportOf(null) }),
  };
}

/** Results of every build; `slug`: the captured failure in which the test failed. */
const TESTS: readonly { suite: string; name: string; file: string; slug?: string; failure?: string }[] = [
  { suite: 'ReminderQueue when nobody adds more', name: 'sends what is waiting after a short while', file: 'test/queue.test.js' },
  {
    suite: 'ReminderQueue when nobody adds more',
    name: 'sends the weekly digest within half a second',
    file: 'test/queue.test.js',
    slug: FLAKY,
    failure:
      'Timeout of 500ms exceeded. For async tests and hooks, ensure &quot;done()&quot; is called; if returning a Promise, ensure it resolves.',
  },
  {
    suite: 'renderReceipt',
    name: 'prints a whole receipt',
    file: 'test/receipt.test.ts',
    slug: REGRESSION,
    failure: 'Snapshot `renderReceipt &gt; prints a whole receipt 1` mismatched',
  },
];

/** The test results of a build in which the test of this captured failure failed; null: of a passed one. */
function reportOf(slug: string | null): string {
  const cases = TESTS.map(({ suite, name, file, slug: failing, failure: message }) => {
    const failure = slug !== null && failing === slug ? `<failure message="${message}"/>` : '';
    return `<testcase classname="${suite}" name="${name}" file="${file}">${failure}</testcase>`;
  });
  return `<testsuite name="ci" tests="${TESTS.length}">\n${cases.join('\n')}\n</testsuite>`;
}

/** Decides as whoever tries the demo would; what is known already needs nobody. */
async function confirm(app: App, clock: Clock, analysisId: string): Promise<void> {
  const deps = { ...app, clock, claimMs: app.config.review.claimMs, blindEvery: 0 };
  const analysis = await app.stores.analyses.find(analysisId);
  if (analysis === null || analysis.recalled !== null) return;
  const review = await openReviewFor(deps, { analysisId, by: 'demo' });
  await decideReview(deps, { reviewId: review.id, version: review.version, reviewer: 'demo', input: { type: 'accept' } });
}
