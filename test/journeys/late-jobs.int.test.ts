import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Analysis } from '../../src/domain/analysis.ts';
import { Review } from '../../src/domain/review.ts';
import { readCapturedFailure } from '../support/captured-failures.ts';
import { createGithubJob, type GithubApi, startGithubApi } from '../support/github-api.ts';
import { type InstalledDatabase, installDatabase } from '../support/installed-database.ts';
import { sendJson } from '../support/loopback-server.ts';
import { readRecordedBuild } from '../support/recorded-build.ts';
import { type Service, startService, TOKEN } from '../support/service.ts';
import { createGithubExample, signForGithub } from '../support/webhook-senders.ts';

const SECRET = 'a-webhook-secret-for-the-journey';
const REPOSITORY = { full_name: 'octo-org/octo-repo' };
const Found = z.object({
  triage: z.object({ state: z.string(), attempts: z.int() }),
  analyses: z.array(Analysis),
});

const units = readCapturedFailure('tax-band-boundary');
const types = readCapturedFailure('checkout-type-error');

let folder = '';
let installed: InstalledDatabase;
let github: GithubApi;
let service: Service;
let deliveries = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-late-'));
  installed = await installDatabase(folder);
  github = await startGithubApi();
  service = await startService(folder, {
    ...installed.environment,
    FAULTLINE_GITHUB_WEBHOOK_SECRET: SECRET,
    FAULTLINE_GITHUB_URL: github.url,
    FAULTLINE_GITHUB_TOKEN: 'ghs_of-the-journey',
    // Nothing is sure enough to go out without a person: each analysis opens a review.
    FAULTLINE_AUTO_NOTIFY: '1',
  });
});
afterAll(async () => {
  service.process.kill('SIGKILL');
  await github.close();
  await rm(folder, { recursive: true, force: true });
});

interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly body: string;
}

function createDelivery(event: string, payload: object): Delivery {
  deliveries += 1;
  return {
    id: `00000000-0000-4000-8000-${String(deliveries).padStart(12, '0')}`,
    event,
    body: JSON.stringify(payload),
  };
}

/** A job of the run ends in failure: GitHub has its log now, and says so. */
function failJob(runId: number, id: number, name: string, log: string, attempt = 1): Delivery {
  github.state.jobs = [...github.state.jobs.filter((job) => job.id !== id), createGithubJob({ id, name })];
  github.state.stored.set(`/jobs/${id}/logs`, log);
  const job = {
    id,
    name,
    run_id: runId,
    run_attempt: attempt,
    workflow_name: 'ci',
    conclusion: 'failure',
    status: 'completed',
  };
  return createDelivery(
    'workflow_job',
    createGithubExample('workflow_job', 'completed', { repository: REPOSITORY, workflow_job: job }),
  );
}

function endRun(runId: number, conclusion: 'failure' | 'success' = 'failure', attempt = 1): Delivery {
  const run = { id: runId, run_number: runId - 9000, run_attempt: attempt, conclusion, status: 'completed' };
  const changes = { repository: REPOSITORY, workflow: { name: 'ci' }, workflow_run: run };
  return createDelivery('workflow_run', createGithubExample('workflow_run', 'completed', changes, 1));
}

async function send({ id, event, body }: Delivery): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': id,
    'x-hub-signature-256': signForGithub(body, SECRET),
  };
  const response = await fetch(`${service.address}/webhooks/github`, { method: 'POST', headers, body });
  expect(response.status).toBe(202);
  return response;
}

async function deliver(sending: Delivery): Promise<string> {
  await send(sending);
  return await readRecordedBuild(service.address, TOKEN, { source: 'github', id: sending.id });
}

async function get<Value>(path: string, schema: z.ZodType<Value>): Promise<Value> {
  const response = await fetch(service.address + path, { headers: { authorization: `Bearer ${TOKEN}` } });
  return schema.parse(await response.json());
}

async function waitUntil<Value>(
  look: () => Promise<Value>,
  holds: (value: Value) => boolean,
): Promise<Value> {
  for (let tries = 0; tries < 300; tries++) {
    const value = await look();
    if (holds(value)) return value;
    await sleep(100);
  }
  throw new Error(`it never came to that: ${service.errors()}`);
}

/** What was found for a build once nothing is pending to it. */
async function listAnalysesFor(buildId: string): Promise<Analysis[]> {
  const look = () => get(`/api/builds/${buildId}/analyses`, Found);
  const { triage, analyses } = await waitUntil(
    look,
    (found) => found.triage.state === 'done' || found.triage.state === 'failed',
  );
  expect(triage.state, service.errors()).toBe('done');
  expect(triage.attempts).toBe(1);
  return analyses;
}

async function listReviews(buildId: string): Promise<Review[]> {
  const { items } = await get('/api/reviews?limit=200', z.object({ items: z.array(Review) }));
  return items.filter((review) => review.buildId === buildId);
}

