import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { createGithubAccess, type GithubAccessOptions, type Signed } from './access.ts';
import { githubError, httpFailure, REFUSAL_HEADER, type RepositoryName } from './client.ts';

export interface GithubApiOptions extends GithubAccessOptions {
  /** Time limit of one question with all its tries, in milliseconds. */
  readonly timeoutMs?: number;
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

/** What only its own lists tell. */
type ListQuestion = Omit<ApiQuestion, 'format'>;

/** Who asks for lists of repositories. */
export interface Lister {
  readonly as: Signed['as'];
  get<Reply>(schema: z.ZodType<Reply>, question: ListQuestion): Promise<Reply>;
}

/** Reads GitHub about one repository, signed as it must be. Throws TriageErrors only: `not-found` too where it is empty or a commit unknown. */
export interface GithubApi {
  get<Reply>(place: RepositoryName, schema: z.ZodType<Reply>, question: ApiQuestion): Promise<Reply>;
  /** The reply as it is, by a media type such as `raw` or `sha`. */
  text(place: RepositoryName, format: 'raw' | 'sha', question: ApiQuestion): Promise<string>;
  graphql<Reply>(place: RepositoryName, schema: z.ZodType<Reply>, query: string, question: Omit<ApiQuestion, 'route'>): Promise<Reply>;
  /** Whether anybody vouches for us there: GitHub searches code and tells who changed a line for nobody else. */
  isSigned(place: RepositoryName, signal: AbortSignal): Promise<boolean>;
  listers(signal: AbortSignal): Promise<Lister[]>;
}

const LIMIT_MS = 60_000;

export function createGithubApi({ timeoutMs = LIMIT_MS, ...options }: GithubApiOptions): GithubApi {
  const access = createGithubAccess(options);
  const send = ({ owner, repo }: RepositoryName, format: string | null, { route, parameters, what, signal }: ApiQuestion) =>
    bounded(what, timeoutMs, signal, async (limit): Promise<unknown> => {
      const { client } = await access.forRepository({ owner, repo }, limit);
      const mediaType = format === null ? {} : { mediaType: { format } };
      return (await client.request(route, { ...parameters, ...mediaType, request: { signal: limit } })).data;
    });
  const listerOf = ({ client, as }: Signed): Lister => ({
    as,
    get: async (schema, { route, parameters, what, signal }) => {
      const ask = (limit: AbortSignal): Promise<{ data: unknown }> => client.request(route, { ...parameters, request: { signal: limit } });
      return checked(schema, what, (await bounded(what, timeoutMs, signal, ask)).data);
    },
  });
  return {
    get: async (place, schema, question) => checked(schema, question.what, await send(place, question.format ?? null, question)),
    text: async (place, format, question) => textOf(await send(place, format, question)),
    graphql: async (place, schema, query, { parameters, what, signal }) => {
      const data = await bounded(what, timeoutMs, signal, async (limit): Promise<unknown> => {
        const { client } = await access.forRepository(place, limit);
        return client.graphql(query, { ...parameters, request: { signal: limit } });
      });
      return checked(schema, what, data);
    },
    isSigned: ({ owner, repo }, signal) =>
      bounded(`${owner}/${repo}`, timeoutMs, signal, async (limit) => (await access.forRepository({ owner, repo }, limit)).as !== 'nobody'),
    listers: async (signal) => (await bounded('the repositories', timeoutMs, signal, (limit) => access.forLists(limit))).map(listerOf),
  };
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
    if (signal.aborted) throw new TriageError('cancelled', `Reading ${what} was canceled.`, { cause: signal.reason });
    if (clock.aborted) throw new TriageError('timeout', `GitHub took longer than ${timeoutMs} ms for ${what}.`, { retryable: true });
    throw meaningOf(what, error);
  } finally {
    limit.removeEventListener('abort', end);
  }
}

