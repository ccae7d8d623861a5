import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { startRedis, type TestRedis, withoutRedis } from '../support/redis.ts';
import { type Crew, openCrew } from '../support/triage-crew.ts';

/** How long an enqueue may hold up whoever accepts a build: one command's time limit, and a busy machine. */
const BOUND_MS = 5000;

describe.skipIf(withoutRedis)('failures of Redis', () => {
  let redis: TestRedis;
  let db: TestDatabase;
  let crews: Crew[] = [];
  beforeAll(async () => {
    redis = await startRedis();
    db = await openTestDatabase();
  });
  afterAll(async () => {
    await db.dispose();
    await redis.stop();
  });
  afterEach(async () => {
    await redis.resume();
    for (const crew of crews) await crew.stop(0);
    crews = [];
    await db.query(`delete from builds`);
    await redis.flush();
  });

  async function startCrew(concurrency = 2): Promise<Crew> {
    const crew = await openCrew({ db, url: redis.url, prefix: 'bad-days', concurrency });
    crews.push(crew);
    return crew;
  }

  async function accept(crew: Crew, count: number) {
    const accepted: Awaited<ReturnType<Crew['accept']>>[] = [];
    for (let build = 0; build < count; build += 1) accepted.push(await crew.accept());
    return accepted;
  }

  /** Waits until every build's triage ended, and asserts that each did once. */
  async function expectAllDone(
    title: string,
    builds: readonly { readonly buildId: string }[],
    crews: readonly Crew[],
  ) {
    const ended = () => crews.flatMap((crew) => crew.ended);
    await expect.poll(() => new Set(ended()).size, { timeout: 240_000, interval: 50 }).toBe(builds.length);
    const unfinished = `select count(*)::int as count from work where outcome is distinct from 'done' or version > settled`;
    await expect.poll(() => db.query(unfinished), { timeout: 10_000 }).toEqual([{ count: 0 }]);
    const lost = builds.filter(({ buildId }) => !ended().includes(buildId)).length;
    console.info(`${title}: ${builds.length} builds, ${ended().length} analyses; lost: ${lost}`);
    expect(lost).toBe(0);
    expect(ended().toSorted()).toEqual(builds.map(({ buildId }) => buildId).toSorted());
  }

  it('T23: if Redis is emptied with 50 jobs queued and 5 running, all finish, each once', async () => {
    const crew = await startCrew(5);
    const builds = await accept(crew, 55);
    await crew.work({ takesMs: 300 });
    await expect.poll(() => crew.begun.length, { timeout: 10_000, interval: 5 }).toBe(5);

    await redis.flush();

    await expectAllDone('T23', builds, [crew]);
  });

  it('T24: if Redis is stopped while builds arrive, all are accepted at once, and triaged before it is back', async () => {
    const crew = await startCrew(3);
    await crew.work({ takesMs: 20 });
    const before = await accept(crew, 10);
    await redis.kill();
    const meanwhile = await accept(crew, 30);
    expect(meanwhile.filter(({ tookMs }) => tookMs > BOUND_MS)).toEqual([]);
    await expectAllDone('T24, before Redis is back', [...before, ...meanwhile], [crew]);

    await redis.resume();
    const after = await accept(crew, 10);

    await expectAllDone('T24', [...before, ...meanwhile, ...after], [crew]);
  });

  it("T24: a process that only accepts builds reports at once that the queue is down; another process's worker finds them", async () => {
    const [api, worker] = [await startCrew(), await startCrew()];
    await worker.work({ takesMs: 10 });
    await redis.kill();

    const builds = await accept(api, 20);

    expect(builds.filter(({ notified, tookMs }) => notified || tookMs > BOUND_MS)).toEqual([]);
    await expectAllDone('T24, accepted elsewhere', builds, [worker]);
  });

  it('T24: a Redis that accepts connections and never responds delays nothing', async () => {
    const crew = await startCrew(3);
    await crew.work({ takesMs: 20 });
    await redis.pause();

    const builds = await accept(crew, 20);

    expect(builds.filter(({ tookMs }) => tookMs > BOUND_MS)).toEqual([]);
    // Only the first has to find out: if each did, it would be twenty seconds.
    expect(builds.reduce((sum, { tookMs }) => sum + tookMs, 0)).toBeLessThan(10_000);
    await expectAllDone('T24, Redis frozen', builds, [crew]);
  });

  it('a process starts without Redis, works, and uses it as soon as it is up', async () => {
    await redis.kill();
    const crew = await startCrew();
    await crew.work({ takesMs: 10 });
    const without = await accept(crew, 10);
    await expectAllDone('no Redis at start', without, [crew]);
    await expect(crew.queue.depth()).rejects.toMatchObject({ code: 'upstream-failed', retryable: true });

    await redis.resume();

    await expect.poll(() => crew.queue.depth(), { timeout: 10_000 }).toBe(0);
    const accepting = await startCrew();
    const later = await accept(accepting, 5);
    expect(later.every(({ notified }) => notified)).toBe(true);
    await expectAllDone('Redis came later', [...without, ...later], [crew]);
  });

  it.each([{ empty: false }, { empty: true }])(
    'a process continues after a restart of Redis (data lost: $empty)',
    async (options) => {
      const crew = await startCrew();
      const builds = await accept(crew, 20);
      await crew.work({ takesMs: 50 });
      await expect.poll(() => crew.ended.length, { timeout: 10_000, interval: 5 }).toBeGreaterThan(2);

      await redis.restart(options);

      await expectAllDone(
        `restart of Redis, data lost: ${options.empty}`,
        [...builds, ...(await accept(crew, 5))],
        [crew],
      );
    },
  );

  it('the limit of parallel runs is kept while Redis goes down and comes back', async () => {
    const crew = await startCrew(2);
    let [running, most] = [0, 0];
    const triage = async () => {
      running += 1;
      most = Math.max(most, running);
      await delay(30);
      running -= 1;
    };
    await crew.work({ takesMs: 0, triage });
    const builds = await accept(crew, 10);
    await redis.kill();
    builds.push(...(await accept(crew, 10)));
    await redis.resume();
    await expect
      .poll(() => crew.queue.depth().catch(() => -1), { timeout: 10_000 })
      .toBeGreaterThanOrEqual(0);
    builds.push(...(await accept(crew, 10)));

    await expectAllDone('limit of runs', builds, [crew]);
    expect(most).toBe(2);
  });

  it('of two workers on one job, the lease selects one, and it is triaged once', async () => {
    const crews = [await startCrew(), await startCrew()];
    const [first, second] = crews;
    if (first === undefined || second === undefined) throw new Error('two crews');
    for (const crew of crews) await crew.work({ takesMs: 200 });
    // The second one is told of it through its own API, as while Redis cannot be reached from there.
    const builds = await accept(first, 4);
    await redis.kill();
    for (const { key } of await db.query<{ key: string }>(`select key from work where topic = 'triage'`))
      await second.queue.wake('triage', key);

    await expectAllDone('two workers', builds, crews);
  });

  it('T66: a stop is timely: running work ends or is released, and another process takes what is pending', async () => {
    const first = await startCrew(5);
    await first.work({ takesMs: 250 });
    const builds = await accept(first, 50);
    await expect.poll(() => first.begun.length, { timeout: 10_000, interval: 5 }).toBeGreaterThanOrEqual(5);

    const startedAt = performance.now();
    await first.stop(5000);

    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(first.ended.length).toBe(first.begun.length);
    const second = await startCrew(10);
    await second.work({ takesMs: 10 });
    await expectAllDone('stopped under load', builds, [first, second]);
  });

  it('a busy repository does not starve another: its jobs yield, and all are triaged once', async () => {
    const crew = await startCrew();
    const noisy = await accept(crew, 40);
    const quiet = [
      await crew.accept('acme/quiet'),
      await crew.accept('acme/quiet'),
      await crew.accept('acme/quiet'),
    ];
    await crew.work({ takesMs: 40 });

    await expectAllDone('noisy and quiet', [...noisy, ...quiet], [crew]);

    // In turns, so among the first: without turns they would be the last three.
    const places = quiet.map(({ buildId }) => crew.begun.indexOf(buildId) + 1);
    expect(Math.max(...places)).toBeLessThanOrEqual(10);
  });
});
