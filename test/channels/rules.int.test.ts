import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Messenger, Messengers } from '../../src/channels/channel.ts';
import { createMessageHandler } from '../../src/channels/handlers.ts';
import { createRuleHandlers } from '../../src/channels/match-rules.ts';
import type { News } from '../../src/channels/news.ts';
import { MESSAGE_CHANNELS } from '../../src/channels/registry.ts';
import { createSlackChannel, SlackSettings } from '../../src/channels/slack.ts';
import type { Analysis } from '../../src/domain/analysis.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { createId } from '../../src/domain/ids.ts';
import { NotificationRuleInput } from '../../src/domain/notification-rule.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import type { WorkHandler } from '../../src/ports/work.ts';
import { createStores, type Stores } from '../../src/stores/stores.ts';
import { drainWork } from '../../src/work/process-items.ts';
import { sampleAnalysis, sampleBuild, sampleGroup } from '../stores/samples.ts';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { SLACK_TOKEN, type SlackApi, startSlackApi } from '../support/slack-api.ts';
import { OWNER, PAYMENTS } from './sample-news.ts';
import { openNews } from './sending.ts';

let db: TestDatabase;
let stores: Stores;
let slack: SlackApi;
/** Ahead of the database, so that what was found is gathered at once. */
const clock = { now: () => Date.now() + 60_000 };
beforeAll(async () => {
  db = await openTestDatabase();
  stores = createStores(db, clock);
});
afterAll(async () => db.dispose());
beforeEach(async () => {
  slack = await startSlackApi();
});
afterEach(async () => {
  await slack.close();
  for (const { id } of await stores.notificationRules.list())
    await stores.notificationRules.remove(id, 'test');
  await db.query('delete from work');
  await db.query('delete from notification_owners');
});

async function addRule(change: object = {}) {
  const input = {
    name: 'Shop',
    query: '',
    channel: 'slack',
    destination: 'C0123456789',
    everyMinutes: 15,
    ...change,
  };
  return await stores.notificationRules.add(NotificationRuleInput.parse(input), null, 'ada');
}

async function fail({
  repository = 'shop/api',
  fingerprint = 'f00d',
  branch = 'main',
  change = {} as Partial<Analysis>,
} = {}) {
  const { build } = await stores.builds.upsert(sampleBuild({ repository, number: createId('bld'), branch }));
  await stores.failures.saveGroups(build.id, [sampleGroup(build.id, fingerprint)]);
  const triage = await stores.triages.open(build.id, fingerprint);
  return (
    await stores.analyses.insertOnce(
      sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint }, change),
    )
  ).analysis;
}

interface SentNews {
  readonly key: string;
  readonly news: News;
  readonly destination: string;
}

/** Keeps what it was asked to send, with the key of each call. */
function createRecordingMessenger(sent: SentNews[]): Messenger {
  return {
    destinations: null,
    refusal: () => null,
    render: (news) => news,
    send: async (news: News, { key, to: destination }) => {
      sent.push({ key, news, destination });
      return { reference: null };
    },
  };
}

const slackMessenger = () =>
  openNews(createSlackChannel(SlackSettings.parse({ token: SLACK_TOKEN, baseUrl: slack.url })));

const { signal } = new AbortController();
const workDeps = () => ({ work: stores.work, masker: createMasker(), logger: silentLogger });

async function createHandlers(messengers?: Messengers): Promise<WorkHandler[]> {
  const open: Messengers = messengers ?? { slack: await slackMessenger() };
  const deps = { stores, publicUrl: 'https://fl.example', timeLimitMs: 2_000 };
  const sending = MESSAGE_CHANNELS.map((channel) =>
    createMessageHandler(channel.name, channel, open[channel.name] ?? null, deps),
  );
  return [...createRuleHandlers({ stores, clock, logger: silentLogger }), ...sending];
}

async function work(all?: readonly WorkHandler[]): Promise<void> {
  for (const handler of all ?? (await createHandlers())) await drainWork(handler, workDeps(), signal);
}

const texts = () => slack.messages.map(({ text }) => text);

