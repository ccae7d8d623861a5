import { TriageError } from '../domain/errors.ts';
import type { Notice } from '../domain/notice.ts';
import type { NoticeChannel, ReadyNotice } from '../ports/notices.ts';
import { inTime, type TimedCall } from './outbox.ts';

export interface ShowingNotice extends TimedCall {
  readonly notice: Notice;
}

export interface Shown {
  readonly reference: string;
  /** It was made now, not changed. */
  readonly isNew: boolean;
}

/**
 * Brings what is ready into its place. Before something is made it is looked for: a try whose process died may have made it. What somebody
 * has deleted meanwhile is made anew. Each call must end within the lease, so that nobody else can make it at the same time.
 */
export async function showNotice(channel: NoticeChannel, ready: ReadyNotice, showing: ShowingNotice): Promise<Shown> {
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
