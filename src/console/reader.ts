import type { FastifyRequest } from 'fastify';
import { DEFAULT_PREFERENCES } from '../domain/preferences.ts';
import type { Principal } from '../domain/review.ts';
import type { ConsoleDeps } from './console-deps.ts';
import type { Reader } from './page.ts';

/** Who looks at the page that answers this request. */
export async function readerOf(request: FastifyRequest, deps: Pick<ConsoleDeps, 'stores'>): Promise<Reader> {
  const { principal } = request;
  const preferences = principal === null ? DEFAULT_PREFERENCES : await deps.stores.preferences.of(principal.name);
  return { principal, preferences, waiting: null };
}

export function mayReview({ roles }: Principal): boolean {
  return roles.includes('review') || roles.includes('admin');
}