describe('68: a notification rule', () => {
  it('sends one message for many failures, with ten causes and a count of the others, and no more until its limit', async () => {
    await addRule();
    for (let at = 0; at < 12; at++) await fail({ fingerprint: `storm-${at}` });
    await fail({ fingerprint: 'storm-11' });
    await work();
    expect(texts()).toEqual([expect.stringContaining('12 causes: ')]);
    expect(JSON.stringify(slack.messages[0]?.blocks)).toContain('… 2 more causes');
    expect(JSON.stringify(slack.messages[0]?.blocks)).toContain('· 2×');
    await fail({ fingerprint: 'storm-later' });
    await work();
    expect(slack.messages).toHaveLength(1);
    await db.query('update work set free_at = clock_timestamp()');
    await work();
    expect(slack.messages).toHaveLength(2);
  });

  it('sends failures that its search matches, without muted causes', async () => {
    await addRule({ query: 'repo:shop/* category:TEST_FAILURE branch:main confidence:>0.5' });
    await fail({ repository: 'other/api' });
    await fail({ branch: 'topic' });
    await fail({ fingerprint: 'muted' });
    const [muted] = await stores.causes.ofFingerprint('muted');
    if (muted !== undefined)
      await stores.causes.change(muted, { what: 'muted', days: 3, reason: 'known' }, 'ada', Date.now());
    await work();
    expect(texts()).toEqual([]);
    await fail();
    await work();
    expect(texts()).toHaveLength(1);
  });

  it('on states sends when a cause becomes new, fixed or recurring', async () => {
    const repository = `states/${createId('bld')}`;
    await addRule({ query: `repo:${repository} is:new is:fixed is:regressed`, everyMinutes: 1 });
    const passes = async () =>
      void (await stores.builds.upsert(
        sampleBuild({ repository, number: createId('bld'), branch: 'main', status: 'passed' }),
      ));
    const next = async () => {
      await db.query('update work set free_at = clock_timestamp()');
      await work();
      return texts().map((text) => text.split(':')[0]);
    };
    await fail({ repository });
    expect(await next()).toEqual(['New']);
    await fail({ repository });
    expect(await next()).toEqual(['New']);
    await passes();
    expect(await next()).toEqual(['New', 'Fixed']);
    await fail({ repository });
    expect(await next()).toEqual(['New', 'Fixed', 'Regressed']);
  });

  it("sends to the owner's channel and mentions the owner, as configured", async () => {
    await stores.notificationRules.setOwner(PAYMENTS, 'ada');
    await addRule({ byOwner: true, mention: true });
    await fail({ fingerprint: 'owned', change: { owner: OWNER } });
    await fail({
      fingerprint: 'unowned',
      change: { owner: { ...OWNER, names: ['<!channel>', '@U0123456789'] } },
    });
    await work();
    const posted = slack.messages.map(({ channel, blocks }) => [
      channel,
      /<!subteam\^S0123456789>|<[@!]/.exec(JSON.stringify(blocks))?.[0],
    ]);
    expect(posted.toSorted()).toEqual([
      ['C0000000001', '<!subteam^S0123456789>'],
      ['C0123456789', undefined],
    ]);
  });

  it('reports why a message failed, and drops pending messages when it is turned off', async () => {
    const rule = await addRule({ destination: 'C0GONE00000' });
    slack.intercept = (_method, response) => {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"ok":false,"error":"channel_not_found"}');
      return true;
    };
    await fail({ fingerprint: 'refused' });
    await work();
    const [message] = await stores.notificationRules.messages(rule?.id ?? '', 9);
    expect(message).toMatchObject({
      outcome: 'failed',
      error: expect.stringContaining('channel_not_found'),
      target: 'slack:C0GONE00000',
    });
    await fail({ fingerprint: 'waiting' });
    await work();
    if (rule !== null)
      await stores.notificationRules.change(
        rule.id,
        1,
        NotificationRuleInput.parse({ name: 'x', channel: 'slack', destination: 'C1', enabled: false }),
        null,
        'ada',
      );
    await work();
    expect(await stores.notificationRules.oldest(rule?.id ?? '', 'slack:C0GONE00000')).toBeNull();
  });

  it('whose channel is no longer configured fails with a sentence', async () => {
    const rule = await addRule({ channel: 'teams', destination: 'payments' });
    await fail({ fingerprint: 'teams' });
    await work(await createHandlers({}));
    expect(await stores.notificationRules.messages(rule?.id ?? '', 9)).toMatchObject([
      { outcome: 'failed', error: 'Microsoft Teams is not configured.' },
    ]);
  });

  it('is retried with the same key while the service is down', async () => {
    const sent: SentNews[] = [];
    const messenger = createRecordingMessenger(sent);
    let isAway = true;
    const send: Messenger['send'] = async (content, call) => {
      await messenger.send(content, call);
      if (isAway) throw new TriageError('upstream-failed', 'It answered 503', { retryable: true });
      return { reference: null };
    };
    await addRule({ channel: 'webhook', destination: 'ops' });
    await fail({ fingerprint: 'away' });
    const all = await createHandlers({ webhook: { ...messenger, send } });
    await work(all);
    isAway = false;
    await db.query('update work set free_at = clock_timestamp()');
    await work(all);
    expect(sent.map(({ key }) => key)).toEqual([sent[0]?.key, sent[0]?.key]);
  });
});

describe('68: killing the process', () => {
  const POINTS = ['work-taken', 'work-handled', 'work-finished'] as const;
  const TOPICS = ['match-rules', 'gather-matches', 'message:slack', 'message:webhook'] as const;

  it.each(TOPICS.flatMap((topic) => POINTS.map((point) => [topic, point] as const)))(
    'during %s at %s loses and duplicates nothing',
    async (topic, point) => {
      const sent: SentNews[] = [];
      const all = await createHandlers({
        slack: await slackMessenger(),
        webhook: createRecordingMessenger(sent),
      });
      await addRule({ name: 'to Slack' });
      await addRule({ name: 'to a webhook', channel: 'webhook', destination: 'ops' });
      await fail({ fingerprint: `${topic} ${point}` });
      for (const handler of all) {
        const die = (at: string) => {
          if (handler.topic === topic && at === point) throw new Error('killed');
        };
        await drainWork(handler, { ...workDeps(), failpoint: die }, signal).catch(() => undefined);
      }
      // Another process starts.
      await stores.work.reclaim();
      await work(all);
      expect(slack.messages).toHaveLength(1);
      expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
      expect(sent).toHaveLength(topic === 'message:webhook' && point === 'work-handled' ? 2 : 1);
    },
  );
});