function meaningOf(what: string, error: unknown): TriageError {
  const failure = httpFailure(error);
  if (failure?.status === 409) return new TriageError('not-found', `GitHub returned 409 for ${what}: the repository is empty.`);
  if (failure?.status === 422 && failure.headers[REFUSAL_HEADER] === undefined)
    return new TriageError('not-found', `GitHub returned 422 for ${what}: it does not exist.`);
  return graphqlMeaning(what, error) ?? githubError(what, error, 'the contents');
}

/** GraphQL answers 200 and says in the reply what went wrong. */
function graphqlMeaning(what: string, error: unknown): TriageError | null {
  if (!(error instanceof Error) || !('errors' in error) || !Array.isArray(error.errors)) return null;
  const types = error.errors.map((one: unknown) => (typeof one === 'object' && one !== null && 'type' in one ? one.type : null));
  if (types.includes('NOT_FOUND')) return new TriageError('not-found', `GitHub cannot find ${what}.`, { cause: error });
  if (types.includes('FORBIDDEN'))
    return new TriageError('upstream-auth', `This token or App has no permission to read ${what} on GitHub.`, { cause: error });
  const retryable = types.includes('RATE_LIMITED');
  const said = error.message.replaceAll('\n', ' ').slice(0, 200);
  return new TriageError('upstream-failed', `GitHub could not return ${what}: ${said}`, { retryable, cause: error });
}

function checked<Reply>(schema: z.ZodType<Reply>, what: string, data: unknown): Reply {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
  throw new TriageError('upstream-failed', `GitHub's response for ${what} has an unexpected format${where}.`, { cause: result.error });
}

function textOf(data: unknown): string {
  if (typeof data === 'string') return data;
  if (data instanceof ArrayBuffer) return new TextDecoder().decode(data);
  // A raw JSON file may come with the media type of JSON: the client has read it then.
  return JSON.stringify(data, null, 2);
}

/** The fields we use of GitHub's replies. */
export const Repository = z.object({
  full_name: z.string(),
  default_branch: z.string().nullish(),
  description: z.string().nullish(),
});

export const Tree = z.object({
  tree: z.array(z.object({ path: z.string(), mode: z.string(), type: z.string(), sha: z.string(), size: z.number().optional() })),
  truncated: z.boolean().default(false),
});

/** A file by its path: only asked where the tree was too large to hold it. */
export const Content = z.object({ type: z.string(), sha: z.string(), size: z.number().default(0), target: z.string().nullish() });

const File = z.object({
  filename: z.string(),
  previous_filename: z.string().optional(),
  status: z.string(),
  additions: z.number(),
  deletions: z.number(),
  patch: z.string().optional(),
});
export type FileReply = z.infer<typeof File>;

const Person = z.object({ name: z.string().nullish(), date: z.string().nullish() }).nullish();

export const Commit = z.object({
  sha: z.string(),
  commit: z.object({ message: z.string(), author: Person }),
  files: z.array(File).optional(),
});
export type CommitReply = z.infer<typeof Commit>;

export const Comparison = z.object({
  total_commits: z.number(),
  commits: z.array(Commit),
  files: z.array(File).default([]),
});

export const PullRequests = z.array(z.object({ number: z.number(), merged_at: z.string().nullish() }));

export const CodeSearch = z.object({ items: z.array(z.object({ path: z.string() })) });

export const InstallationRepositories = z.object({ repositories: z.array(Repository) });

export const Blame = z.object({
  repository: z
    .object({
      object: z
        .object({
          blame: z
            .object({
              ranges: z.array(
                z.object({
                  startingLine: z.number(),
                  endingLine: z.number(),
                  commit: z.object({
                    oid: z.string(),
                    authoredDate: z.string(),
                    messageHeadline: z.string(),
                    author: z.object({ name: z.string().nullish() }).nullish(),
                  }),
                }),
              ),
            })
            .nullish(),
        })
        .nullish(),
    })
    .nullish(),
});
