import type { Octokit } from '@octokit/rest';
import { type BoundedCache, createBoundedCache } from './bounded-cache.ts';
import { httpFailure } from './error.ts';

interface Kept {
  readonly etag: string;
  readonly response: Awaited<ReturnType<Octokit['request']>>;
  readonly weight: number;
}

export type KeptAnswers = BoundedCache<Kept>;

/** Characters of replies that are kept together, and of the largest. */
const MAX_KEPT = 16 * 1024 * 1024;
const MAX_ONE = 2 * 1024 * 1024;

/** Room for the answers of several clients: those of each stay its own. */
export function createKeptAnswers(): KeptAnswers {
  return createBoundedCache<Kept>(MAX_KEPT, ({ weight }) => weight);
}

/**
 * Asks again with the mark of the last answer (`If-None-Match`): where nothing changed GitHub says only that, which costs nothing of the
 * rate limit, and the kept answer is given. An answer is given to `who` it was told and to nobody else: never to another token, nor to
 * another installation of an App.
 */
export function askWhetherChanged(client: Octokit, answers: KeptAnswers, who: string): void {
  client.hook.wrap('request', async (request, options) => {
    const { method, url, headers } = client.request.endpoint(options);
    if (method !== 'GET') return await request(options);
    const key = `${who} ${url} ${headers.accept ?? ''}`;
    const kept = answers.get(key);
    // In place: hooks further in were given these very options.
    if (kept !== undefined) options.headers['if-none-match'] = kept.etag;
    try {
      const response = await request(options);
      const { etag } = response.headers;
      const weight = etag === undefined ? Number.POSITIVE_INFINITY : weightOf(response.data);
      if (etag !== undefined && weight <= MAX_ONE) answers.set(key, { etag, response, weight });
      return response;
    } catch (error) {
      if (kept !== undefined && httpFailure(error)?.status === 304) return kept.response;
      throw error;
    }
  });
}

/** What is neither text nor JSON is not kept. */
function weightOf(data: unknown): number {
  if (typeof data === 'string') return data.length;
  const isJson = Array.isArray(data) || (typeof data === 'object' && data !== null && Object.getPrototypeOf(data) === Object.prototype);
  return isJson ? JSON.stringify(data).length : Number.POSITIVE_INFINITY;
}
