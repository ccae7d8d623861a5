import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TriageError } from '../../src/domain/errors.ts';
import { GRADE, PASSING_BUILD, TRIAGE } from '../../src/domain/work.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import type { NoticeRule } from '../../src/ports/notices.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import type { PastRuns } from '../../src/providers/provider.ts';
import {
  type ImportDeps,
  type ImportEvent,
  type ImportRequest,
  importRuns,
  readAnswerReport,
} from '../../src/service/import.ts';
import { createPostgresArchive } from '../../src/stores/archive/postgres.ts';
import { createStores } from '../../src/stores/stores.ts';
import { type Host, type PastHostRun, startHost } from '../providers/contract.ts';
import { giteaWorld } from '../providers/worlds/gitea.ts';
import { githubWorld } from '../providers/worlds/github.ts';
import { gitlabWorld } from '../providers/worlds/gitlab.ts';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';

const DAY_MS = 24 * 3_600_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
/** The newest first, as hosts list them. */
const PAST: readonly PastHostRun[] = [
  { id: 6, status: 'passed', ended: daysAgo(1), log: 'ok\n' },
  { id: 5, status: 'failed', ended: daysAgo(2), log: 'FAIL cart adds up\nAKIAIOSFODNN7EXAMPLE\n' },
  { id: 4, status: 'failed', ended: daysAgo(3), log: 410 },
  { id: 3, status: 'failed', ended: daysAgo(4), log: 'FAIL cart adds up\n', isDeleted: true },
  { id: 2, status: 'failed', ended: daysAgo(5), log: 'FAIL cart adds up\n' },
  { id: 1, status: 'passed', ended: daysAgo(6), log: 'ok\n' },
];

let database: TestDatabase;
let deps: ImportDeps;
let archive: ReturnType<typeof createPostgresArchive>;
let stores: ReturnType<typeof createStores>;
beforeAll(async () => {
  database = await openTestDatabase();
  // A channel that would speak of every build.
  const rule: NoticeRule = {
    channel: 'test',
    findPlace: ({ id: buildId }) => ({
      key: `test:${buildId}`,
      about: { type: 'build', buildId },
      opens: true,
    }),
  };
  stores = createStores(database, systemClock, undefined, [rule]);
  archive = createPostgresArchive(database);
  deps = { database, stores, archive, masker: createMasker() };
});
beforeEach(() => database.query('truncate builds cascade'));
afterAll(() => database.dispose());

