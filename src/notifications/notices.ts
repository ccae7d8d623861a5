import { createHash } from 'node:crypto';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { type Notice, NoticeAbout } from '../domain/notice.ts';
import type {
  NoticeChannel,
  NoticeRule,
  NotificationClient,
  ReadyNotice,
  Situation,
} from '../ports/notices.ts';
import type { WorkHandler } from '../ports/work.ts';
import type { NoticeStore } from '../stores/notices.ts';
import type { WorkStore } from '../stores/work.ts';
import { inTime, OUTWARD, type TimedCall } from './publications.ts';

export interface NoticesDeps {
  readonly work: Pick<WorkStore, 'isCurrent' | 'release'>;
  readonly notices: Pick<NoticeStore, 'situation'>;
  /** Time limit of one call to the other service, in milliseconds. */
  readonly timeLimitMs: number;
  /** A notice that was changed is left alone for so long; making it does not count. Absent: 20 s. */
  readonly pauseMs?: number;
}

/** Minimum time between two edits of a notice, in milliseconds. */
const PAUSE_MS = 20_000;
/** A lease covers the reading, the look for what is there, the showing, and as much again. */
const LEASE_PER_LIMIT = 4;

const Payload = z.object({ repository: z.string(), about: NoticeAbout });
const Kept = z.object({ reference: z.string().nullable(), hash: z.string().nullable() });

/** Keeps what is outside in step with what is known. */
export function noticeHandler(
  channel: NoticeChannel,
  { work, notices, timeLimitMs, pauseMs }: NoticesDeps,
): WorkHandler {
  return {
    topic: `notice:${channel.channel}`,
    leaseMs: timeLimitMs * LEASE_PER_LIMIT,
    ...OUTWARD,
    handle: async ([entry], lease) => {
      if (entry === undefined) return null;
      const { repository, about } = Payload.parse(entry.payload);
      const kept = Kept.parse(entry.result ?? { reference: null, hash: null });
      const ready = channel.prepare(await notices.situation(about));
      // A change made in the meantime may have been read although it is not due yet. A decision that is
      // undone within its delay must never be shown.
      if (!(await work.isCurrent(entry))) {
        await work.release(entry, null, 0);
        return null;
      }
      if (ready === null || (kept.reference !== null && ready.hash === kept.hash)) return { outcome: 'done' };
      const isRetry = entry.attempts > 1 || entry.retries > 0;
      const notice = { key: entry.key, repository, about, reference: kept.reference, isRetry };
      const shown = await showNotice(channel, ready, { ...lease, timeLimitMs, notice });
      const result = { reference: shown.reference, hash: ready.hash };
      return { outcome: 'done', result, pauseMs: shown.isNew ? 0 : (pauseMs ?? PAUSE_MS) };
    },
  };
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
 * Shows the prepared content outside. Before a notice is created it is searched for, because an attempt whose
 * process died may have created it. A notice that a person deleted in the meantime is created again. Each
 * call must end within the lease, so that no other process can make it at the same time.
 */
async function showNotice(
  channel: NoticeChannel,
  ready: ReadyNotice,
  showing: ShowingNotice,
): Promise<Shown> {
  const { notice } = showing;
  const show = (reference: string | null) =>
    inTime(showing, (signal) => ready.show({ notice: { ...notice, reference }, signal }));
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
  /**
   * Renders the content, or returns null if there is nothing to say. Pure. Uses only strings, numbers,
   * booleans, arrays and plain objects, so that equal contents have equal hashes.
   */
  readonly render: (situation: Situation) => Content | null;
  readonly client: NotificationClient<Content>;
}

/** Creates a channel from its three parts: where it posts, what it says, and the client it posts with. */
export function noticeChannel<Content extends object>({
  rule,
  render,
  client,
}: NoticeChannelParts<Content>): NoticeChannel {
  const { find } = client;
  return {
    channel: rule.channel,
    findPlace: (build, known) => rule.findPlace(build, known),
    prepare: (situation) => {
      const content = render(situation);
      return content === null
        ? null
        : { hash: hashContent(content), show: (call) => client.show(content, call) };
    },
    ...(find === undefined ? {} : { find: (call) => find(call) }),
  };
}

function hashContent(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
