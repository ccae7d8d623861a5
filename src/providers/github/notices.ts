import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { StatusContent } from '../../notifications/render-status.ts';
import type { NotificationClient } from '../../ports/notices.ts';
import { type CommentThread, createCommentClient } from '../comments.ts';
import { createGithubAccess, type GithubAccess, type GithubAccessOptions, type Signed } from './access.ts';
import { type GithubClient, githubError, httpFailure, type RepositoryName } from './client.ts';

export type GithubClientOptions = Omit<GithubAccessOptions, 'rights'>;

/** Who speaks where, and as whom. */
export interface GithubVoice {
  readonly place: RepositoryName;
  readonly client: GithubClient;
  readonly as: Signed['as'];
}

/** One call that writes or reads: what it is called in a complaint, and the right it needs. */
export interface GithubAsked {
  readonly what: string;
  /** "Pull requests", as GitHub's settings call it. */
  readonly right: string;
}

/** Access with no more than what the clients write: an App's tokens are asked for nothing else. */
export function openGithubVoices(options: GithubClientOptions): GithubAccess {
  const rights = { metadata: 'read', pull_requests: 'write', checks: 'write', statuses: 'write' } as const;
  return createGithubAccess({ ...options, rights });
}

/** Throws `upstream-auth` where nobody may speak there. */
export async function voiceFor(access: GithubAccess, repository: string, signal: AbortSignal): Promise<GithubVoice> {
  const [owner = '', repo = ''] = repository.split('/');
  const { client, as } = await access.forRepository({ owner, repo }, signal);
  return { place: { owner, repo }, client, as };
}

/** What `call` answers; its failure as a TriageError that says what to mend. */
export async function asked<Answer>({ what, right }: GithubAsked, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    const meaning = githubError(what, error, 'the contents');
    if (meaning.code !== 'upstream-auth' || error instanceof TriageError) throw meaning;
    const status = httpFailure(error)?.status;
    const says = `GitHub returned ${status} for ${what}. FAULTLINE_GITHUB_TOKEN, or the GitHub App where it is installed, needs permission to write "${right}" in this repository.`;
    throw new TriageError('upstream-auth', says, { cause: error });
  }
}

const Viewer = z.object({ viewer: z.object({ login: z.string().min(1) }) });
const logins = new WeakMap<GithubClient, string>();

/** The login under which what we write appears: a user's, or `name[bot]` of an App. Asked once for each client. */
export async function ownLogin(client: GithubClient, signal: AbortSignal): Promise<string> {
  const known = logins.get(client);
  if (known !== undefined) return known;
  const reply = await asked({ what: 'the name of this account', right: 'Pull requests' }, () =>
    client.graphql('query { viewer { login } }', { request: { signal } }),
  );
  const { login } = Viewer.parse(reply).viewer;
  logins.set(client, login);
  return login;
}

export interface GithubCommentOptions extends GithubClientOptions {
  readonly mode: 'edit' | 'recreate';
}

const RIGHT = 'Pull requests';
const Comment = z.object({ id: z.int(), body: z.string().nullish(), user: z.object({ login: z.string() }).nullish() });

/** The comment of a pull request. */
export function createGithubCommentClient({ mode, ...options }: GithubCommentOptions): NotificationClient<{ readonly body: string }> {
  const access = openGithubVoices(options);
  return createCommentClient({
    ...{ label: 'GitHub', mode, maxBody: 65_536, pageSize: 100 },
    open: async (repository, pullRequest, signal) => commentsOf(await voiceFor(access, repository, signal), pullRequest, signal),
  });
}

function commentsOf({ client, place }: GithubVoice, pullRequest: number, signal: AbortSignal): CommentThread {
  const ours = (id: number) => ({ what: `our comment ${id}`, right: RIGHT });
  const comments = '/repos/{owner}/{repo}/issues/{issue_number}/comments';
  const one = '/repos/{owner}/{repo}/issues/comments/{comment_id}';
  return {
    list: async (page, size) => {
      const { data } = await asked({ what: `the comments of pull request ${pullRequest}`, right: RIGHT }, () =>
        client.request(`GET ${comments}`, { ...place, issue_number: pullRequest, per_page: size, page, request: { signal } }),
      );
      return z
        .array(Comment)
        .parse(data)
        .map(({ id, body, user }) => ({ id, body: body ?? null, author: user?.login ?? null }));
    },
    create: async (body) => {
      const { data } = await asked({ what: `a comment on pull request ${pullRequest}`, right: RIGHT }, () =>
        client.request(`POST ${comments}`, { ...place, issue_number: pullRequest, body, request: { signal, retries: 0 } }),
      );
      return Comment.parse(data).id;
    },
    edit: async (id, body) =>
      void (await asked(ours(id), () => client.request(`PATCH ${one}`, { ...place, comment_id: id, body, request: { signal } }))),
    remove: async (id) =>
      void (await asked(ours(id), () => client.request(`DELETE ${one}`, { ...place, comment_id: id, request: { signal } }))),
    ownLogin: () => ownLogin(client, signal),
  };
}

const CONTEXT = 'Faultline';

/** A commit status: the newest under one name is what counts, so that a second one harms nobody. */
export function createGithubStatusClient(options: GithubClientOptions): NotificationClient<StatusContent> {
  const access = openGithubVoices(options);
  return {
    show: async ({ state, description, targetUrl }, { notice, signal }) => {
      const { about, repository } = notice;
      if (about.type !== 'commit') throw new TriageError('invalid-input', `The notice ${notice.key} has no commit.`);
      const { client, place } = await voiceFor(access, repository, signal);
      await asked({ what: `the status of ${repository}@${about.commit}`, right: 'Commit statuses' }, () =>
        client.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
          ...{ ...place, sha: about.commit, state, description, context: CONTEXT },
          ...(targetUrl === null ? {} : { target_url: targetUrl }),
          request: { signal },
        }),
      );
      return { reference: about.commit };
    },
  };
}
