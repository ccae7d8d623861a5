import { z } from 'zod';
import type { NoticeSender } from '../../channels/channel.ts';
import type { StatusContent } from '../../notifications/render-status.ts';
import { type CommentThread, createCommentClient, createStatusClient } from '../comments.ts';
import { buildPath, type RestClient } from '../rest-client.ts';
import { createGiteaClient, type GiteaOptions, splitOwnerAndName } from './client.ts';

/** Time limit of one call in milliseconds, unless the call has its own. */
const NOTICE_MS = 60_000;
const CONTEXT = 'Faultline';

const Comment = z.object({
  id: z.int(),
  body: z.string().nullish(),
  user: z.object({ login: z.string() }).nullish(),
});
const User = z.object({ login: z.string().min(1) });

/** Creates a client for the comment on a pull request. */
export function createGiteaCommentClient(options: GiteaOptions): NoticeSender<{ readonly body: string }> {
  const client = createGiteaClient(options, NOTICE_MS);
  let login: string | null = null;
  const ownLogin = async (signal: AbortSignal) => {
    login ??= (await client.get(User, { path: '/user', what: "the account's name", signal })).login;
    return login;
  };
  return createCommentClient({
    label: 'Gitea',
    maxBody: 65_536,
    open: async (repository, pullRequest, signal) => ({
      ...openComments(client, repository, pullRequest, signal),
      ownLogin: () => ownLogin(signal),
    }),
  });
}

function openComments(
  client: RestClient,
  repository: string,
  pullRequest: number,
  signal: AbortSignal,
): Omit<CommentThread, 'ownLogin'> {
  const { owner, repo } = splitOwnerAndName(repository);
  const path = buildPath`/repos/${owner}/${repo}/issues/${pullRequest}/comments`;
  const commentPath = (id: number) => buildPath`/repos/${owner}/${repo}/issues/comments/${id}`;
  const right = 'write comments (write:issue)';
  return {
    // Gitea does not paginate this list.
    list: async function* () {
      const comments = await client.get(z.array(Comment), {
        path,
        what: `the comments of pull request ${pullRequest}`,
        signal,
      });
      yield* comments.map(({ id, body, user }) => ({ id, body: body ?? null, author: user?.login ?? null }));
    },
    create: async (body) => {
      const what = `a comment on pull request ${pullRequest}`;
      return (await client.send(Comment, { method: 'POST', path, body: { body }, what, right, signal })).id;
    },
    edit: async (id, body) =>
      void (await client.send(z.unknown(), {
        method: 'PATCH',
        path: commentPath(id),
        body: { body },
        what: `comment ${id} of Faultline`,
        right,
        signal,
      })),
    remove: async (id) =>
      void (await client.send(z.unknown(), {
        method: 'DELETE',
        path: commentPath(id),
        what: `comment ${id} of Faultline`,
        right,
        signal,
      })),
  };
}

/** Creates a client for the status of a commit. */
export function createGiteaStatusClient(options: GiteaOptions): NoticeSender<StatusContent> {
  const client = createGiteaClient(options, NOTICE_MS);
  return createStatusClient(
    async ({ state, description, targetUrl }, { repository, commit, what, signal }) => {
      const { owner, repo } = splitOwnerAndName(repository);
      const path = buildPath`/repos/${owner}/${repo}/statuses/${commit}`;
      const body = { state, description, context: CONTEXT, target_url: targetUrl ?? '' };
      await client.send(z.unknown(), {
        method: 'POST',
        path,
        body,
        what,
        right: 'write statuses (write:repository)',
        signal,
      });
    },
  );
}
