import { z } from 'zod';
import type { NoticeCall, NoticeSender } from '../../channels/channel.ts';
import { TriageError } from '../../domain/errors.ts';
import type { CheckAnnotation, CheckContent } from '../../notifications/render-check.ts';
import type { StatusContent } from '../../notifications/render-status.ts';
import { COMMENT_PAGES, type CommentThread, createCommentClient, createStatusClient } from '../comments.ts';
import { createSuggestionClient, type Suggestions, type SuggestionThread } from '../suggestions.ts';
import { createGithubAccess, type GithubAccess, type GithubAccessOptions, type Signed } from './access.ts';
import { createGithubError, findHttpFailure, type GithubClient, type RepositoryName } from './client.ts';

export type GithubClientOptions = Omit<GithubAccessOptions, 'rights'>;

/** The repository, and the client and identity for writing to it. */
export interface GithubVoice {
  readonly place: RepositoryName;
  readonly client: GithubClient;
  readonly as: Signed['as'];
}

/** One request that reads or writes: its name in error messages, and the permission that it needs. */
export interface GithubAsked {
  readonly what: string;
  /** The permission as named in GitHub's settings: "Pull requests". */
  readonly right: string;
}

/**
 * Opens the access with only the rights that the clients need. An App's tokens are requested with no others.
 */
function openGithubVoices(options: GithubClientOptions): GithubAccess {
  const rights = { metadata: 'read', pull_requests: 'write', checks: 'write', statuses: 'write' } as const;
  return createGithubAccess({ ...options, rights });
}

/** Finds the client and identity for a repository. Throws `upstream-auth` if none may write to it. */
async function findVoice(
  access: GithubAccess,
  repository: string,
  signal: AbortSignal,
): Promise<GithubVoice> {
  const [owner = '', repo = ''] = repository.split('/');
  const { client, as } = await access.forRepository({ owner, repo }, signal);
  return { place: { owner, repo }, client, as };
}

/** Returns the result of `call`. Converts a failure to a TriageError that says what to change. */
async function callGithub<Answer>(
  { what, right }: GithubAsked,
  call: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    const meaning = createGithubError(what, error, 'read the contents');
    if (meaning.code !== 'upstream-auth' || error instanceof TriageError) throw meaning;
    const status = findHttpFailure(error)?.status;
    const says =
      `GitHub returned ${status} for ${what}. FAULTLINE_GITHUB_TOKEN, or the GitHub App where it is ` +
      `installed, needs permission to write "${right}" in this repository.`;
    throw new TriageError('upstream-auth', says, { cause: error });
  }
}

const Viewer = z.object({ viewer: z.object({ login: z.string().min(1) }) });
const logins = new WeakMap<GithubClient, string>();

/**
 * Returns the login under which our comments appear: a user's, or `name[bot]` of an App. It is requested once
 * for each client.
 */
async function fetchOwnLogin(client: GithubClient, signal: AbortSignal): Promise<string> {
  const known = logins.get(client);
  if (known !== undefined) return known;
  const reply = await callGithub({ what: "the account's name", right: 'Pull requests' }, () =>
    client.graphql('query { viewer { login } }', { request: { signal } }),
  );
  const { login } = Viewer.parse(reply).viewer;
  logins.set(client, login);
  return login;
}

const RIGHT = 'Pull requests';
const Comment = z.object({
  id: z.int(),
  body: z.string().nullish(),
  user: z.object({ login: z.string() }).nullish(),
});

/** Creates a client for the comment on a pull request. */
export function createGithubCommentClient(
  options: GithubClientOptions,
): NoticeSender<{ readonly body: string }> {
  const access = openGithubVoices(options);
  return createCommentClient({
    label: 'GitHub',
    maxBody: 65_536,
    open: async (repository, pullRequest, signal) =>
      openComments(await findVoice(access, repository, signal), pullRequest, signal),
  });
}

function openComments(
  { client, place }: GithubVoice,
  pullRequest: number,
  signal: AbortSignal,
): CommentThread {
  const ours = (id: number) => ({ what: `comment ${id} of Faultline`, right: RIGHT });
  const comments = '/repos/{owner}/{repo}/issues/{issue_number}/comments';
  const COMMENT_ROUTE = '/repos/{owner}/{repo}/issues/comments/{comment_id}';
  return {
    list: () =>
      listItems(
        Comment.transform(toPostedComment),
        `the comments of pull request ${pullRequest}`,
        COMMENT_PAGES,
        (paging) =>
          client.request(`GET ${comments}`, {
            ...place,
            issue_number: pullRequest,
            ...paging,
            request: { signal },
          }),
      ),
    create: async (body) => {
      const { data } = await callGithub(
        { what: `a comment on pull request ${pullRequest}`, right: RIGHT },
        () =>
          client.request(`POST ${comments}`, {
            ...place,
            issue_number: pullRequest,
            body,
            request: { signal, retries: 0 },
          }),
      );
      return Comment.parse(data).id;
    },
    edit: async (id, body) =>
      void (await callGithub(ours(id), () =>
        client.request(`PATCH ${COMMENT_ROUTE}`, { ...place, comment_id: id, body, request: { signal } }),
      )),
    remove: async (id) =>
      void (await callGithub(ours(id), () =>
        client.request(`DELETE ${COMMENT_ROUTE}`, { ...place, comment_id: id, request: { signal } }),
      )),
    ownLogin: () => fetchOwnLogin(client, signal),
  };
}

