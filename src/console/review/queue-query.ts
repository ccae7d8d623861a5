import { z } from 'zod';
import { Category } from '../../domain/category.ts';
import { nameCategory } from '../../domain/category-words.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { formatCount } from '../../lib/text.ts';
import { explainTaught } from '../../service/review/learn.ts';
import type { ReviewFilter } from '../../stores/review-queue.ts';
import type { ShownStores } from '../../stores/stores.ts';
import { search } from '../addresses.ts';
import { Offset, WordsOrNone } from '../http.ts';
import { ScopeFields } from '../scope.ts';

const count = z.coerce.number().int().min(1).max(1_000_000).optional().catch(undefined);

/**
 * The filters and the order of the queue, and the reviewer's position in it. The address contains all of it.
 */
export const QueueQuery = z.object({
  state: z.enum(['all', 'mine', 'decided']).catch('all').default('all'),
  category: Category.optional().catch(undefined),
  repo: WordsOrNone,
  branch: WordsOrNone,
  days: ScopeFields.days,
  why: WordsOrNone,
  sort: z.enum(['risk', 'age', 'confidence']).catch('risk').default('risk'),
  offset: Offset,
  /** `n` is the number of this item, `of` the number of items in the queue. */
  n: count,
  of: count,
  /** The number of the item of the newest decision. */
  u: count,
});
export type QueueQuery = z.infer<typeof QueueQuery>;

/** Converts the filters of the query to those of the store. */
export function toReviewFilter({ category, repo, why }: QueueQuery): Omit<ReviewFilter, 'state'> {
  return omitUndefined({ category, repository: repo, why });
}

export function isFiltered(query: QueueQuery): boolean {
  return Object.keys(toReviewFilter(query)).length > 0;
}

const DEFAULTS: Readonly<Record<string, unknown>> = { state: 'all', sort: 'risk', offset: 0 };

/** Formats the query as part of an address, without default values: `''` or `?repo=…`. */
export function formatQuery(query: QueueQuery, more: Readonly<Record<string, string | number>> = {}): string {
  const { state, category, repo, branch, days, why, sort, offset, n, of, u } = query;
  const known = { state, category, repo, branch, days, why, sort, offset, n, of, u, ...more };
  return search(
    Object.fromEntries(Object.entries(known).filter(([name, value]) => value !== DEFAULTS[name])),
  );
}

/** The queue from which the item was opened, as a field of its forms. */
export const CarriedQueue = z
  .string()
  .max(2000)
  .catch('')
  .default('')
  .transform((search) => QueueQuery.parse(Object.fromEntries(new URLSearchParams(search))));

/** Returns the query for the item after this one. */
export function toNextQuery(query: QueueQuery): QueueQuery {
  return { ...query, offset: 0, n: (query.n ?? 1) + 1 };
}

const times = z.coerce.number().int().min(0).max(10_000).optional().catch(undefined);

/** The fields of an address that describe the last action. */
export const Said = z.object({
  /** The review that was decided. */
  done: z.string().max(100).optional(),
  /** The number of other reviews that were decided with it. */
  also: times,
  /** The number of decisions that were undone. */
  undone: times,
  skipped: z.literal('1').optional().catch(undefined),
  released: z.literal('1').optional().catch(undefined),
  answered: z.literal('1').optional().catch(undefined),
  /**
   * `ids` are the reviews that were decided together, separated by spaces. `left` is the number of those that
   * could not be.
   */
  ids: z.string().max(4_000).optional().catch(undefined),
  left: times,
});
export type Said = z.infer<typeof Said>;

type SaidStores = Pick<ShownStores, 'reviews' | 'library' | 'analyses' | 'failures'>;

/**
 * Describes the last action and the library entry that it created. Returns null if there was no action. `n`
 * is the number of the next item.
 */
export async function describeLastAction(
  result: Said,
  stores: SaidStores,
  n: number | undefined,
): Promise<string | null> {
  const item = `Item ${Math.max(1, (n ?? 2) - 1)}`;
  if (result.undone !== undefined) return describeUndone(result.undone);
  if (result.skipped !== undefined) return `${item}: skipped. It stays in the queue.`;
  if (result.released !== undefined) return 'Released. It stays in the queue.';
  if (result.answered !== undefined) return 'Answered. The analysis continues.';
  if (result.ids !== undefined) return describeBulk(result.ids.split(' ').length, result.left ?? 0);
  if (result.left !== undefined) return describeBulk(0, result.left);
  if (result.done === undefined) return null;
  const decision = (await stores.reviews.find(result.done))?.decision ?? null;
  if (decision === null) return null;
  const did = {
    accept: 'accepted',
    correct: `corrected to ${nameCategory(decision.category)}`,
    reject: 'rejected',
  }[decision.type];
  const others =
    result.also === undefined || result.also === 0 ? '' : ` and ${result.also} more with the same failure`;
  const taught = decision.type === 'reject' ? '' : ` ${await explainTaught(stores, decision)}`;
  return `${item}${others}: ${did}.${taught} Press u to undo.`;
}

function describeUndone(count: number): string {
  if (count === 0) return 'That was already undone.';
  return count === 1
    ? 'Undone. The item is back in the queue, and what the decision taught is removed.'
    : `Undone. All ${count} items are back in the queue, and what the decision taught is removed.`;
}

function describeBulk(decided: number, left: number): string {
  const rest =
    left === 0
      ? ''
      : ` ${formatCount(left, 'item')} stayed: claimed by another person, already decided, or its change touches a suspect file. ` +
        'Open it to decide.';
  return `${decided === 0 ? 'Nothing was decided.' : `${formatCount(decided, 'item')} decided.`}${rest}`;
}
