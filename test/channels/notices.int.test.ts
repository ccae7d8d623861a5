import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createNoticeHandler } from '../../src/channels/handlers.ts';
import type { Analysis } from '../../src/domain/analysis.ts';
import type { Build, NewBuild } from '../../src/domain/build.ts';
import { createId } from '../../src/domain/ids.ts';
import type { WorkItem } from '../../src/domain/work.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { createNoticeLinks } from '../../src/notifications/notice-words.ts';
import { renderComment } from '../../src/notifications/render-comment.ts';
import type { Logger } from '../../src/ports/telemetry.ts';
import { createGithubCommentClient } from '../../src/providers/github/notices.ts';
import { createCommentRule } from '../../src/providers/notice-rules.ts';
import { createStores, type Stores } from '../../src/stores/stores.ts';
import { startWorker, type Worker, type WorkerDeps } from '../../src/work/worker.ts';
import { sampleAnalysis, sampleBuild, sampleDecision, sampleGroup, sampleReview } from '../stores/samples.ts';
import { createFakeGithub, type FakeGithub } from '../support/fake-github.ts';
import { type GithubApi, startGithubApi } from '../support/github-api.ts';
import { createRecordingLogger, type LogLine } from '../support/http-deps.ts';
import { sendJson } from '../support/loopback-server.ts';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';

const GITHUB_COMMENT = createCommentRule({ channel: 'github-comment', isOfOurs: () => true });

let db: TestDatabase;
let stores: Stores;
beforeAll(async () => {
  db = await openTestDatabase();
  stores = createStores(db, systemClock, undefined, [GITHUB_COMMENT]);
});
afterAll(async () => db.dispose());

let client: FakeGithub;
let github: GithubApi;
let workers: Worker[];
let log: LogLine[];
let repository: string;
beforeEach(async () => {
  client = createFakeGithub();
  github = await startGithubApi({ client });
  workers = [];
  log = [];
  repository = `shop/${createId('bld').replaceAll('_', '-')}`;
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await db.query('update work set settled = version');
  await github.close();
});

function keep({
  timeLimitMs = 2_000,
  pauseMs = 0,
  ...change
}: Partial<WorkerDeps> & { timeLimitMs?: number; pauseMs?: number } = {}) {
  const logger: Logger = createRecordingLogger(log);
  const client = createGithubCommentClient({
    baseUrl: github.url,
    token: 'ghp_x',
    logger,
    retryUnitMs: 1,
    unpaced: true,
  });
  const render = (situation: Parameters<typeof renderComment>[0]) =>
    renderComment(situation, createNoticeLinks('https://fl.example'));
  const handler = createNoticeHandler(
    GITHUB_COMMENT.channel,
    { ...client, render },
    {
      ...stores,
      timeLimitMs,
      pauseMs,
    },
  );
  const worker = startWorker({
    work: stores.work,
    handlers: [handler],
    masker: createMasker(),
    logger,
    intervalMs: 40,
    ...change,
  });
  workers.push(worker);
  return worker;
}

async function build(change: Partial<NewBuild> = {}): Promise<Build> {
  const commit = 'a41f9c2d00000000000000000000000000000000';
  const known = {
    repository,
    pipeline: 'ci',
    number: '812',
    branch: 'fix/tax',
    pullRequest: 7,
    commit,
    ...change,
  };
  return (await stores.builds.upsert(sampleBuild(known))).build;
}

async function changeAndSettle(of: Build, delayMs = 0): Promise<WorkItem> {
  await stores.notices.changed({ buildId: of.id, delayMs });
  return await waitForEnd();
}

const comment = async () => await stores.work.find('notice:github-comment', `github-comment:${repository}#7`);

/** When all that is wanted is shown. */
async function waitForEnd(): Promise<WorkItem> {
  for (let tries = 0; tries < 300; tries++) {
    const notice = await comment();
    if (notice !== null && notice.settled === notice.version) return notice;
    await sleep(20);
  }
  throw new Error(`it was never shown: ${JSON.stringify([await comment(), log])}`);
}

