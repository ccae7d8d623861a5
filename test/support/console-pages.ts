import { testAddress } from '../../src/console/insights/test-page.ts';
import { createId } from '../../src/domain/ids.ts';
import type { Review } from '../../src/domain/review.ts';
import { decideReview } from '../../src/service/review/decide.ts';
import type { TestCost } from '../../src/stores/flakiness.ts';
import type { READERS, StockedConsole } from './stocked-console.ts';

/** A page of the console in one of its states, and the reader who looks at it. */
export interface ShownPage {
  /** The name, which is safe as a file name. */
  readonly name: string;
  readonly url: string;
  readonly as: keyof typeof READERS | null;
}

/** The captured failures that fill the pages: one of every category, and one cause that comes repeatedly. */
const STOCK = [
  'cart-discount-rounding',
  'profile-none-attribute',
  'npm-eresolve',
  'registry-unavailable',
  'deploy-token-missing',
  'database-service-missing',
  'checkout-type-error',
] as const;

/** Fills the console with captured failures and decisions about them. Returns every page in every state. */
export async function stockPages(console: StockedConsole): Promise<ShownPage[]> {
  const { stores } = console;
  for (const [at, slug] of STOCK.entries()) {
    const change = at === 0 ? { branch: 'fix/tax', commit: 'a41f9c2aa0', pullRequest: 1204 } : {};
    await console.bring({ slug, repository: 'demo/shop', number: String(810 + at), ...change });
  }
  await bringTests(console);
  const [first, second, third, ...others] = await stores.reviews.list(
    { state: 'waiting' },
    { limit: 50, offset: 0 },
  );
  if (first === undefined || second === undefined || third === undefined) throw new Error('nothing waits');
  const decided = await decide(console, third);
  // The same cause comes again. It is recalled, and no person is asked.
  const again = await console.bring({ slug: STOCK[2], repository: 'demo/shop', number: '900' });
  await stores.reviews.claim(second.id, 'ben', 60 * 60_000);
  const question = await ask(console, first);
  const entry = (await stores.library.list({ limit: 1, offset: 0 }))[0];
  const [answered] = await stores.analyses.listByBuild(again);
  const analysis = await stores.analyses.find(first.analysisId);
  const period = { until: new Date(Date.now() + 60_000).toISOString(), days: 7, minutes: 10 };
  const [test] = await stores.flakiness.costs(period, { limit: 1, offset: 0 });
  if (test === undefined) throw new Error('no test failed');
  return [
    ...reviewPages(first, second, decided, question),
    ...readPages(first, analysis?.fingerprint ?? '', answered?.id ?? first.analysisId, test),
    { name: 'library', url: '/library', as: 'anna' },
    { name: 'library-entry', url: `/library/${entry?.id}`, as: 'anna' },
    { name: 'library-rules', url: '/library/rules', as: 'anna' },
    { name: 'notifications', url: '/notifications', as: 'anna' },
    { name: 'notifications-new', url: '/notifications/new', as: 'anna' },
    { name: 'review-of-others', url: `/review/${others[0]?.id}`, as: 'ben' },
  ];
}

/** Adds one test that fails and passes on the same commit, and one that always passes. */
async function bringTests(console: StockedConsole): Promise<void> {
  for (const [at, status] of (['failed', 'passed', 'failed'] as const).entries()) {
    const fails = '<failure message="expected 20, got 19">at test/cart.test.ts:14:3</failure>';
    const cases = [
      `<testcase classname="cart" name="adds the discount" file="test/cart.test.ts" time="1.2">${status === 'failed' ? fails : ''}</testcase>`,
      '<testcase classname="cart" name="starts empty" file="test/cart.test.ts" time="0.1"/>',
    ];
    const report = `<testsuites><testsuite name="cart" tests="2">${cases.join('')}</testsuite></testsuites>`;
    await console.bring({
      slug: STOCK[0],
      report,
      repository: 'demo/cart',
      number: String(700 + at),
      commit: 'b52e0d3bb1',
      status,
    });
  }
}

