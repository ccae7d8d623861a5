import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { StatusContent } from '../../notifications/render-status.ts';
import type { NotificationClient } from '../../ports/notices.ts';
import { type CommentThread, createCommentClient } from '../comments.ts';
import { at, type RestClient } from '../rest-client.ts';
import { createGiteaClient, type GiteaOptions, ownerAndName, PAGE } from './client.ts';

/** Of one call; what shows a notice has its own. */
const LIMIT_MS = 60_000;
const CONTEXT = 'Faultline';

const Comment = z.object({ id: z.int(), body: z.string().nullish(), user: z.object({ login: z.string() }).nullish() });
const User = z.object({ login: z.string().min(1) });

/** The comment of a pull request. */
export function createGiteaCommentClient(options: GiteaOptions): NotificationClient<{ readonly body: string }> {
  const client = createGiteaClient(options, LIMIT_MS);
  let login: string | null = null;
  const ownLogin = async (signal: AbortSignal) => {
    login ??= (await client.get(User, { path: '/user', what: 'the name of this account', signal })).login;
    return login;
  };
  return createCommentClient({
    ...{ label: 'Gitea', mode: 'edit', maxBody: 65_536, pageSize: PAGE },
    open: async (repository, pullRequest, signal) => ({
      ...commentsOf(client, repository, pullRequest, signal),
      ownLogin: () => ownLogin(signal),
    }),
  });
}

function commentsOf(client: RestClient, repository: string, pullRequest: number, signal: AbortSignal): Omit<CommentThread, 'ownLogin'> {
  const { owner, repo } = ownerAndName(repository);
  const path = at`/repos/${owner}/${repo}/issues/${pullRequest}/comments`;
  const one = (id: number) => at`/repos/${owner}/${repo}/issues/comments/${id}`;
  const right = 'write comments (write:issue)';
  return {
    // All at once: these lists have no pages.
    list: async (page) => {
      if (page > 1) return [];
      const comments = await client.get(z.array(Comment), { path, what: `the comments of pull request ${pullRequest}`, signal });
      return comments.map(({ id, body, user }) => ({ id, body: body ?? null, author: user?.login ?? null }));
    },
    create: async (body) => {
      const what = `a comment on pull request ${pullRequest}`;
      return (await client.send(Comment, { method: 'POST', path, body: { body }, what, right, signal })).id;
    },
    edit: async (id, body) =>
      void (await client.send(z.unknown(), { method: 'PATCH', path: one(id), body: { body }, what: `our comment ${id}`, right, signal })),
    remove: async (id) =>
      void (await client.send(z.unknown(), { method: 'DELETE', path: one(id), what: `our comment ${id}`, right, signal })),
  };
}

/** A commit status: the newest under one name is what counts, so that a second one harms nobody. */
export function createGiteaStatusClient(options: GiteaOptions): NotificationClient<StatusContent> {
  const client = createGiteaClient(options, LIMIT_MS);
  return {
    show: async ({ state, description, targetUrl }, { notice: { about, key, repository }, signal }) => {
      if (about.type !== 'commit') throw new TriageError('invalid-input', `The notice ${key} has no commit.`);
      const { owner, repo } = ownerAndName(repository);
      const path = at`/repos/${owner}/${repo}/statuses/${about.commit}`;
      const body = { state, description, context: CONTEXT, target_url: targetUrl ?? '' };
      const what = `the status of ${repository}@${about.commit}`;
      await client.send(z.unknown(), { method: 'POST', path, body, what, right: 'write statuses (write:repository)', signal });
      return { reference: about.commit };
    },
  };
}