describe.each([githubWorld, giteaWorld, gitlabWorld])('the history of a repository on $name', (world) => {
  let host: Host;
  let request: ImportRequest;
  beforeEach(async () => {
    host = await startHost(world);
    host.state.past = PAST;
    const provider = world.open(host.url, 'import-secret-one');
    const options = { logger: silentLogger, timeoutMs: 20_000, maxLogBytes: 1024 * 1024 };
    if (provider.openPastRuns === null) throw new Error('no past');
    request = {
      provider: world.name,
      repository: 'shop/api',
      since: new Date(Date.now() - 30 * DAY_MS),
      maxRuns: 100,
      retryUnitMs: 10,
      runs: await provider.openPastRuns(options),
      source: await provider.openBuildSource(options),
    };
  });
  afterEach(() => host.close());

  async function run(
    change: Partial<ImportRequest> = {},
    signal = AbortSignal.timeout(60_000),
  ): Promise<ImportEvent[]> {
    const events: ImportEvent[] = [];
    for await (const event of importRuns(deps, { ...request, ...change }, signal)) events.push(event);
    return events;
  }
  const outcomes = (events: readonly ImportEvent[]) =>
    events.flatMap((event) => (event.type === 'run' ? [event.outcome] : []));
  const builds = () => stores.builds.list({ repository: 'shop/api' }, { limit: 50, offset: 0 });

  test('becomes builds, oldest first, with masked logs of failed ones', async () => {
    const events = await run();
    const [gone] = world.name === 'gitlab' ? ['leftOut'] : ['withoutLog'];
    expect(outcomes(events)).toEqual(['passed', 'failed', gone, 'withoutLog', 'failed', 'passed']);
    const stored = await builds();
    expect(
      stored.map(({ number, receivedAt, pipeline, branch }) => [number, receivedAt, pipeline, branch]),
    ).toEqual(
      PAST.filter(({ isDeleted }) => world.name !== 'gitlab' || isDeleted !== true).map(({ id, ended }) => [
        String(id),
        ended,
        'ci',
        'main',
      ]),
    );
    const failed = stored.find(({ number }) => number === '5');
    const [file] = await archive.list(failed?.id ?? '');
    const log = await archive.read(failed?.id ?? '', file?.name ?? '');
    expect(log).toMatch(/^FAIL cart adds up\n/);
    expect(log).not.toContain('AKIAIOSFODNN7EXAMPLE');
  });

  async function listPendingTriages() {
    return await Promise.all(
      (await stores.work.dueKeys(TRIAGE, 10)).map((id) => stores.triages.findByBuild(id)),
    );
  }

  test('gets a triage request for each build with a log, which is not fetched again', async () => {
    await run();
    const pending = await listPendingTriages();
    expect(pending).toHaveLength(2);
    expect(pending.every((job) => job !== null && job.fetched === job.requested)).toBe(true);
    expect((await stores.work.waiting(PASSING_BUILD)).count).toBeGreaterThan(0);
  });

  test('causes no notification, and waits for new builds', async () => {
    await run();
    const [newest] = await builds();
    if (newest === undefined) throw new Error('no build');
    expect(await stores.notices.changed({ buildId: newest.id, delayMs: 0 })).toBe(false);
    await stores.publications.add({ publishers: ['webhook'], buildId: newest.id, analysisId: 'ana_1' });
    expect(
      (await stores.work.listByBuild(newest.id)).filter(
        ({ topic }) => topic !== PASSING_BUILD && topic !== GRADE,
      ),
    ).toEqual([]);
    const { id: _, receivedAt: __, ...build } = newest;
    const { build: sent } = await stores.builds.upsert({
      ...build,
      number: '7',
      externalId: '7',
      status: 'failed',
    });
    await stores.triages.request(sent.id);
    expect((await stores.work.dueKeys(TRIAGE, 10))[0]).toBe(sent.id);
    expect(await stores.notices.changed({ buildId: sent.id, delayMs: 0 })).toBe(true);
  });

  test('is continued where it was cut off, and nothing is requested twice', async () => {
    const stop = new AbortController();
    const seen: ImportEvent[] = [];
    await expect(
      (async () => {
        for await (const event of importRuns(deps, request, stop.signal)) {
          seen.push(event);
          if (outcomes(seen).length === 2) stop.abort();
        }
      })(),
    ).rejects.toThrow();
    expect(outcomes(seen)).toEqual(['passed', 'failed']);
    const again = await run();
    expect(outcomes(again).slice(0, 2)).toEqual(['known', 'known']);
    const before = host.requests.length;
    expect(new Set(outcomes(await run()))).toEqual(
      new Set(world.name === 'gitlab' ? ['known', 'leftOut'] : ['known']),
    );
    expect(host.requests.slice(before).filter(({ path }) => /trace|\/logs|jobs/.test(path))).toEqual([]);
    expect(await listPendingTriages()).toHaveLength(2);
  });

  test('that a crashed process stored only in part is stored again', async () => {
    const [reading] = [await findFirstFailed(request)];
    await stores.builds.upsert({ ...reading, status: 'unknown' }, undefined, daysAgo(5));
    expect(outcomes(await run())).toContain('failed');
    expect((await builds()).every(({ status }) => status !== 'unknown')).toBe(true);
  });

  test('is waited for if the host limits the rate', async () => {
    host.state.limited = 1;
    expect(outcomes(await run()).filter((importOutcome) => importOutcome === 'failed')).toHaveLength(2);
  });

  test('with a token that may not read logs stops at once, and names the missing permission', async () => {
    host.state.forbidden = /trace|\/logs/;
    await expect(run()).rejects.toMatchObject({
      code: 'upstream-auth',
      message: expect.stringMatching(/_TOKEN/),
    });
  });

  test('is limited to the newest runs', async () => {
    const events = await run({ maxRuns: 2 });
    expect(events[0]).toEqual({ type: 'listed', runs: 2, isCut: true });
    expect((await builds()).map(({ number }) => number)).toEqual(['6', '5']);
  });

  test('is reported: what failed, what passed, and what has no answer', async () => {
    await run();
    const { builds: counts, answers } = await readAnswerReport(stores, {
      repository: 'shop/api',
      since: new Date(Date.now() - 30 * DAY_MS),
    });
    expect([counts.passed, counts.failed, counts.unanswered, answers]).toEqual([
      2,
      world.name === 'gitlab' ? 3 : 4,
      counts.failed,
      [],
    ]);
    const lately = await readAnswerReport(stores, {
      repository: 'shop/api',
      since: new Date(Date.now() - 2.5 * DAY_MS),
    });
    expect(lately.builds).toEqual({ failed: 1, passed: 1, unanswered: 1 });
  });
});

async function findFirstFailed({ runs, repository, since }: ImportRequest) {
  const signal = AbortSignal.timeout(10_000);
  for await (const run of runs.list(repository, since, signal)) {
    if (run.externalId !== '2') continue;
    const reading = await run.load(signal);
    if ('build' in reading) return reading.build;
  }
  throw new Error('no run');
}

describe('a host', () => {
  const source = { fetch: async () => ({ sources: [], testResults: [], notes: [] }) };
  const request = (runs: PastRuns): ImportRequest => ({
    provider: 'github',
    repository: 'shop/api',
    since: new Date(0),
    maxRuns: 10,
    runs,
    source,
    retryUnitMs: 1,
  });

  test('that names a delay is retried after it', async () => {
    let asked = 0;
    const runs: PastRuns = {
      async *list() {
        asked += 1;
        if (asked < 3)
          throw new TriageError('upstream-failed', 'The rate limit is reached.', {
            retryable: true,
            retryAfterMs: 30,
          });
        yield* [];
      },
    };
    const events: ImportEvent[] = [];
    for await (const event of importRuns(deps, request(runs), AbortSignal.timeout(10_000)))
      events.push(event);
    const waiting = { type: 'waiting', ms: 30, because: 'The rate limit is reached.' };
    expect(events).toEqual([waiting, waiting, { type: 'listed', runs: 0, isCut: false }]);
  });

  test('that is down is given up after a few attempts, and one unreadable run is skipped', async () => {
    const away = async () => {
      throw new TriageError('upstream-failed', 'The host could not be reached.', { retryable: true });
    };
    const runs = (count: number): PastRuns => ({
      async *list() {
        for (let at = 0; at < count; at += 1) yield { externalId: String(at), attempt: 1, load: away };
      },
    });
    const collect = async (count: number) => {
      const events: ImportEvent[] = [];
      for await (const event of importRuns(deps, request(runs(count)), AbortSignal.timeout(10_000)))
        events.push(event);
      return events;
    };
    expect((await collect(1)).at(-1)).toMatchObject({
      outcome: 'leftOut',
      says: expect.stringContaining('could not be reached'),
    });
    await expect(collect(6)).rejects.toMatchObject({ code: 'upstream-failed' });
  });
});
