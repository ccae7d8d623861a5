import type {
  CheckRunCompletedEvent,
  WorkflowJobCompletedEvent,
  WorkflowRunCompletedEvent,
} from '@octokit/webhooks-types';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { buildHttp } from '../../../src/api/server.ts';
import {
  type CheckRunEvent,
  readGithubEvent,
  type WorkflowJobEvent,
  type WorkflowRunEvent,
} from '../../../src/providers/github/webhook.ts';
import { clearState, createFakeHttpDeps, type FakeState, waitForRelay } from '../../support/fake-stores.ts';
import { createGithubExample, type GithubSending, sendGithub } from '../../support/webhook-senders.ts';

const published = {
  workflowRun: (event: WorkflowRunCompletedEvent): z.input<typeof WorkflowRunEvent> => event,
  workflowJob: (event: WorkflowJobCompletedEvent): z.input<typeof WorkflowJobEvent> => event,
  checkRun: (event: CheckRunCompletedEvent): z.input<typeof CheckRunEvent> => event,
};

// The compiler checks the assignments above.
test('the schemas accept the published types', () => expect(Object.keys(published)).toHaveLength(3));

let app: FastifyInstance;
let state: FakeState;
beforeAll(async () => {
  const fake = createFakeHttpDeps();
  state = fake.state;
  app = await buildHttp(fake.deps);
});
beforeEach(() => clearState(state));
afterAll(() => app.close());

/** Sends a delivery, and waits until it is processed. */
async function send(sending: GithubSending) {
  const answer = await sendGithub(app, sending);
  await waitForRelay(state);
  return answer;
}

const failedRun = createGithubExample(
  'workflow_run',
  'completed',
  { workflow_run: { conclusion: 'failure' } },
  1,
);
const actionsCheck = {
  conclusion: 'failure',
  details_url: 'https://github.com/octo-org/octo-repo/actions/runs/289782451/job/99001',
};

test('a deployment is stored, but not as a build', () => {
  const reading = readGithubEvent('deployment_status', createGithubExample('deployment_status', 'created'));
  const deployment = {
    repository: 'Codertocat/Hello-World',
    environment: 'production',
    version: 'master',
    url: null,
  };
  expect(reading).toEqual({
    ignored: expect.stringContaining('the deployment is kept'),
    deployment: { ...deployment, at: '2019-05-15T15:20:55.000Z' },
  });
});

test('a job is stored with its waiting time', () => {
  const job = createGithubExample('workflow_job', 'completed', { workflow_job: { conclusion: 'failure' } });
  expect(readGithubEvent('workflow_job', job)).toMatchObject({ build: { queuedSeconds: 60 } });
});

