import { afterEach, beforeEach, expect, it } from 'vitest';
import type { NoticeCall } from '../../../src/channels/channel.ts';
import { createBranchNotice } from '../../../src/channels/slack/branch-notice.ts';
import { createSlackClient } from '../../../src/channels/slack/client.ts';
import { createSlackChannel, SlackSettings } from '../../../src/channels/slack.ts';
import type { Build } from '../../../src/domain/build.ts';
import type { Situation } from '../../../src/ports/notices.ts';
import { sampleAnalysis, sampleBuild } from '../../support/sample-analysis.ts';
import { SLACK_TOKEN, type SlackApi, startSlackApi } from '../../support/slack-api.ts';
import { callTo, send } from '../sending.ts';
import {
  createBranchSituation,
  createDecision,
  createPassedSituation,
  sampleCause,
  sampleHead,
} from './slack-world.ts';

let slack: SlackApi;
/** The first build of the row of failures that is asked about. */
let firstBuild: Build;
let reference: string | null;
beforeEach(async () => {
  slack = await startSlackApi();
  firstBuild = sampleBuild();
  reference = null;
});
afterEach(async () => slack.close());

const publisher = () =>
  createBranchNotice({
    client: createSlackClient({ token: SLACK_TOKEN, baseUrl: slack.url }),
    history: {
      consecutiveFailures: async () => ({ count: 1, firstBuild, lastGreen: null, same: 0, firstSame: null }),
      failureHistory: async () => [],
    },
    findChannel: () => 'C1',
    publicUrl: 'https://fl.example',
    decides: true,
    clock: { now: () => Date.parse('2026-10-12T14:10:00.000Z') },
  });

/** Where a channel with these settings speaks of a build. */
function findPlace(
  build: Build,
  defaultBranch: string | null,
  settings: object = { channels: { '*': 'C0000000001' } },
) {
  const channel = createSlackChannel(SlackSettings.parse({ token: SLACK_TOKEN, ...settings }));
  return channel.notices?.findPlace(build, { defaultBranch }) ?? null;
}

/** As the keeper of notices does it: what was shown is remembered. */
async function keep(situation: Situation, change: Partial<NoticeCall> = {}): Promise<void> {
  const place = findPlace(sampleBuild(), 'main');
  if (place === null) throw new Error('it speaks of main');
  const { key, about } = place;
  const call = callTo({ repository: 'shop/api', about }, { key, reference, ...change });
  const sent = await send(publisher(), situation, call);
  if (sent !== null) ({ reference } = sent);
}

const red = (number = '812', change = {}) =>
  createBranchSituation(
    sampleHead({
      build: sampleBuild({ id: `bld_${number}`, number }),
      causes: [sampleCause(sampleAnalysis(), change)],
    }),
  );

it('the first failure of a branch posts one message, which is updated until the branch passes', async () => {
  await keep(red());
  await keep(red('813'));
  await keep(red('813', { review: createDecision({ type: 'accept' }) }));
  await keep(createPassedSituation());
  expect(slack.messages).toHaveLength(1);
  expect(slack.messages[0]).toMatchObject({
    edits: 3,
    text: expect.stringMatching(/^main is green again after 41 min/),
  });
});

it('the next failure after that posts a new message', async () => {
  await keep(red());
  await keep(createPassedSituation());
  firstBuild = sampleBuild({ id: 'bld_900', number: '900' });
  await keep(red('900'));
  expect(slack.messages.map(({ text }) => text.slice(0, 13))).toEqual(['main is green', 'main is red: ']);
  expect(slack.messages.map(({ edits }) => edits)).toEqual([1, 0]);
});

it('a branch that passes before its failure was posted gets no message', async () => {
  await keep(createPassedSituation());
  expect(slack.calls).toEqual([]);
  expect(reference).toBe('-');
  await keep(red());
  expect(slack.messages).toHaveLength(1);
});

it('a correction is also posted in the thread, once', async () => {
  await keep(red());
  const review = createDecision({ type: 'correct', category: 'CONFIG_ERROR' });
  await keep(red('812', { review }));
  await keep(red('813', { review }));
  const replies = slack.messages.filter(({ threadTs }) => threadTs !== null);
  expect(replies.map(({ text }) => text)).toEqual([
    'Corrected by grace: "The cart total is rounded twice" is Configuration.',
  ]);
});

it('a muted cause is omitted, and only the others are named', async () => {
  await keep(red('812', { isMuted: true }));
  await keep(createPassedSituation());
  expect(slack.messages).toEqual([]);
  const causes = [
    sampleCause(sampleAnalysis(), { isMuted: true }),
    sampleCause(sampleAnalysis({ id: 'ana_2' })),
  ];
  await keep(createBranchSituation(sampleHead({ build: sampleBuild({ id: 'bld_9', number: '9' }), causes })));
  expect(slack.messages).toHaveLength(1);
  expect(slack.messages[0]?.text).not.toContain('2 reasons');
});

it('a retry finds the message of the attempt that crashed, instead of posting it twice', async () => {
  await keep(red());
  reference = null;
  await keep(red(), { isRetry: true });
  expect(slack.messages).toHaveLength(1);
  expect(slack.messages[0]?.edits).toBe(1);
});

it('a deleted message is reported, so that it is posted again', async () => {
  await keep(red());
  slack.messages.length = 0;
  await expect(keep(red('813'))).rejects.toMatchObject({ code: 'not-found' });
});

it.each([
  ['main', { branch: 'main' }, 'main', true],
  ['a main that the CI does not name', { branch: 'main' }, null, true],
  ['another branch', { branch: 'fix/tax' }, 'main', false],
  ['another default branch', { branch: 'main' }, 'develop', false],
  ['a pull request from main', { branch: 'main', pullRequest: 12 }, 'main', false],
  ['no branch', { branch: null }, 'main', false],
] as const)(
  'a notice is for failures of the default branch only: %s (%j)',
  (_case, change, defaultBranch, speaks) => {
    expect(findPlace(sampleBuild(change), defaultBranch) !== null).toBe(speaks);
  },
);

it('a notice is opened only by a failure, and only for repositories with a channel', () => {
  const key = 'slack:shop%2Fapi/ci/main';
  expect(findPlace(sampleBuild(), 'main')).toMatchObject({
    key,
    opens: true,
    about: { type: 'branch', pipeline: 'ci' },
  });
  expect(findPlace(sampleBuild({ status: 'passed' }), 'main')).toMatchObject({
    key,
    opens: false,
  });
  expect(findPlace(sampleBuild(), 'main', { channels: { other: 'C0000000002' } })).toBeNull();
});
