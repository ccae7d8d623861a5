import type { Clock } from '../../lib/time.ts';
import type { HistoryStore } from '../../ports/stores.ts';
import type { NoticeCall, NoticePublisher, Sent } from '../channel.ts';
import { findSlackFacts, type SlackFacts } from './branch-facts.ts';
import { createSlackMessage, type SlackLinks, type Streak } from './branch-message.ts';
import type { SlackClient, SlackPlace } from './client.ts';
import { toSlackLine } from './message.ts';

export interface BranchNoticeDeps extends SlackLinks {
  readonly client: Pick<SlackClient, 'post' | 'update' | 'reply' | 'find'>;
  readonly history: Pick<HistoryStore, 'consecutiveFailures' | 'failureHistory'>;
  /** Returns the channel for a repository's messages, by Slack's own ID, or null if there is none. */
  readonly findChannel: (repository: string) => string | null;
  readonly clock: Clock;
}

/** The reference of a notice without a posted message: the branch turned green before anything was posted. */
const NOTHING = '-';
/** The maximum number of earlier occurrences that are read to count those of today. */
const MAX_OCCURRENCES = 50;

/**
 * Creates the publisher of notices about default branches. It posts one message for each change of a branch
 * from green to red, and edits the message until the branch is green again. The notice belongs to the branch.
 * Its reference names the current message and the change to red to which it belongs. Builds of pull requests
 * are never posted.
 */
export function createBranchNotice(deps: BranchNoticeDeps): NoticePublisher {
  return { render: findSlackFacts, send: (facts: SlackFacts, call) => send(facts, call, deps) };
}

async function send(
  facts: SlackFacts,
  { to, key, reference, isRetry, signal }: NoticeCall,
  deps: BranchNoticeDeps,
): Promise<Sent> {
  const { client, findChannel } = deps;
  const channel = findChannel(to.repository);
  const posted = parseReference(reference);
  const streak = await readStreak(facts, deps);
  const isSameStreak = posted?.firstBuildId === streak.firstBuildId;
  const message = createSlackMessage(facts, streak, deps);
  const options = { key: `${key}@${streak.firstBuildId}`, signal };
  if (posted !== null && isSameStreak) {
    await client.update(posted.place, message, options);
    const corrected = getCorrectionMark(facts);
    if (corrected !== posted.correction && corrected !== '')
      await client.reply(posted.place, formatThreadText(facts), signal);
    return { reference: formatReference(posted.place, posted.firstBuildId, corrected) };
  }
  // Nothing was posted about the failure, so no one waits for news of the fix.
  if (facts.state === 'green' || channel === null) return { reference: reference ?? NOTHING };
  const found = isRetry ? await client.find(channel, options.key, signal) : null;
  if (found !== null) await client.update(found, message, options);
  const place = found ?? (await client.post(channel, message, options));
  return { reference: formatReference(place, streak.firstBuildId, getCorrectionMark(facts)) };
}

async function readStreak(
  { build, ...facts }: SlackFacts,
  { history, clock }: BranchNoticeDeps,
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
          limit: MAX_OCCURRENCES,
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
 * Returns the text for the thread. Slack does not notify people of edits, so a correction is also posted in
 * the thread, where everyone who acted on the wrong cause reads it.
 */
function formatThreadText(facts: SlackFacts): string {
  const corrected = facts.causes.flatMap(({ title, decision }) =>
    decision?.type === 'correct'
      ? [
          `Corrected by ${toSlackLine(decision.by, 100)}: "${toSlackLine(title, 200)}" is ` +
            `${toSlackLine(decision.category, 40)}.`,
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

function formatReference({ channel, message }: SlackPlace, firstBuildId: string, text: string): string {
  return [channel, message, firstBuildId, text].join('/');
}

function parseReference(
  reference: string | null,
): { readonly place: SlackPlace; readonly firstBuildId: string; readonly correction: string } | null {
  const [channel, message, firstBuildId, text] = reference?.split('/') ?? [];
  if (channel === undefined || message === undefined || firstBuildId === undefined) return null;
  return { place: { channel, message }, firstBuildId, correction: text ?? '' };
}
