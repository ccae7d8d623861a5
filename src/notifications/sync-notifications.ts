import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { isRetryable, messageOf, TriageError } from '../domain/errors.ts';
import type { Notice } from '../domain/notice.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Failpoint } from '../ports/database.ts';
import type { NoticeChannel, NoticeRule, NoticeStore, NotificationClient, ReadyNotice, Situation } from '../ports/notices.ts';
import type { Logger } from '../ports/telemetry.ts';
import {
  type BackgroundWorker,
  inTime,
  keepTurns,
  MAX_OUTBOX_ATTEMPTS,
  MAX_OUTBOX_RETRIES,
  outboxDelay,
  type StopSignals,
  type TimedCall,
} from './outbox.ts';

export interface NoticesDeps {
  readonly notices: Pick<NoticeStore, 'take' | 'isCurrent' | 'finish' | 'fail' | 'release' | 'situation'>;
  readonly channels: readonly NoticeChannel[];
  readonly masker: Pick<Masker, 'mask'>;
  readonly logger: Logger;
  /** Of one call to the other side, in milliseconds. */
  readonly timeLimitMs: number;
  /** Between two looks for what is due, in milliseconds; a wake comes before it. */
  readonly intervalMs: number;
  /** A notice that was changed is left alone for so long; making it does not count. Absent: 20 s. */
  readonly pauseMs?: number;
  /** A stop waits for so long for what is being shown. Absent: 5 s. */
  readonly stopGraceMs?: number;
  readonly failpoint?: Failpoint;
}

/** At most one edit of a notice in so many milliseconds. */
const PAUSE_MS = 20_000;
/** Notices of one channel that are shown at once in this process. */
const AT_ONCE = 2;
/** A lease covers the reading, the look for what stands there, the showing, and as much again. */
const LEASE_PER_LIMIT = 4;
const MAX_SENTENCE = 500;

/**
 * Keeps what stands outside in step with what is known, in the background. What is wanted stands in the database: a stop or a crash loses
 * nothing, and any number of processes may do this at once. Each channel has its own turn, so that one that hangs holds up no other.
 */
export function syncNotifications(deps: NoticesDeps): BackgroundWorker {
  const turn = (channel: NoticeChannel, { stopping, cutOff }: StopSignals) => showAll(channel, deps, stopping, cutOff);
  return keepTurns(deps.channels, turn, deps.intervalMs, deps.stopGraceMs);
}

