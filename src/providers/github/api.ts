import type { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { parseReply, withDeadline } from '../rest-client.ts';
import { createGithubAccess, type GithubAccessOptions, type Signed } from './access.ts';
import { createGithubError, findHttpFailure, REFUSAL_HEADER, type RepositoryName } from './client.ts';

export interface GithubApiOptions extends GithubAccessOptions {
  /** The time limit of one request with all its attempts, in milliseconds. */
  readonly timeoutMs?: number;
}

/** One request to the API: its route, its name in error messages, and the signal that cancels it. */
export interface ApiQuestion {
  readonly route: string;
  readonly parameters: Readonly<Record<string, string | number>>;
  readonly what: string;
  readonly signal: AbortSignal;
  /** A media type of GitHub in place of plain JSON. */
  readonly format?: 'object';
}

/** A request for the lists of repositories, without a media type. */
type ListQuestion = Omit<ApiQuestion, 'format'>;

/** A client that can list repositories. */
export interface Lister {
  readonly as: Signed['as'];
  get<Reply>(schema: z.ZodType<Reply>, question: ListQuestion): Promise<Reply>;
}

/**
 * A reader of one repository at GitHub, with the right credentials. Throws only TriageErrors, also
 * `not-found` if the repository is empty or a commit unknown.
 */
export interface GithubApi {
  get<Reply>(place: RepositoryName, schema: z.ZodType<Reply>, question: ApiQuestion): Promise<Reply>;
  /** Returns the response as text, in a media type such as `raw` or `sha`. */
  text(place: RepositoryName, format: 'raw' | 'sha', question: ApiQuestion): Promise<string>;
  graphql<Reply>(
    place: RepositoryName,
    schema: z.ZodType<Reply>,
    query: string,
    question: Omit<ApiQuestion, 'route'>,
  ): Promise<Reply>;
  /**
   * Checks whether calls for the repository carry credentials. GitHub requires them for code search and
   * blame.
   */
  isSigned(place: RepositoryName, signal: AbortSignal): Promise<boolean>;
  listers(signal: AbortSignal): Promise<Lister[]>;
}

const TIME_LIMIT_MS = 60_000;

export function createGithubApi({ timeoutMs = TIME_LIMIT_MS, ...options }: GithubApiOptions): GithubApi {
  const access = createGithubAccess(options);
  const send = (
    { owner, repo }: RepositoryName,
    format: string | null,
    { route, parameters, what, signal }: ApiQuestion,
  ) =>
    runBounded(what, timeoutMs, signal, async (limit): Promise<unknown> => {
      const { client } = await access.forRepository({ owner, repo }, limit);
      const mediaType = format === null ? {} : { mediaType: { format } };
      return (await client.request(route, { ...parameters, ...mediaType, request: { signal: limit } })).data;
    });
  const createLister = ({ client, as }: Signed): Lister => ({
    as,
    get: async (schema, { route, parameters, what, signal }) => {
      const ask = (limit: AbortSignal): Promise<{ data: unknown }> =>
        client.request(route, { ...parameters, request: { signal: limit } });
      return parseReply('GitHub', schema, what, (await runBounded(what, timeoutMs, signal, ask)).data);
    },
  });
  return {
    get: async (place, schema, question) =>
      parseReply('GitHub', schema, question.what, await send(place, question.format ?? null, question)),
    text: async (place, format, question) => toText(await send(place, format, question)),
    graphql: async (place, schema, query, { parameters, what, signal }) => {
      const data = await runBounded(what, timeoutMs, signal, async (limit): Promise<unknown> => {
        const { client } = await access.forRepository(place, limit);
        return client.graphql(query, { ...parameters, request: { signal: limit } });
      });
      return parseReply('GitHub', schema, what, data);
    },
    isSigned: ({ owner, repo }, signal) =>
      runBounded(
        `${owner}/${repo}`,
        timeoutMs,
        signal,
        async (limit) => (await access.forRepository({ owner, repo }, limit)).as !== 'nobody',
      ),
    listers: async (signal) =>
      (await runBounded('the repositories', timeoutMs, signal, (limit) => access.forLists(limit))).map(
        createLister,
      ),
  };
}

/**
 * Runs a call under one time limit, so that waits of the client between attempts do not delay a caller who
 * has given up.
 */
function runBounded<Value>(
  what: string,
  timeoutMs: number,
  signal: AbortSignal,
  run: (limit: AbortSignal) => Promise<Value>,
): Promise<Value> {
  return withDeadline(`Asking GitHub for ${what}`, timeoutMs, signal, async (limit) => {
    try {
      limit.throwIfAborted();
      return await run(limit);
    } catch (error) {
      throw toTriageError(what, error);
    }
  });
}

function toTriageError(what: string, error: unknown): TriageError {
  const failure = findHttpFailure(error);
  if (failure?.status === 409)
    return new TriageError('not-found', `GitHub returned 409 for ${what}: the repository is empty.`);
  if (failure?.status === 422 && !failure.headers.has(REFUSAL_HEADER))
    return new TriageError('not-found', `GitHub returned 422 for ${what}: it does not exist.`);
  return toGraphqlError(what, error) ?? createGithubError(what, error, 'read the contents');
}

/** Converts a GraphQL error. GraphQL responds with 200 and reports errors in the body. */
function toGraphqlError(what: string, error: unknown): TriageError | null {
  if (!(error instanceof Error) || !('errors' in error) || !Array.isArray(error.errors)) return null;
  const types = error.errors.map((other: unknown) =>
    typeof other === 'object' && other !== null && 'type' in other ? other.type : null,
  );
  if (types.includes('NOT_FOUND'))
    return new TriageError('not-found', `GitHub cannot find ${what}.`, { cause: error });
  if (types.includes('FORBIDDEN'))
    return new TriageError(
      'upstream-auth',
      `This token or App has no permission to read ${what} on GitHub.`,
      { cause: error },
    );
  const retryable = types.includes('RATE_LIMITED');
  const message = error.message.replaceAll('\n', ' ').slice(0, 200);
  return new TriageError('upstream-failed', `GitHub could not return ${what}: ${message}`, {
    retryable,
    cause: error,
  });
}

function toText(data: unknown): string {
  if (typeof data === 'string') return data;
  if (data instanceof ArrayBuffer) return new TextDecoder().decode(data);
  // For a raw JSON file, GitHub may send the media type of JSON, and the client has parsed it.
  return JSON.stringify(data, null, 2);
}
