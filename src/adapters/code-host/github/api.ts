import type { z } from 'zod';
import { TriageError } from '../../../domain/errors.ts';
import type { Logger } from '../../../ports/logger.ts';
import { createGithubClient } from '../../github-rest/client.ts';
import { githubError, httpFailure } from '../../github-rest/error.ts';
import { createGuardedFetch, REFUSAL_HEADER } from './guarded-fetch.ts';

export interface GithubApiOptions {
  /** Of the REST API: `https://api.github.com`, or `https://host/api/v3`. */
  readonly baseUrl: string;
  readonly token: string | null;
  readonly logger: Logger;
  /** Time limit of one question with all its tries, in milliseconds. */
  readonly timeoutMs?: number;
  /** Largest reply, in bytes. */
  readonly maxReplyBytes?: number;
  /** Unit of the waits between tries, in milliseconds; a second unless a test is in a hurry. */
  readonly retryUnitMs?: number;
}

/** One question to the API: its address, what it is called in a complaint, and who may stop it. */
export interface ApiQuestion {
  readonly route: string;
  readonly parameters: Readonly<Record<string, string | number>>;
  readonly what: string;
  readonly signal: AbortSignal;
  /** A media type of GitHub's in place of plain JSON. */
  readonly format?: 'object';
}

/** Reads GitHub. Throws TriageErrors only: `not-found` too where a repository is empty or a commit unknown. */
export interface GithubApi {
  readonly token: string | null;
  get<Reply>(schema: z.ZodType<Reply>, question: ApiQuestion): Promise<Reply>;
  /** The reply as it is, by a media type such as `raw` or `sha`. */
  text(format: 'raw' | 'sha', question: ApiQuestion): Promise<string>;
  graphql<Reply>(schema: z.ZodType<Reply>, query: string, question: Omit<ApiQuestion, 'route'>): Promise<Reply>;
}

/** GitHub's own trees are cut at 7 MB of names; with their addresses they come to several times that. */
const MAX_REPLY_BYTES = 48 * 1024 * 1024;

export function createGithubApi(options: GithubApiOptions): GithubApi {
  const { timeoutMs = 60_000, maxReplyBytes = MAX_REPLY_BYTES, ...rest } = options;
  const client = createGithubClient({ ...rest, fetch: createGuardedFetch(maxReplyBytes) });
  const send = (format: string | null, { route, parameters, what, signal }: ApiQuestion) =>
    bounded(what, timeoutMs, signal, async (limit): Promise<unknown> => {
      const mediaType = format === null ? {} : { mediaType: { format } };
      return (await client.request(route, { ...parameters, ...mediaType, request: { signal: limit } })).data;
    });
  return {
    token: options.token,
    get: async (schema, question) => checked(schema, question.what, await send(question.format ?? null, question)),
    text: async (format, question) => textOf(await send(format, question)),
    graphql: async (schema, query, { parameters, what, signal }) => {
      const data = await bounded(
        what,
        timeoutMs,
        signal,
        (limit): Promise<unknown> => client.graphql(query, { ...parameters, request: { signal: limit } }),
      );
      return checked(schema, what, data);
    },
  };
}

/** Null in place of `not-found`. */
export async function orNull<Value>(asked: Promise<Value>): Promise<Value | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof TriageError && error.code === 'not-found') return null;
    throw error;
  }
}

/** Runs a call under one time limit; a wait of the client's own between tries does not hold anybody who gave up. */
async function bounded<Value>(
  what: string,
  timeoutMs: number,
  signal: AbortSignal,
  run: (limit: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const clock = AbortSignal.timeout(timeoutMs);
  const limit = AbortSignal.any([signal, clock]);
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(limit.reason);
  limit.addEventListener('abort', end, { once: true });
  try {
    limit.throwIfAborted();
    return await Promise.race([run(limit), ended.promise]);
  } catch (error) {
    if (signal.aborted) throw new TriageError('cancelled', `Reading ${what} was cancelled.`, { cause: signal.reason });
    if (clock.aborted) throw new TriageError('timeout', `GitHub took longer than ${timeoutMs} ms for ${what}.`, { retryable: true });
    throw meaningOf(what, error);
  } finally {
    limit.removeEventListener('abort', end);
  }
}

function meaningOf(what: string, error: unknown): TriageError {
  const failure = httpFailure(error);
  const refused = failure?.headers[REFUSAL_HEADER];
  if (failure !== null && typeof refused === 'string') {
    return new TriageError(refused === 'too-large' ? 'too-large' : 'upstream-failed', `GitHub's reply for ${what}: ${failure.message}.`);
  }
  if (failure?.status === 409) return new TriageError('not-found', `GitHub answered 409 for ${what}: the repository is empty.`);
  if (failure?.status === 422) return new TriageError('not-found', `GitHub answered 422 for ${what}: there is no such thing.`);
  return graphqlMeaning(what, error) ?? githubError(what, error, 'the contents');
}

/** GraphQL answers 200 and says in the reply what went wrong. */
function graphqlMeaning(what: string, error: unknown): TriageError | null {
  if (!(error instanceof Error) || !('errors' in error) || !Array.isArray(error.errors)) return null;
  const types = error.errors.map((one: unknown) => (typeof one === 'object' && one !== null && 'type' in one ? one.type : null));
  if (types.includes('NOT_FOUND')) return new TriageError('not-found', `GitHub knows nothing of ${what}.`, { cause: error });
  if (types.includes('FORBIDDEN'))
    return new TriageError('upstream-auth', `GitHub does not let this token read ${what}.`, { cause: error });
  const retryable = types.includes('RATE_LIMITED');
  const said = error.message.replaceAll('\n', ' ').slice(0, 200);
  return new TriageError('upstream-failed', `GitHub could not tell ${what}: ${said}`, { retryable, cause: error });
}

function checked<Reply>(schema: z.ZodType<Reply>, what: string, data: unknown): Reply {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
  throw new TriageError('upstream-failed', `GitHub's reply for ${what} has another shape than expected${where}.`, { cause: result.error });
}

function textOf(data: unknown): string {
  if (typeof data === 'string') return data;
  if (data instanceof ArrayBuffer) return new TextDecoder().decode(data);
  // A raw JSON file may come with the media type of JSON: the client has read it then.
  return JSON.stringify(data, null, 2);
}