function reviewPages(first: Review, held: Review, decided: Review, question: string): ShownPage[] {
  const item = `/review/${first.id}`;
  return [
    { name: 'sign-in', url: '/sign-in', as: null },
    { name: 'queue', url: '/review', as: 'anna' },
    { name: 'queue-filtered-empty', url: '/review?repo=demo/none', as: 'anna' },
    { name: 'queue-decided', url: '/review?state=decided', as: 'anna' },
    { name: 'item', url: item, as: 'anna' },
    { name: 'item-correct', url: `${item}?edit=1`, as: 'anna' },
    { name: 'item-reject', url: `${item}?reject=1`, as: 'anna' },
    { name: 'item-held', url: `/review/${held.id}`, as: 'anna' },
    { name: 'item-decided', url: `/review/${decided.id}`, as: 'anna' },
    { name: 'item-question', url: `/review/${question}`, as: 'anna' },
    { name: 'me', url: '/me', as: 'anna' },
    { name: 'settings', url: '/settings', as: 'admin' },
    { name: 'settings-connect', url: '/settings?provider=github', as: 'admin' },
    { name: 'forbidden', url: '/review', as: 'reader' },
    { name: 'no-such-page', url: '/review/rev_none', as: 'anna' },
  ];
}

function readPages(
  { analysisId, buildId }: Review,
  fingerprint: string,
  recalled: string,
  test: TestCost,
): ShownPage[] {
  const log = `/logs/${buildId}?file=build.log`;
  const pages: readonly (readonly [name: string, url: string])[] = [
    ['causes', '/causes'],
    ['search', '/search'],
    ['search-found', `/search?q=${encodeURIComponent('repo:demo/shop since:30d "npm"')}`],
    ['search-wrong', '/search?q=node:internal'],
    ['builds', '/builds'],
    ['builds-empty', '/builds?repo=demo/none'],
    ['build', `/builds/${buildId}`],
    ['analysis', `/analyses/${analysisId}`],
    ['analysis-recalled', `/analyses/${recalled}`],
    ['run', `/runs/${analysisId}`],
    ['ask', `/analyses/${analysisId}/ask`],
    ['log', log],
    ['log-marked', `${log}&L=20-24#L20`],
    ['log-search', `${log}&q=test`],
    ['insights', '/insights'],
    ['insights-trust', '/insights/trust'],
    ['insights-trust-answers', '/insights/trust/answers?t=0.5'],
    ['insights-trust-outcomes', '/insights/trust/outcomes'],
    ['insights-models', '/insights/models'],
    ['insights-health', '/insights/health'],
    ['insights-flaky', '/tests'],
    ['insights-tests-cost', '/tests?list=cost&days=30'],
    ['insights-quarantine', '/tests?list=quarantine'],
    ['insights-test', testAddress(test)],
    ['insights-causes', '/insights/causes'],
    ['insights-cost', '/insights/cost'],
    ['cause', `/failures/${fingerprint}`],
  ];
  return [
    ...pages.map(([name, url]) => ({ name, url, as: 'reader' as const })),
    { name: 'insights-reviewers', url: '/insights/reviewers', as: 'anna' },
    { name: 'insights-test-acts', url: testAddress(test), as: 'anna' },
  ];
}

async function decide({ app, stores }: StockedConsole, review: Review): Promise<Review> {
  const input = {
    type: 'correct',
    category: review.category,
    rootCause: 'The lock file was written by another npm.',
  } as const;
  const deps = { ...app, stores };
  return (await decideReview(deps, { reviewId: review.id, version: review.version, reviewer: 'anna', input }))
    .review;
}

async function ask({ stores }: StockedConsole, about: Review): Promise<string> {
  const { build } = await stores.builds.upsert({
    ...(await getBuild(stores, about)),
    number: '950',
    externalId: null,
  });
  const triage = await stores.triages.open(build.id, 'fp-of-a-question');
  const question = {
    id: createId('rev'),
    triageId: triage.id,
    buildId: build.id,
    repository: build.repository,
    openedAt: new Date().toISOString(),
  };
  const asked = {
    title: 'connection to port 5432 refused',
    category: 'INFRA_ERROR',
    question: 'Is PostgreSQL 17 expected on this runner?',
  } as const;
  return (await stores.questions.ask({ ...question, ...asked }, 4 * 3_600_000)).id;
}

async function getBuild(stores: StockedConsole['stores'], { buildId }: Review) {
  const build = await stores.builds.find(buildId);
  if (build === null) throw new Error(`no build ${buildId}`);
  return build;
}