async function showAll(channel: NoticeChannel, deps: NoticesDeps, stopping: AbortSignal, cutOff: AbortSignal): Promise<void> {
  const leaseMs = deps.timeLimitMs * LEASE_PER_LIMIT;
  const lane = async () => {
    while (!stopping.aborted) {
      const takenAt = performance.now();
      const notice = await deps.notices.take([channel.channel], leaseMs);
      if (notice === null) return;
      await keep(notice, channel, deps, { takenAt, leaseMs, timeLimitMs: deps.timeLimitMs, signal: cutOff });
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
  for (const { reason } of lanes.filter((one) => one.status === 'rejected')) {
    deps.logger.warn({ channel: channel.channel, error: reason }, 'notices could not be looked after; it will be tried again');
  }
}

interface Held {
  readonly takenAt: number;
  readonly leaseMs: number;
  readonly timeLimitMs: number;
  readonly signal: AbortSignal;
}

/** Throws only where the database cannot be asked; the notice is then found again when its lease is over. */
async function keep(notice: Notice, channel: NoticeChannel, deps: NoticesDeps, held: Held): Promise<void> {
  const { notices, failpoint, logger } = deps;
  if (notice.attempts > MAX_OUTBOX_ATTEMPTS)
    return await fail(notice, `Stopped after ${MAX_OUTBOX_ATTEMPTS} attempts that did not finish.`, deps);
  const ready = channel.prepare(await notices.situation(notice.about));
  // What came meanwhile may be read already and not be due yet: a decision that is taken back within its delay is never seen.
  if (!(await notices.isCurrent(notice))) return await notices.release(notice, null, 0);
  const { reference, hash } = notice;
  if (ready === null || (reference !== null && ready.hash === hash)) {
    return void (await notices.finish(notice, { reference, hash, pauseMs: 0 }));
  }
  failpoint?.('notice-taken', notice.key);
  const shown = await showNotice(channel, ready, { ...held, notice }).catch(
    async (error: unknown) => void (await settle(notice, error, held.signal.aborted, deps)),
  );
  if (shown === undefined) return;
  failpoint?.('notice-shown', notice.key);
  const pauseMs = shown.isNew ? 0 : (deps.pauseMs ?? PAUSE_MS);
  const noted = await notices.finish(notice, { reference: shown.reference, hash: ready.hash, pauseMs });
  if (!noted) logger.warn({ key: notice.key }, 'a notice was shown, and another process had taken it over');
}

async function settle(notice: Notice, error: unknown, stopped: boolean, deps: NoticesDeps): Promise<void> {
  // The call may have got through: with a delay the try counts, and the next one looks for what it made.
  if (stopped) return await deps.notices.release(notice, null, 1);
  const again = isRetryable(error) && notice.retries < MAX_OUTBOX_RETRIES;
  const sentence = (await deps.masker.mask(messageOf(error))).text.slice(0, MAX_SENTENCE);
  if (!again) return await fail(notice, sentence, deps, error);
  deps.logger.warn({ key: notice.key, retries: notice.retries, error }, 'a notice could not be shown; it will be tried again');
  await deps.notices.release(notice, sentence, outboxDelay(notice.retries, error));
}

async function fail(notice: Notice, reason: string, { notices, logger }: NoticesDeps, error?: unknown): Promise<void> {
  logger.error({ key: notice.key, reason, ...(error === undefined ? {} : { error }) }, 'a notice is not shown');
  await notices.fail(notice, reason);
}

interface ShowingNotice extends TimedCall {
  readonly notice: Notice;
}

interface Shown {
  readonly reference: string;
  /** It was made now, not changed. */
  readonly isNew: boolean;
}

/**
 * Brings what is ready into its place. Before something is made it is looked for: a try whose process died may have made it. What somebody
 * has deleted meanwhile is made anew. Each call must end within the lease, so that nobody else can make it at the same time.
 */
async function showNotice(channel: NoticeChannel, ready: ReadyNotice, showing: ShowingNotice): Promise<Shown> {
  const { notice } = showing;
  const show = (reference: string | null) => inTime(showing, (signal) => ready.show({ notice: { ...notice, reference }, signal }));
  const known = notice.reference ?? (await find(channel, showing));
  if (known !== null) {
    const changed = await show(known).catch(unlessGone);
    if (changed !== null) return { ...changed, isNew: false };
  }
  return { ...(await show(null)), isNew: true };
}

async function find({ find: ask }: NoticeChannel, showing: ShowingNotice): Promise<string | null> {
  if (ask === undefined) return null;
  const notice = { ...showing.notice, reference: null };
  return (await inTime(showing, (signal) => ask({ notice, signal })))?.reference ?? null;
}

function unlessGone(error: unknown): null {
  if (error instanceof TriageError && error.code === 'not-found') return null;
  throw error;
}

interface NoticeChannelParts<Content extends object> {
  readonly rule: NoticeRule;
  /** Pure. Null: there is nothing to say. Only strings, numbers, booleans, arrays and plain objects, so that equal contents have equal hashes. */
  readonly render: (situation: Situation) => Content | null;
  readonly door: NotificationClient<Content>;
}

/** One channel of its three parts: where it posts, what it says, and the client it posts with. */
export function noticeChannel<Content extends object>({ rule, render, door }: NoticeChannelParts<Content>): NoticeChannel {
  const { find } = door;
  return {
    channel: rule.channel,
    placeOf: (build, known) => rule.placeOf(build, known),
    prepare: (situation) => {
      const content = render(situation);
      return content === null ? null : { hash: hashOf(content), show: (call) => door.show(content, call) };
    },
    ...(find === undefined ? {} : { find: (call) => find(call) }),
  };
}

function hashOf(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
