import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import type { NoticeCall, NoticeChannel, NoticePublisher } from '../../src/channels/channel.ts';
import type { Build } from '../../src/domain/build.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { createProviders } from '../../src/providers/registry.ts';
import { callTo, createChannelParts, send } from '../channels/sending.ts';
import { createCause, createHead, createSituation } from '../notifications/sample-situation.ts';
import { createFakeHttpDeps, type FakeState, waitForRelay } from '../support/fake-stores.ts';
import { TEST_CONFIG, withSecrets } from '../support/http-deps.ts';
import { sampleBuild } from '../support/sample-build.ts';
import { COMMIT, type Host, OURS, type ProviderWorld, type Sent, startHost } from './contract.ts';
import { WORLDS } from './worlds/all.ts';

const SECRET = 'contract-secret-one';
let signal: AbortSignal;
beforeEach(() => {
  signal = AbortSignal.timeout(60_000);
});

describe.each(WORLDS)('the provider $name', (world: ProviderWorld) => {
  let host: Host;
  let provider: Provider;
  beforeEach(async () => {
    host = await startHost(world);
    provider = world.open(host.url, SECRET);
  });
  afterEach(() => host.close());

  const failed: Sent = { of: 'run', status: 'failed' };
  const has = (what: ProviderWorld['lacks'][number]) => !world.lacks.includes(what);
  /** A test of what this provider offers; none is registered, and so none is skipped, where it does not. */
  const createTest = (what: ProviderWorld['lacks'][number], title: string, body: () => Promise<void>) => {
    if (has(what)) test(title, body);
  };

  describe('a delivery', () => {
    let app: FastifyInstance;
    let state: FakeState;
    beforeEach(async () => {
      const fake = createFakeHttpDeps();
      state = fake.state;
      app = await buildHttp({
        ...fake.deps,
        config: { ...TEST_CONFIG, providers: withSecrets({ [world.name]: [SECRET] }) },
      });
    });
    afterEach(() => app.close());

    async function send(sent: Sent, secret: string | null = SECRET, deliveryId = 'd-1') {
      const delivery = world.deliver(sent, secret, deliveryId);
      if (delivery === null) return null;
      const answer = await app.inject({ method: 'POST', url: `/webhooks/${world.name}`, ...delivery });
      if (answer.statusCode === 202) await waitForRelay(state);
      return answer;
    }

    test('of a failed run becomes a build whose triage is requested', async () => {
      expect((await send(failed))?.statusCode).toBe(202);
      const expected = { provider: world.name, ...world.build, status: 'failed', commit: COMMIT };
      const { externalId, ...known } = expected;
      expect(state.builds).toMatchObject([externalId === null ? known : expected]);
      expect(state.enqueued).toHaveLength(1);
    });

    test('of a passed run is stored, and requests no triage', async () => {
      expect((await send({ of: 'run', status: 'passed' }))?.statusCode).toBe(202);
      expect(state.builds).toMatchObject([{ status: 'passed' }]);
      expect(state.enqueued).toEqual([]);
    });

    test('with a wrong or missing signature is refused and not stored', async () => {
      for (const secret of ['another-secret-two', null]) {
        const answer = await send(failed, secret);
        expect(answer?.statusCode).toBe(401);
        expect(answer?.json().error.message).not.toContain(SECRET);
      }
      expect(state.deliveries).toEqual([]);
    });

    test('of an unknown kind, or of a run that continues, is acknowledged and ignored with a reason', async () => {
      for (const sent of [{ of: 'unknown' }, { of: 'run', status: 'running' }] satisfies Sent[]) {
        const answer = await send(sent);
        if (answer === null) continue;
        expect([answer.statusCode, typeof answer.json().ignored]).toEqual([202, 'string']);
      }
      expect(state.deliveries).toEqual([]);
    });

    test('with missing fields is refused with their names', async () => {
      const answer = await send({ of: 'half' });
      expect(answer?.statusCode).toBe(400);
      expect(answer?.json().error.code).toBe('invalid-input');
      expect(state.deliveries).toEqual([]);
    });

    test('that arrives twice counts once', async () => {
      await send(failed);
      expect((await send(failed))?.statusCode).toBe(202);
      expect(state.deliveries).toHaveLength(1);
    });

    createTest('jobs', 'of a job and then of its run are one build, in any order', async () => {
      const job: Sent = { of: 'job' };
      await send(job, SECRET, 'd-job');
      await send(failed, SECRET, 'd-run');
      expect(state.builds).toMatchObject([{ ...world.build, status: 'failed' }]);
      await send({ of: 'run', status: 'failed', attempt: 2 }, SECRET, 'd-run-2');
      await send({ of: 'job', attempt: 2 }, SECRET, 'd-job-2');
      expect(state.builds.map(({ pipeline, number }) => [pipeline, number])).toEqual(
        has('attempts')
          ? Array(2).fill([world.build.pipeline, world.build.number])
          : [[world.build.pipeline, world.build.number]],
      );
    });

    createTest('attempts', 'of a second attempt is a build of its own', async () => {
      await send(failed, SECRET, 'd-1');
      await send({ of: 'run', status: 'passed', attempt: 2 }, SECRET, 'd-2');
      expect(state.builds).toMatchObject([
        { number: world.build.number, attempt: 1, status: 'failed' },
        { number: world.build.number, attempt: 2, status: 'passed' },
      ]);
    });

    createTest('forks', 'of a fork does not pass for our branch of that name', async () => {
      await send({ of: 'run', status: 'passed', fork: true });
      expect(state.builds[0]?.branch).not.toBe('round');
      expect(state.builds[0]?.pullRequest).toBe(7);
    });
  });

  describe('the log of a run', () => {
    const build = (change: Partial<Build> = {}) =>
      sampleBuild({
        provider: world.name,
        ...world.build,
        url: `${host.url}/job/ci/12/`,
        commit: COMMIT,
        ...change,
      });
    const fetch = async (change: Partial<Build> = {}, limits = {}) => {
      const source = await provider.openBuildSource({
        logger: silentLogger,
        timeoutMs: 20_000,
        maxLogBytes: 1024 * 1024,
        ...limits,
      });
      return source.fetch(build(change), signal);
    };

    test('is read with the token, for its failed jobs only', async () => {
      const { sources } = await fetch();
      expect(sources.map(({ kind, text }) => [kind, text])).toEqual([
        ['log', expect.stringMatching(/^(?:====>> .*\n)?FAIL cart adds up\n$/)],
      ]);
      expect(
        host.requests.some(({ headers }) =>
          Object.values(headers).some((value) => /contract|Basic/.test(String(value))),
        ),
      ).toBe(true);
    });

    test('that is gone is reported as a final error', async () => {
      for (const status of [404, 410]) {
        host.state.log = { status };
        await expect(fetch()).rejects.toMatchObject({ code: 'not-found', retryable: false });
      }
    });

    test('that the token may not read names the missing permission', async () => {
      host.state.log = { status: 403 };
      const message = expect.stringMatching(/FAULTLINE_[A-Z]+_TOKEN/);
      await expect(fetch()).rejects.toMatchObject({ code: 'upstream-auth', retryable: false, message });
    });

    test('is requested later if the host limits the rate', async () => {
      host.state.log = { status: 429, headers: { 'retry-after': '120' } };
      await expect(fetch()).rejects.toMatchObject({ code: 'upstream-failed', retryable: true });
    });

    test('above the size limit is not read to its end', async () => {
      host.state.log = 'x'.repeat(300_000);
      await expect(fetch({}, { maxLogBytes: 100_000 })).rejects.toMatchObject({ code: 'too-large' });
    });

    test('that does not arrive is awaited only up to the time limit', async () => {
      host.state.log = 'slow';
      await expect(fetch({}, { timeoutMs: 300 })).rejects.toMatchObject({ code: 'timeout', retryable: true });
      const stop = AbortSignal.timeout(200);
      const source = await provider.openBuildSource({
        logger: silentLogger,
        timeoutMs: 20_000,
        maxLogBytes: 1024,
      });
      await expect(source.fetch(build(), stop)).rejects.toMatchObject({ code: 'cancelled' });
    });

    test('of a deleted run is gone', async () => {
      host.state.jobs = null;
      await expect(fetch()).rejects.toMatchObject({ code: 'not-found', retryable: false });
    });

    createTest('attempts', 'is that of the attempt', async () => {
      host.state.jobs = [
        { id: 2, name: 'test', outcome: 'failed', attempt: 1 },
        { id: 22, name: 'test', outcome: 'failed', attempt: 2 },
      ];
      host.state.log = 'by id';
      const first = await fetch({ attempt: 1, finishedAt: '2026-03-01T11:30:00.000Z' });
      const second = await fetch({ attempt: 2, finishedAt: '2026-03-01T12:30:00.000Z' });
      expect([first, second].map(({ sources }) => sources.map(({ text }) => text))).toEqual([
        [expect.stringContaining('the log of job 2\n')],
        [expect.stringContaining('the log of job 22\n')],
      ]);
    });

    test('70: has links to the page of its job', async () => {
      const urls: Partial<Record<Provider['name'], string>> = {
        azure: `https://dev.azure.com/acme/71777fbc-1cf2-4bd1-9540-128c1c71f766/_build/results?buildId=4711`,
        circleci: 'https://app.circleci.com/pipelines/gh/shop/api/12/workflows/w1',
      };
      const url = urls[world.name];
      const { sources } = await fetch(url === undefined ? {} : { url });
      expect(sources.filter(({ kind }) => kind === 'log').map((log) => log.url)).toEqual([
        world.page(host.url),
      ]);
    });

    test('of a passed run is read for comparison', async () => {
      const source = await provider.openBuildSource({
        logger: silentLogger,
        timeoutMs: 20_000,
        maxLogBytes: 1024 * 1024,
      });
      const logs = await source.fetchGreen(build({ status: 'passed' }), signal, 1024 * 1024);
      expect(logs.map(({ text }) => text)).toEqual([expect.stringContaining('FAIL cart adds up\n')]);
    });
  });

  describe('failed jobs', () => {
    const failedBuild = () =>
      sampleBuild({ provider: world.name, ...world.build, finishedAt: '2026-03-01T11:30:00.000Z' });

    createTest('reruns', '70: run again where that is asked for, once', async () => {
      await provider.rerun?.(failedBuild(), { logger: silentLogger, signal });
      expect(host.state.reruns).toEqual([world.name === 'circleci' ? { from_failed: true } : {}]);
    });

    createTest(
      'reruns',
      '70: of a run that is gone, or that the token may not touch, are refused',
      async () => {
        host.state.forbidden = /rerun|retry/;
        const refused = provider.rerun?.(failedBuild(), { logger: silentLogger, signal });
        await expect(refused).rejects.toMatchObject({ code: 'upstream-auth', retryable: false });
        host.state.forbidden = null;
        host.state.jobs = null;
        await expect(provider.rerun?.(failedBuild(), { logger: silentLogger, signal })).rejects.toMatchObject(
          {
            code: 'not-found',
          },
        );
        expect(host.state.reruns).toEqual([]);
      },
    );

    test('70: are rerun only if that is configured', () => {
      const [plain] = createProviders(withSecrets({})).filter(({ name }) => name === world.name);
      expect(plain?.rerun).toBe(null);
      expect(provider.rerun !== null).toBe(has('reruns'));
    });
  });

  describe('publishing there', () => {
    const built = (change: Partial<Build> = {}) =>
      sampleBuild({ provider: world.name, ...world.build, pullRequest: 7, commit: COMMIT, ...change });
    async function createChannel(
      kind: 'comment' | 'status',
    ): Promise<NoticeChannel & { publisher: NoticePublisher }> {
      const found = provider.channels.find(
        (noticeChannel) => noticeChannel.channel === `${world.name}-${kind}`,
      );
      if (found?.open == null) throw new Error(`no ${kind}`);
      return { ...found, publisher: await found.open(createChannelParts()) };
    }
    function createCall(noticeChannel: NoticeChannel, build: Build, reference: string | null): NoticeCall {
      const place = noticeChannel.findPlace(build, { defaultBranch: 'main' });
      if (place === null) throw new Error('no place');
      const { key, about } = place;
      return callTo({ repository: build.repository, about }, { key, reference, signal });
    }

    createTest(
      'comments',
      'is one comment, that is changed and says in the end that the failure is gone',
      async () => {
        const comment = await createChannel('comment');
        const build = built();
        expect(comment.findPlace(build, { defaultBranch: 'main' })).toMatchObject({ opens: true });
        const first = await send(
          comment.publisher,
          createSituation(createHead({ build })),
          createCall(comment, build, null),
        );
        expect(host.state.comments.map(({ body }) => /Analyzing/.test(body))).toEqual([true]);
        const reference = first?.reference ?? null;
        const answered = createSituation(createHead({ build, causes: [createCause()] }));
        await send(comment.publisher, answered, createCall(comment, build, reference));
        const green = built({ id: 'bld_2', status: 'passed', number: '13' });
        const lastFailed = { build, fixedBy: green, failures: 1, causes: [] };
        await send(
          comment.publisher,
          createSituation(createHead({ build: green, lastFailed })),
          createCall(comment, green, reference),
        );
        expect(host.state.comments).toHaveLength(1);
        expect(host.state.comments[0]?.body).toContain('is fixed in');
      },
    );

    createTest('comments', '70: has an address', async () => {
      const rule = provider.channels.find(
        (noticeChannel) => noticeChannel.channel === `${world.name}-comment`,
      );
      expect(rule?.getPageAddress?.(built(), '9')).toMatch(
        /^http:\/\/[^ ]+\/shop\/api\/(?:pull\/7#issuecomment-9|pulls\/7#issuecomment-9|-\/merge_requests\/7#note_9)$/,
      );
    });

    createTest('comments', 'is found again by its marker and its author', async () => {
      const comment = await createChannel('comment');
      const build = built();
      const { reference = null } =
        (await send(
          comment.publisher,
          createSituation(createHead({ build })),
          createCall(comment, build, null),
        )) ?? {};
      const [ours] = host.state.comments;
      host.state.comments.unshift({ id: 9, body: ours?.body ?? '', author: 'mallory' });
      expect(await comment.publisher.find?.(createCall(comment, build, null))).toEqual({ reference });
      expect(ours?.author).toBe(OURS);
    });

    createTest('comments', 'is made anew where somebody deleted it', async () => {
      const comment = await createChannel('comment');
      const known = createSituation(createHead({ build: built() }));
      await expect(
        send(comment.publisher, known, createCall(comment, built(), '4242')),
      ).rejects.toMatchObject({
        code: 'not-found',
      });
    });

    createTest('statuses', 'is the status of its commit', async () => {
      const status = await createChannel('status');
      const build = built();
      await send(
        status.publisher,
        createSituation(createHead({ build, causes: [createCause()] })),
        createCall(status, build, null),
      );
      expect(host.state.statuses).toHaveLength(1);
      expect(host.state.statuses[0]?.state).toMatch(/^fail/);
    });

    test('ignores builds of other hosts', () => {
      const others = world.name === 'github' ? 'gitea' : 'github';
      for (const rule of provider.channels)
        expect(
          rule.findPlace(built({ provider: others, url: 'https://elsewhere.example/1' }), {
            defaultBranch: 'main',
          }),
        ).toBeNull();
    });
  });

  test('has its secrets masked', () => {
    expect(provider.secrets).toContain(SECRET);
    expect(provider.secrets).toHaveLength(2);
  });

  test('reports what is wrong with its address or token', async () => {
    const findings = await Promise.all(provider.checks([]).map(({ ask }) => ask(signal)));
    for (const finding of findings.flat())
      if (finding.state === 'wrong') expect(finding.remedy).toMatch(/FAULTLINE_/);
  });
});
