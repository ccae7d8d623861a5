import type { ReviewFilter, ReviewSort } from '../../ports/reviews.ts';
import type { ShownStores } from '../../ports/stores.ts';

/** Rows of the queue within which neighbours are looked for. */
const NEAR = 200;

/** The item after (or before) this one in the queue's order, whoever holds it; null where it is not among the first rows, or the last. */
export async function neighbourOf(
  { reviews }: Pick<ShownStores, 'reviews'>,
  { filter, sort, id, back }: { filter: Omit<ReviewFilter, 'state'>; sort: ReviewSort; id: string; back: boolean },
): Promise<string | null> {
  const rows = await reviews.listGroups(filter, { limit: NEAR, offset: 0 }, sort);
  const at = rows.findIndex(({ review }) => review.id === id);
  if (at < 0) return null;
  return rows[at + (back ? -1 : 1)]?.review.id ?? null;
}