describe('a run whose jobs fail one after the other', () => {
  let buildId = '';
  let first: Analysis | undefined;
  const sent: Delivery[] = [];
  const sendNew = (sending: Delivery) => {
    sent.push(sending);
    return deliver(sending);
  };

  it('is answered when its first job fails, while the run continues', async () => {
    buildId = await sendNew(failJob(9001, 1, 'units', units.log));

    const analyses = await listAnalysesFor(buildId);

    expect(analyses).toMatchObject([{ category: units.category }]);
    first = analyses[0];
  });

  it('gets a second answer when another job fails, even if GitHub no longer has the first log', async () => {
    github.state.stored.delete('/jobs/1/logs');
    expect(await sendNew(failJob(9001, 2, 'types', types.log))).toBe(buildId);

    const analyses = await listAnalysesFor(buildId);

    expect(analyses).toHaveLength(2);
    expect(analyses[0]).toEqual(first);
    expect(analyses[1]).toMatchObject({ category: types.category });
    expect(
      analyses[1]?.answer.claims.flatMap((claim) => claim.quotes.map((quote) => quote.source)),
    ).toContain('types.log');
  });

  it('gets no new answer when the run ends, but its number', async () => {
    const before = await listAnalysesFor(buildId);
    expect(await sendNew(endRun(9001))).toBe(buildId);

    expect(await listAnalysesFor(buildId)).toEqual(before);
    expect(await listAnalysesFor('github:1')).toEqual(before);
  });

  it('gets no new answer from repeated deliveries, or from a job delivered after the end', async () => {
    const before = await listAnalysesFor(buildId);
    const asked = github.api.requests.length;
    for (const sending of sent) expect(await deliver(sending)).toBe(buildId);
    expect(await deliver(failJob(9001, 2, 'types', types.log))).toBe(buildId);

    expect(await listAnalysesFor(buildId)).toEqual(before);
    expect(github.api.requests).toHaveLength(asked);
    expect(before).toHaveLength(2);
    expect(new Set((await listReviews(buildId)).map((review) => review.analysisId))).toEqual(
      new Set(before.map(({ id }) => id)),
    );
  });

  it('becomes another build when it is rerun and passes', async () => {
    const before = await listAnalysesFor(buildId);
    const again = await deliver(endRun(9001, 'success', 2));

    expect(again).not.toBe(buildId);
    expect(await get(`/api/builds/${again}/analyses`, z.object({ triage: z.null() }))).toEqual({
      triage: null,
    });
    expect(await listAnalysesFor(buildId)).toEqual(before);
  });
});

describe('a job that fails while the first one is being read', () => {
  it('is read before the build is finished', async () => {
    github.state.jobs = [];
    const first = failJob(9002, 11, 'units', units.log);
    // GitHub is slow: the first look at the run is not answered before the second job has failed.
    let answerLate = () => undefined as unknown;
    const asked = new Promise<void>((resolve) => {
      github.state.intercept = (request, response) => {
        if (!(request.url ?? '').includes('/attempts/1/jobs')) return false;
        const jobs = [...github.state.jobs];
        github.state.intercept = null;
        answerLate = () => sendJson(response, 200, { total_count: jobs.length, jobs });
        resolve();
        return true;
      };
    });
    const buildId = await deliver(first);
    await asked;

    expect(await deliver(failJob(9002, 12, 'types', types.log))).toBe(buildId);
    answerLate();

    const analyses = await listAnalysesFor(buildId);
    expect(analyses.map(({ category }) => category).toSorted()).toEqual(
      [types.category, units.category].toSorted(),
    );
    expect(await listReviews(buildId)).toHaveLength(2);
  });
});

describe('jobs of one run that fail without a test', () => {
  it('get one answer each, even if the run is delivered at once', async () => {
    const linker = readCapturedFailure('thumbnail-link-error');
    github.state.jobs = [];
    failJob(9003, 21, 'link', linker.log);
    failJob(9003, 22, 'types', types.log);
    const buildId = await deliver(endRun(9003));

    const analyses = await listAnalysesFor(buildId);

    const quoted = analyses.map(({ answer }) => [
      ...new Set(answer.claims.flatMap(({ quotes }) => quotes.map(({ source }) => source))),
    ]);
    expect(quoted).toEqual([['link.log'], ['types.log']]);
  });
});

describe('afterwards the database', () => {
  it('contains every log, and one triage, one analysis and one review for each cause', async () => {
    expect(await service.kill('SIGTERM')).toBe(0);
    const database = await installed.open();
    const rows = await database.query(`
      select b.external_id as run, b.attempt,
        (select array_agg(name order by name) from build_sources s where s.build_id = b.id) as logs,
        (select count(*)::int from triages t where t.build_id = b.id) as triages,
        (select count(*)::int from analyses a where a.build_id = b.id) as analyses,
        (select count(*)::int from reviews r where r.build_id = b.id) as reviews
      from builds b order by b.external_id, b.attempt`);
    await database.close();

    const twoOfEach = { triages: 2, analyses: 2, reviews: 2 };
    expect(rows).toEqual([
      { run: '9001', attempt: 1, logs: ['types.log', 'units.log'], ...twoOfEach },
      { run: '9001', attempt: 2, logs: null, triages: 0, analyses: 0, reviews: 0 },
      { run: '9002', attempt: 1, logs: ['types.log', 'units.log'], ...twoOfEach },
      { run: '9003', attempt: 1, logs: ['link.log', 'types.log'], ...twoOfEach },
    ]);
  });
});
