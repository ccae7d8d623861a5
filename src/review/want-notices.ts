import type { Review } from '../domain/review.ts';
import type { Sql } from '../ports/database.ts';
import type { NoticeStore } from '../ports/notices.ts';

/** A decision is shown outside after so long where nothing else is configured, in milliseconds, so that what is taken back at once is never seen there. */
export const UNDO_DELAY_MS = 10_000;

/** What is said outside of the builds of these reviews has changed. In one order, so that two that decide the same ones do not meet crosswise. */
export async function wantNotices(
  notices: Pick<NoticeStore, 'changed'>,
  reviews: readonly Pick<Review, 'buildId'>[],
  delayMs: number,
  sql: Sql,
): Promise<void> {
  const builds = [...new Set(reviews.map(({ buildId }) => buildId))].toSorted();
  for (const buildId of builds) await notices.changed({ buildId, delayMs }, sql);
}