describe('an event of GitHub that becomes a build', () => {
  test('stores a failed run, requests its triage, and notifies a worker', async () => {
    const answer = await send({ event: 'workflow_run', payload: failedRun });

    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toEqual({
      deliveryId: 'd1a7c4f0-0000-4000-8000-000000000001',
      links: { delivery: '/api/deliveries/github/d1a7c4f0-0000-4000-8000-000000000001' },
    });
    expect(state.builds[0]).toMatchObject({
      provider: 'github',
      repository: 'octo-org/octo-repo',
      pipeline: 'test',
      number: '163',
      attempt: 1,
      externalId: '289782451',
      status: 'failed',
      branch: 'master',
      startedAt: '2020-10-05T16:33:49.000Z',
    });
    expect(state.enqueued).toEqual(['bld_1']);
    expect(state.deliveries).toHaveLength(1);
  });

  test('requests templates for a passed run, unless a fork ran it', async () => {
    const run = { conclusion: 'success' };
    await send({
      event: 'workflow_run',
      payload: createGithubExample('workflow_run', 'completed', { workflow_run: run }, 1),
    });
    const forked = { ...run, id: 77, run_number: 164, head_repository: { full_name: 'somebody/octo-repo' } };
    const payload = createGithubExample('workflow_run', 'completed', { workflow_run: forked }, 1);
    await send({ event: 'workflow_run', payload, delivery: 'd1a7c4f0-0000-4000-8000-000000000002' });

    expect(state.builds.map(({ status }) => status)).toEqual(['passed', 'passed']);
    expect([...state.passingBuilds]).toEqual(['bld_1']);
    expect(state.defaultBranches.get('github octo-org/octo-repo')).toBe('master');
    expect(state.enqueued).toEqual([]);
  });

  test("stores the branch of a fork with its owner's name, so that its main is not taken for ours", async () => {
    const forked = {
      conclusion: 'failure',
      head_branch: 'master',
      head_repository: { full_name: 'somebody/octo-repo' },
    };
    await send({
      event: 'workflow_run',
      payload: createGithubExample('workflow_run', 'completed', { workflow_run: forked }, 1),
    });
    expect(state.builds[0]).toMatchObject({ repository: 'octo-org/octo-repo', branch: 'somebody:master' });
  });

  test.each([
    ['a job', 'workflow_job', { workflow_job: { head_branch: 'master' } }],
    ['a check', 'check_run', { check_run: { ...actionsCheck, check_suite: { head_branch: 'master' } } }],
  ] as const)(
    "stores no branch for %s if that has the name of our default branch, because it may be a fork's",
    async (_of, event, override) => {
      await send({ event, payload: createGithubExample(event, 'completed', override) });
      expect(state.builds[0]).toMatchObject({ branch: null });
    },
  );

  test("stores a job's branch if it differs from our default branch", async () => {
    await send({
      event: 'workflow_job',
      payload: createGithubExample('workflow_job', 'completed', {
        workflow_job: { head_branch: 'remedy-cart' },
      }),
    });
    expect(state.builds[0]?.branch).toBe('remedy-cart');
  });

  test.each(['failure', 'timed_out', 'startup_failure'])(
    'treats a run that ended as %s as failed',
    async (conclusion) => {
      await send({
        event: 'workflow_run',
        payload: createGithubExample('workflow_run', 'completed', { workflow_run: { conclusion } }, 1),
      });

      expect(state.jobs).toHaveLength(1);
    },
  );

  test('stores a passed run without a triage request', async () => {
    const answer = await send({
      event: 'workflow_run',
      payload: createGithubExample('workflow_run', 'completed', {}, 1),
    });

    expect(answer.statusCode).toBe(202);
    expect(state.builds[0]?.status).toBe('passed');
    expect(state.jobs).toEqual([]);
  });

  test('makes a build of its run from a failed job and a failed check of Actions', async () => {
    await send({
      event: 'workflow_job',
      payload: createGithubExample('workflow_job', 'completed'),
      delivery: 'd-1',
    });
    await send({
      event: 'check_run',
      payload: createGithubExample('check_run', 'completed', { check_run: actionsCheck }),
      delivery: 'd-2',
    });

    expect(state.builds.map(({ externalId, pipeline, job }) => ({ externalId, pipeline, job }))).toEqual([
      { externalId: '2202229078', pipeline: 'CodeQL', job: 'linters' },
      { externalId: '289782451', pipeline: 'Octocoders-linter', job: 'Octocoders-linter' },
    ]);
  });
});

describe('an event that describes no ended build is ignored, with a reason', () => {
  test.each([
    ['ping', { zen: 'Keep it logically awesome.', hook_id: 1 }, 'ping'],
    ['push', { ref: 'refs/heads/main' }, 'push events do not describe a build'],
    ['no_such_event', {}, 'no_such_event events do not describe'],
    ['workflow_run', createGithubExample('workflow_run', 'requested'), 'has not ended'],
    ['workflow_job', createGithubExample('workflow_job', 'queued'), 'has not ended'],
    ['check_run', createGithubExample('check_run', 'created'), 'has not ended'],
    ['workflow_job', createGithubExample('workflow_job', 'completed', {}, 1), 'only failed ones are read'],
    ['check_run', createGithubExample('check_run', 'completed'), 'not a job of GitHub Actions'],
    ...['cancelled', 'skipped', 'neutral', 'stale', 'action_required'].map(
      (conclusion) =>
        [
          'workflow_run',
          createGithubExample('workflow_run', 'completed', { workflow_run: { conclusion } }, 1),
          `ended as ${conclusion}`,
        ] as const,
    ),
  ] as const)('%s', async (event, payload, reason) => {
    const answer = await send({ event, payload });

    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toEqual({ ignored: expect.stringContaining(reason) });
    expect(state.builds).toEqual([]);
    expect(state.log.some((line) => line.message === 'delivery ignored' && line.fields.event === event)).toBe(
      true,
    );
  });
});

