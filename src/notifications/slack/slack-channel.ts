import type { Build } from '../../domain/build.ts';
import type { Clock } from '../../lib/time.ts';
import type { ChatPlace, ChatRoom } from '../../ports/chat-room.ts';
import type {
  NoticeCall,
  NoticeChannel,
  NoticePlace,
  NoticeRule,
  NotificationClient,
} from '../../ports/notices.ts';
import type { HistoryStore } from '../../ports/stores.ts';
import { noticeChannel } from '../notices.ts';
import { type SlackFacts, slackFacts } from './slack-facts.ts';
import { type SlackLinks, type Streak, slackLine, slackMessage } from './slack-message.ts';

export interface SlackChannelDeps extends SlackLinks {
  readonly room: Pick<ChatRoom, 'post' | 'update' | 'reply' | 'find'>;
  readonly history: Pick<HistoryStore, 'consecutiveFailures' | 'failureHistory'>;
  /** Returns the channel for a repository's messages, by the chat's own id, or null if there is none. */
  readonly channelOf: (repository: string) => string | null;
  readonly clock: Clock;
}

const CHANNEL = 'slack';
/** The branch names that count as the default branch if the CI does not name it. */
const USUAL_NAMES: readonly string[] = ['main', 'master', 'trunk'];
/** The reference of a notice without a posted message: the branch turned green before anything was posted. */
const NOTHING = '-';
/** The maximum number of occurrences of one day that are counted. */
const MAX_SIGHTINGS = 50;

/**
 * Creates the Slack channel of notices. It posts one message for each change of a default branch from green
 * to red, and edits it until the branch is green again. The notice belongs to the branch; its reference names
 * the current message and the change to red that it belongs to. Builds of pull requests are never posted.
 */
export function slackChannel(deps: SlackChannelDeps): NoticeChannel {
  const client: NotificationClient<SlackFacts> = { show: (facts, call) => show(facts, call, deps) };
  return noticeChannel({ rule: slackRule(deps.channelOf), render: slackFacts, client });
}

/** Creates the rule for what is posted to Slack: default branches of repositories that have a channel. */
export function slackRule(channelOf: SlackChannelDeps['channelOf']): NoticeRule {
  return {
    channel: CHANNEL,
    findPlace: (build, { defaultBranch }) =>
      channelOf(build.repository) === null ? null : findBranchPlace(build, defaultBranch),
  };
}

function findBranchPlace(
  { repository, pipeline, branch, pullRequest, status }: Build,
  defaultBranch: string | null,
): NoticePlace | null {
  if (branch === null || pullRequest !== null) return null;
  if (defaultBranch === null ? !USUAL_NAMES.includes(branch) : branch !== defaultBranch) return null;
  const key = `${CHANNEL}:${[repository, pipeline, branch].map(encodeURIComponent).join('/')}`;
  return { key, about: { type: 'branch', repository, pipeline, branch }, opens: status === 'failed' };
}

async function show(
  facts: SlackFacts,
  { notice, signal }: NoticeCall,
  deps: SlackChannelDeps,
): Promise<{ readonly reference: string }> {
  const { room, channelOf } = deps;
  const channel = channelOf(notice.repository);
  const standing = parseReference(notice.reference);
  const streak = await readStreak(facts, deps);
  const isSameEdge = standing?.edge === streak.firstBuildId;
  const message = slackMessage(facts, streak, deps);
  const options = { key: `${notice.key}@${streak.firstBuildId}`, signal };
  if (standing !== null && isSameEdge) {
    await room.update(standing.place, message, options);
    const corrected = getCorrectionMark(facts);
    if (corrected !== standing.said && corrected !== '')
      await room.reply(standing.place, threadText(facts), signal);
    return { reference: formatReference(standing.place, standing.edge, corrected) };
  }
  // Nothing was posted about the failure, so no one waits for news of the fix.
  if (facts.state === 'green' || channel === null) return { reference: notice.reference ?? NOTHING };
  const found = notice.isRetry ? await room.find(channel, options.key, signal) : null;
  if (found !== null) await room.update(found, message, options);
  const place = found ?? (await room.post(channel, message, options));
  return { reference: formatReference(place, streak.firstBuildId, getCorrectionMark(facts)) };
}

async function readStreak(
  { build, ...facts }: SlackFacts,
  { history, clock }: SlackChannelDeps,
): Promise<Streak> {
  const { id, repository, pipeline, branch } = build;
  const { firstBuild } = await history.consecutiveFailures({ repository, pipeline, branch, buildId: id });
  const fingerprint = facts.causes[0]?.fingerprint ?? '';
  const past =
    fingerprint === ''
      ? []
      : await history.failureHistory({
          repository,
          fingerprint,
          test: null,
          beforeBuildId: id,
          limit: MAX_SIGHTINGS,
        });
  const now = new Date(clock.now()).toISOString();
  const builds = past.filter(
    (row) => row.branch === branch && row.pipeline === pipeline && row.seenAt.startsWith(now.slice(0, 10)),
  );
  return {
    firstBuildId: firstBuild?.id ?? id,
    since: firstBuild?.finishedAt ?? firstBuild?.receivedAt ?? now,
    commit: firstBuild?.commit ?? null,
    author: firstBuild?.author ?? null,
    seenToday: new Set(builds.map(({ number }) => number)).size + 1,
  };
}

/**
 * Returns the text for the thread. Slack does not notify people of edits, so a correction is also posted
 * there, where everyone who acted on the wrong cause reads it.
 */
function threadText(facts: SlackFacts): string {
  const corrected = facts.causes.flatMap(({ title, decision }) =>
    decision?.type === 'correct'
      ? [
          `Corrected by ${slackLine(decision.by, 100)}: "${slackLine(title, 200)}" is ${slackLine(decision.category, 40)}.`,
        ]
      : [],
  );
  return corrected.join('\n');
}

function getCorrectionMark(facts: SlackFacts): string {
  return facts.causes
    .flatMap(({ decision }) => (decision?.type === 'correct' ? [Date.parse(decision.at)] : []))
    .join('.');
}

function formatReference({ channel, message }: ChatPlace, edge: string, said: string): string {
  return [channel, message, edge, said].join('/');
}

function parseReference(
  reference: string | null,
): { readonly place: ChatPlace; readonly edge: string; readonly said: string } | null {
  const [channel, message, edge, said] = reference?.split('/') ?? [];
  if (channel === undefined || message === undefined || edge === undefined) return null;
  return { place: { channel, message }, edge, said: said ?? '' };
}
