import { z } from 'zod';
import { Category } from '../../domain/category.ts';
import type { ReviewFilter } from '../../ports/reviews.ts';

/** An empty field of a form is one that was left alone; what cannot be meant is left out too. */
const words = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .catch('')
    .default('')
    .transform((text) => (text === '' ? undefined : text));

const count = z.coerce.number().int().min(1).max(1_000_000).optional().catch(undefined);

/** Which part of the queue, in which order, and how far somebody has come in it: all of it lives in the address. */
export const QueueQuery = z.object({
  state: z.enum(['all', 'mine', 'decided']).catch('all').default('all'),
  category: Category.optional().catch(undefined),
  repo: words(300),
  why: words(200),
  sort: z.enum(['risk', 'age', 'confidence']).catch('risk').default('risk'),
  offset: z.coerce.number().int().min(0).max(100_000).catch(0).default(0),
  /** Which item this is, of how many. */
  n: count,
  of: count,
});
export type QueueQuery = z.infer<typeof QueueQuery>;

/** The filters alone, as a store takes them. */
export function filterOf({ category, repo, why }: QueueQuery): Omit<ReviewFilter, 'state'> {
  return {
    ...(category !== undefined && { category }),
    ...(repo !== undefined && { repository: repo }),
    ...(why !== undefined && { why }),
  };
}

export function isFiltered({ category, repo, why }: QueueQuery): boolean {
  return [category, repo, why].some((one) => one !== undefined);
}

/** The query as part of an address, without what is the default; `''` or `?repo=…`. */
export function searchOf(query: QueueQuery, more: Readonly<Record<string, string | number>> = {}): string {
  const { state, category, repo, why, sort, offset, n, of } = query;
  const [place, order, start] = [
    state === 'all' ? undefined : state,
    sort === 'risk' ? undefined : sort,
    offset === 0 ? undefined : offset,
  ];
  const kept = { state: place, category, repo, why, sort: order, offset: start, n, of, ...more };
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(kept)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
}

/** What a form carries along of the queue that the item was opened from. */
export const CarriedQueue = z
  .string()
  .max(2000)
  .catch('')
  .default('')
  .transform((search) => QueueQuery.parse(Object.fromEntries(new URLSearchParams(search))));

/** The query for the item after this one. */
export function nextQuery(query: QueueQuery): QueueQuery {
  return { ...query, offset: 0, n: (query.n ?? 1) + 1 };
}