async function answer(of: Build, fingerprint: string, change: Partial<Analysis> = {}): Promise<Analysis> {
  await stores.failures.saveGroups(of.id, [sampleGroup(of.id, fingerprint)]);
  const triage = await stores.triages.open(of.id, fingerprint);
  const { analysis } = await stores.analyses.insertOnce(
    sampleAnalysis({ buildId: of.id, triageId: triage.id, fingerprint }, change),
  );
  await db.transaction((sql) => stores.triages.conclude(triage.id, analysis.id, sql));
  return analysis;
}

describe('the comment on a pull request', () => {
  it('UX 47: is one comment over fifty builds, and is updated only if its text changed', async () => {
    keep();
    for (let number = 1; number <= 50; number++) {
      const isLast = number === 50;
      const one = await build({
        number: `${number}`,
        status: isLast || number % 10 === 0 ? 'passed' : 'failed',
      });
      if (one.status === 'failed') await answer(one, `f${number % 3}`);
      await stores.notices.changed({ buildId: one.id, delayMs: 0 });
      if (number % 7 === 0) await waitForEnd();
    }
    const notice = await waitForEnd();
    expect(client.comments).toHaveLength(1);
    expect(client.writes.filter((write) => write === 'POST comment')).toHaveLength(1);
    expect(client.comments[0]?.body).toContain('fixed in `ci #50`');
    expect(notice.result?.reference).toBe(String(client.comments[0]?.id));

    const calls = github.api.requests.length;
    const green = await build({ number: '51', status: 'passed' });
    for (let again = 0; again < 5; again++) await changeAndSettle(green);
    expect(github.api.requests.length - calls, 'calls while nothing changed').toBe(0);
    console.info(
      `50 builds: ${client.comments.length} comment, ${client.writes.length - 1} edits; 5 changes without news: 0 calls`,
    );
  });

  it('is not created for a passed build', async () => {
    keep();
    const green = await build({ status: 'passed' });
    await stores.notices.changed({ buildId: green.id, delayMs: 0 });
    await sleep(150);
    expect(await comment()).toBeNull();
    expect(github.api.requests).toEqual([]);
  });

  it('reports the triage, the answer, who confirmed it, and when everything is fixed', async () => {
    keep();
    const one = await build();
    await changeAndSettle(one);
    expect(client.comments[0]?.body).toContain('**Analyzing why `ci #812` failed** (commit a41f9c2).');
    const analysis = await answer(one, 'f00d');
    const review = await stores.reviews.open(sampleReview(analysis, { repository }));
    await changeAndSettle(one);
    expect(client.comments[0]?.body).toContain('Faultline is not sure why (80 %). The answer needs review.');
    await stores.reviews.decide(review.id, review.version, sampleDecision(review, { reviewer: 'grace' }));
    await changeAndSettle(one);
    expect(client.comments[0]?.body).toContain('confirmed by grace');
    await changeAndSettle(await build({ number: '813', status: 'passed' }));
    expect(client.comments[0]?.body).toContain('**The failure of `ci #812` is fixed in `ci #813`.**');
    expect(client.writes).toEqual(['POST comment', 'PATCH comment', 'PATCH comment', 'PATCH comment']);
  });

  it('never shows a decision that is undone within its delay', async () => {
    keep();
    const one = await build();
    const review = await stores.reviews.open(sampleReview(await answer(one, 'f00d'), { repository }));
    await changeAndSettle(one);
    const before = client.comments[0]?.body;
    const decided = await stores.reviews.decide(
      review.id,
      review.version,
      sampleDecision(review, { reviewer: 'grace' }),
    );
    await stores.notices.changed({ buildId: one.id, delayMs: 700 });
    // Something else happens meanwhile, which could be shown at once.
    await stores.notices.changed({ buildId: one.id, delayMs: 0 });
    await sleep(300);
    expect(client.comments[0]?.body).toBe(before);
    if (decided?.decision == null) throw new Error('it was decided');
    await db.transaction(async (sql) => void (await stores.reviews.undo(decided.decision!, 'grace', sql)));
    await changeAndSettle(one);
    expect(client.comments[0]?.body).toBe(before);
    expect(client.writes).toEqual(['POST comment']);
  });

  it('UX 47: is not a comment of another author with our marker', async () => {
    const theirs = {
      id: 1,
      pullRequest: 7,
      body: `<!-- faultline:v1 repo=${repository} pr=7 -->\nspoofed`,
      login: 'mallory',
    };
    client.comments.push({ ...theirs });
    keep();
    await changeAndSettle(await build());
    expect(client.comments).toHaveLength(2);
    expect(client.comments[0]).toEqual(theirs);
    expect(client.comments[1]).toMatchObject({ login: 'faultline-bot' });
  });

  it('is found and not created again if the process died before recording it', async () => {
    let deaths = 0;
    const dying = keep({
      timeLimitMs: 100,
      failpoint: (name) => {
        if (name !== 'work-handled' || deaths++ > 0) return;
        throw new Error('the process dies');
      },
    });
    const one = await build();
    await changeAndSettle(one);
    await dying.stop();
    expect(deaths).toBeGreaterThan(0);
    expect(client.comments).toHaveLength(1);
    expect(client.writes.filter((write) => write === 'POST comment')).toHaveLength(1);
  });

  it('is created again if someone deleted it', async () => {
    keep();
    const one = await build();
    await changeAndSettle(one);
    client.comments.length = 0;
    await answer(one, 'f00d');
    await changeAndSettle(one);
    expect(client.comments).toHaveLength(1);
  });

  it('waits between two edits, and as long as GitHub asks', async () => {
    keep({ pauseMs: 60_000 });
    const one = await build();
    await changeAndSettle(one);
    await answer(one, 'f00d');
    await changeAndSettle(one);
    await answer(one, 'beef');
    await stores.notices.changed({ buildId: one.id, delayMs: 0 });
    await sleep(200);
    expect(client.writes).toEqual(['POST comment', 'PATCH comment']);
    await db.query('update work set free_at = clock_timestamp()');
    client.intercept = (_request, response) => {
      sendJson(
        response,
        403,
        { message: 'You have exceeded a secondary rate limit' },
        { 'retry-after': '3600' },
      );
      return true;
    };
    for (let tries = 0; tries < 100 && !log.some(({ level }) => level === 'warn'); tries++) await sleep(20);
    await sleep(100);
    const [row] = await db.query<{ wait: number; retries: number }>(
      `select extract(epoch from free_at - clock_timestamp())::float8 as wait, retries from work where key = $1`,
      [`github-comment:${repository}#7`],
    );
    expect(row?.wait).toBeGreaterThan(3_500);
    expect(row?.retries).toBe(1);
  });

  it('fails with a clear message if the token may not write, and is retried at the next change', async () => {
    client.intercept = (request, response) => {
      if (request.method !== 'POST') return false;
      sendJson(response, 403, { message: 'Resource not accessible by personal access token' });
      return true;
    };
    keep();
    const one = await build();
    const refused = await changeAndSettle(one);
    expect(refused).toMatchObject({ result: null, error: expect.stringContaining('write "Pull requests"') });
    expect(log.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
      'work failed permanently',
    ]);
    client.intercept = null;
    expect(await changeAndSettle(one)).toMatchObject({
      error: null,
      result: { reference: expect.any(String) },
    });
  });

  it('is kept up to date by several processes as by one', async () => {
    for (let number = 0; number < 3; number++) keep();
    const one = await build();
    await Promise.all(
      Array.from({ length: 20 }, () => stores.notices.changed({ buildId: one.id, delayMs: 0 })),
    );
    await answer(one, 'f00d');
    await changeAndSettle(one);
    expect(client.comments).toHaveLength(1);
    expect(client.writes.filter((write) => write === 'POST comment')).toHaveLength(1);
  });
});