function toPostedComment({ id, body, user }: z.infer<typeof Comment>) {
  return { id, body: body ?? null, author: user?.login ?? null };
}

/** Yields the items of a list about a pull request, page by page. */
async function* listItems<Item>(
  schema: z.ZodType<Item>,
  what: string,
  maxPages: number,
  ask: (paging: { per_page: number; page: number }) => Promise<{ data: unknown }>,
): AsyncGenerator<Item> {
  for (let page = 1; page <= maxPages; page++) {
    const { data } = await callGithub({ what, right: RIGHT }, () => ask({ per_page: PER_PAGE, page }));
    const items = z.array(schema).parse(data);
    yield* items;
    if (items.length < PER_PAGE) return;
  }
}

const PlacedComment = Comment.extend({ path: z.string(), line: z.int().nullish() }).transform(
  ({ path, line, ...comment }) => ({
    ...toPostedComment(comment),
    path,
    line: line ?? null,
  }),
);
const Head = z.object({ head: z.object({ sha: z.string() }) });

/** Creates a client for suggestions at lines of a pull request. */
export function createGithubSuggestionClient(options: GithubClientOptions): NoticeSender<Suggestions> {
  const access = openGithubVoices(options);
  return createSuggestionClient({
    fenceWord: () => 'suggestion',
    open: async (repository, pullRequest, signal) =>
      openSuggestions(await findVoice(access, repository, signal), pullRequest, signal),
  });
}

function openSuggestions(voice: GithubVoice, pullRequest: number, signal: AbortSignal): SuggestionThread {
  const { client, place } = voice;
  const pull = { ...place, pull_number: pullRequest, request: { signal } };
  const comments = '/repos/{owner}/{repo}/pulls/{pull_number}/comments';
  const ours = (id: number) => ({ what: `comment ${id} of Faultline in the code`, right: RIGHT });
  const commentRequest = (id: number) => ({ ...place, comment_id: id, request: { signal } });
  const path = '/repos/{owner}/{repo}/pulls/comments/{comment_id}';
  return {
    list: () =>
      listItems(
        PlacedComment,
        `the comments in the code of pull request ${pullRequest}`,
        COMMENT_PAGES,
        (paging) => client.request(`GET ${comments}`, { ...pull, ...paging }),
      ),
    patches: () => listChangedFiles(voice, pullRequest, signal),
    create: async ({ path, from, to }, body) => {
      const what = { what: `a comment in the code of pull request ${pullRequest}`, right: RIGHT };
      const { data } = await callGithub(what, () =>
        client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', pull),
      );
      const range = from === to ? {} : { start_line: from, start_side: 'RIGHT' as const };
      const where = {
        commit_id: Head.parse(data).head.sha,
        path,
        line: to,
        side: 'RIGHT' as const,
        ...range,
      };
      await callGithub(what, () =>
        client.request(`POST ${comments}`, { ...pull, ...where, body, request: { signal, retries: 0 } }),
      );
    },
    edit: async (id, body) =>
      void (await callGithub(ours(id), () =>
        client.request(`PATCH ${path}`, { ...commentRequest(id), body }),
      )),
    remove: async (id) =>
      void (await callGithub(ours(id), () => client.request(`DELETE ${path}`, commentRequest(id)))),
    ownLogin: () => fetchOwnLogin(client, signal),
  };
}

const CONTEXT = 'Faultline';

export function createGithubStatusClient(options: GithubClientOptions): NoticeSender<StatusContent> {
  const access = openGithubVoices(options);
  return createStatusClient(
    async ({ state, description, targetUrl }, { repository, commit: sha, what, signal }) => {
      const { client, place } = await findVoice(access, repository, signal);
      const target = targetUrl === null ? {} : { target_url: targetUrl };
      await callGithub({ what, right: 'Commit statuses' }, () =>
        client.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
          ...place,
          sha,
          state,
          description,
          context: CONTEXT,
          ...target,
          request: { signal },
        }),
      );
    },
  );
}

const NAME = 'Faultline';
/** The maximum number of annotations in one request. Annotations of further requests are added to them. */
const PER_REQUEST = 50;
const MAX_SUMMARY = 65_535;
const CHECKS = 'Checks';

const CheckRun = z.object({
  id: z.int(),
  external_id: z.string().nullish(),
  app: z.object({ slug: z.string().nullish() }).nullish(),
  output: z.object({ annotations_count: z.int() }).nullish(),
});
const CheckRuns = z.object({ check_runs: z.array(CheckRun) });

