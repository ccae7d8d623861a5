import type { FastifyRequest } from 'fastify';
import { DEFAULT_PREFERENCES } from '../domain/access.ts';
import type { Principal } from '../domain/review.ts';
import type { ScopedStores } from '../ports/stores.ts';
import type { ConsoleDeps } from './console-deps.ts';
import type { Reader } from './page.ts';

/** So long a count of what waits is shown again, in milliseconds. */
const COUNT_MS = 5_000;
const counted = new WeakMap<ScopedStores, Map<string, { readonly at: number; readonly count: Promise<number | null> }>>();

/** Who looks at the page that answers this request. */
export async function readerOf(request: FastifyRequest, deps: Pick<ConsoleDeps, 'stores'>): Promise<Reader> {
  const { principal } = request;
  if (principal === null) return { principal, preferences: DEFAULT_PREFERENCES, waiting: null };
  const [preferences, waiting] = await Promise.all([deps.stores.preferences.of(principal.name), waitingFor(principal, deps.stores)]);
  return { principal, preferences, waiting };
}

/** After a decision the next page counts anew. */
export function forgetWaiting(stores: ScopedStores): void {
  counted.delete(stores);
}

/** How many items wait for whoever may review; a few seconds old at most. A count that cannot be had is no reason to show no page. */
async function waitingFor(principal: Principal, stores: ScopedStores): Promise<number | null> {
  if (!mayReview(principal)) return null;
  const known = counted.get(stores) ?? new Map();
  counted.set(stores, known);
  const key = (principal.repositories ?? ['*']).join(' ');
  const last = known.get(key);
  if (last !== undefined && Date.now() - last.at < COUNT_MS) return await last.count;
  const count = stores.reviews.counts(principal.name).then(
    ({ waiting }) => waiting,
    () => null,
  );
  if (known.size > 1000) known.clear();
  known.set(key, { at: Date.now(), count });
  return await count;
}

export function mayReview({ roles }: Principal): boolean {
  return roles.includes('review') || roles.includes('admin');
}