describe('one run, delivered in several forms, becomes one build (T09)', () => {
  const repository = { full_name: 'octo-org/octo-repo' };
  const messages = {
    run: { event: 'workflow_run', payload: failedRun, delivery: 'd-run' },
    job: {
      event: 'workflow_job',
      payload: createGithubExample('workflow_job', 'completed', {
        repository,
        workflow_job: { run_id: 289782451, workflow_name: 'test' },
      }),
      delivery: 'd-job',
    },
    check: {
      event: 'check_run',
      payload: createGithubExample('check_run', 'completed', { repository, check_run: actionsCheck }),
      delivery: 'd-check',
    },
  };

  test.each([
    [['run', 'job', 'check']],
    [['job', 'run', 'check']],
    [['check', 'job', 'run']],
    [['check', 'run', 'job']],
  ] as const)('in the order %s', async (order) => {
    for (const name of order) await send(messages[name]);

    expect(state.deliveries.map(({ buildId }) => buildId)).toEqual(['bld_1', 'bld_1', 'bld_1']);
    expect(state.builds).toHaveLength(1);
    expect(state.builds[0]).toMatchObject({ pipeline: 'test', number: '163' });
    expect(state.jobs).toHaveLength(1);
  });
});

describe('further failures of one run', () => {
  const repository = { full_name: 'octo-org/octo-repo' };
  const createJob = (id: number, delivery: string) => ({
    event: 'workflow_job',
    payload: createGithubExample('workflow_job', 'completed', {
      repository,
      workflow_job: { id, run_id: 289782451, workflow_name: 'test' },
    }),
    delivery,
  });
  const createCheckRun = (jobId: number, delivery: string) => ({
    event: 'check_run',
    payload: createGithubExample('check_run', 'completed', {
      repository,
      check_run: {
        conclusion: 'failure',
        details_url: `https://github.com/octo-org/octo-repo/actions/runs/289782451/job/${jobId}`,
      },
    }),
    delivery,
  });
  const run = (delivery: string) => ({ event: 'workflow_run', payload: failedRun, delivery });
  const countRequestsAfter = async (...sendings: readonly Parameters<typeof sendGithub>[1][]) => {
    const requests = [];
    for (const sending of sendings) {
      expect((await send(sending)).statusCode).toBe(202);
      requests.push(state.jobs[0]?.requested);
    }
    expect(state.enqueued).toHaveLength(requests.at(-1) ?? 0);
    expect(new Set(state.deliveries.map(({ buildId }) => buildId))).toEqual(new Set(['bld_1']));
    return requests;
  };

  test('each further failed job, and the end of the run, request another triage of the build', async () => {
    expect(
      await countRequestsAfter(
        createJob(1, 'd-1'),
        createJob(2, 'd-2'),
        createCheckRun(3, 'd-3'),
        run('d-4'),
      ),
    ).toEqual([1, 2, 3, 4]);
  });

  test('a repeated job, the check of a known job, and jobs of an ended run request no triage', async () => {
    expect(
      await countRequestsAfter(
        createJob(1, 'd-1'),
        createCheckRun(1, 'd-2'),
        createJob(1, 'd-3'),
        run('d-4'),
        createJob(2, 'd-5'),
        createCheckRun(3, 'd-6'),
      ),
    ).toEqual([1, 1, 1, 2, 2, 2]);
  });
});

describe('a repeated delivery', () => {
  test('changes nothing, and its response links to the build', async () => {
    const first = await send({ event: 'workflow_run', payload: failedRun });
    const second = await send({ event: 'workflow_run', payload: failedRun });

    expect(second.statusCode).toBe(202);
    expect(second.json()).toMatchObject({
      ...first.json(),
      links: { build: '/api/builds/bld_1', analyses: '/api/builds/bld_1/analyses' },
    });
    expect([state.deliveries.length, state.builds.length, state.enqueued.length]).toEqual([1, 1, 1]);
  });

  test('with a different body is refused and logged (T07)', async () => {
    await send({ event: 'workflow_run', payload: failedRun });
    const other = createGithubExample(
      'workflow_run',
      'completed',
      { workflow_run: { conclusion: 'failure', run_number: 164, id: 2 } },
      1,
    );
    const answer = await send({ event: 'workflow_run', payload: other });

    expect(answer.statusCode).toBe(409);
    expect(state.builds).toHaveLength(1);
    expect(
      state.log.some((line) => line.message === 'request refused' && line.fields.code === 'conflict'),
    ).toBe(true);
  });

  test('that is a new attempt becomes another build', async () => {
    await send({ event: 'workflow_run', payload: failedRun, delivery: 'd-1' });
    const again = createGithubExample(
      'workflow_run',
      'completed',
      { workflow_run: { conclusion: 'failure', run_attempt: 2 } },
      1,
    );
    await send({ event: 'workflow_run', payload: again, delivery: 'd-2' });

    expect(state.builds.map((build) => build.attempt)).toEqual([1, 2]);
  });
});