/**
 * Creates a client for the check run of a build, which is identified by its `external_id` and the App that
 * owns it. Only GitHub Apps may write checks.
 */
export function createGithubCheckClient(options: GithubClientOptions): NoticeSender<CheckContent> {
  const access = openGithubVoices(options);
  const voice = async ({ to: { repository }, signal }: NoticeCall) => {
    const found = await findVoice(access, repository, signal);
    if (found.as === 'installation') return found;
    throw new TriageError(
      'upstream-auth',
      `Only GitHub Apps can write checks, and none is installed on ${repository}.`,
    );
  };
  return {
    send: async (content, call) => {
      const speaking = await voice(call);
      const known = call.reference ?? (await findOwn(speaking, content.commit, call));
      const run = await write(speaking, content, known, [], call);
      await annotate(speaking, content, run, call);
      return { reference: String(run.id) };
    },
  };
}

/** Finds our check run that an attempt created before a crash. */
async function findOwn(
  { client, place }: GithubVoice,
  commit: string,
  { key, signal }: NoticeCall,
): Promise<string | null> {
  const { data } = await callGithub({ what: `the checks of ${commit}`, right: CHECKS }, () =>
    client.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
      ...place,
      ref: commit,
      check_name: NAME,
      filter: 'all',
      per_page: 100,
      request: { signal },
    }),
  );
  const ours = CheckRuns.parse(data).check_runs.filter((run) => run.external_id === key);
  if (ours.length === 0) return null;
  const login = await fetchOwnLogin(client, signal);
  const [found] = ours.filter(({ app }) => `${app?.slug}[bot]` === login);
  return found === undefined ? null : String(found.id);
}

/** Creates the run, or updates the known one. */
async function write(
  { client, place }: GithubVoice,
  content: CheckContent,
  reference: string | null,
  annotations: readonly CheckAnnotation[],
  { to, key, signal }: NoticeCall,
): Promise<z.infer<typeof CheckRun>> {
  const fields = {
    ...place,
    ...(content.status === 'completed'
      ? { status: content.status, conclusion: 'neutral' as const }
      : { status: content.status }),
    ...(content.detailsUrl === null ? {} : { details_url: content.detailsUrl }),
    output: {
      title: content.title,
      summary: content.summary.slice(0, MAX_SUMMARY),
      text: content.text,
      ...(annotations.length === 0 ? {} : { annotations: annotations.map(toAnnotation) }),
    },
  };
  const { data } = await callGithub(
    { what: `the check of ${to.repository}@${content.commit}`, right: CHECKS },
    async (): Promise<{ data: unknown }> =>
      reference === null
        ? await client.request('POST /repos/{owner}/{repo}/check-runs', {
            ...fields,
            name: NAME,
            head_sha: content.commit,
            external_id: key,
            // The client must not retry, because the first attempt may have succeeded. The next call looks
            // for its result.
            request: { signal, retries: 0 },
          })
        : await client.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
            ...fields,
            check_run_id: Number(reference),
            request: { signal },
          }),
  );
  return CheckRun.parse(data);
}

/**
 * Adds only the annotations that are still missing, because GitHub keeps existing ones and would show
 * duplicates.
 */
async function annotate(
  voice: GithubVoice,
  content: CheckContent,
  run: z.infer<typeof CheckRun>,
  call: NoticeCall,
): Promise<void> {
  const there = run.output?.annotations_count ?? 0;
  if (content.annotations.length <= there || content.pullRequest === null) return;
  const files = await listChangedFiles(voice, content.pullRequest, call.signal);
  const wanted = content.annotations.filter(({ path }) => files.has(path));
  for (let from = there; from < wanted.length; from += PER_REQUEST) {
    await write(voice, content, String(run.id), wanted.slice(from, from + PER_REQUEST), call);
  }
}

function toAnnotation({ path, line, level, title, message, details }: CheckAnnotation) {
  return {
    path,
    start_line: line,
    end_line: line,
    annotation_level: level,
    title,
    message,
    ...(details === '' ? {} : { raw_details: details }),
  };
}

const PER_PAGE = 100;
/**
 * The maximum number of pages that are read. GitHub lists at most 3,000 files; a change of more than a
 * thousand is too large for a person to review.
 */
const MAX_PAGES = 10;

const File = z.object({ filename: z.string(), patch: z.string().optional() });

/** Lists the files that a pull request changes, at most a thousand, with their hunks if GitHub shows them. */
async function listChangedFiles(
  { client, place }: GithubVoice,
  pullRequest: number,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const files = listItems(File, `the files of pull request ${pullRequest}`, MAX_PAGES, (paging) =>
    client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', {
      ...place,
      pull_number: pullRequest,
      ...paging,
      request: { signal },
    }),
  );
  const patches = new Map<string, string>();
  for await (const { filename, patch = '' } of files) patches.set(filename, patch);
  return patches;
}
