import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { StatusContent } from '../../notifications/render-status.ts';
import type { NotificationClient } from '../../ports/notices.ts';
import { type CommentThread, createCommentClient } from '../comments.ts';
import { at, type RestClient } from '../rest-client.ts';
import { createGitlabClient, type GitlabOptions, PAGE, projectPath } from './client.ts';

/** Of one call; what shows a notice has its own. */
const LIMIT_MS = 60_000;
const NAME = 'Faultline';
const RIGHT = 'write notes and statuses (the scope api, and the role Developer)';

const Note = z.object({ id: z.int(), body: z.string().nullish(), author: z.object({ username: z.string() }).nullish() });
const User = z.object({ username: z.string().min(1) });

/** The note on a merge request. */
export function createGitlabCommentClient(options: GitlabOptions): NotificationClient<{ readonly body: string }> {
  const client = createGitlabClient(options, LIMIT_MS);
  let login: string | null = null;
  const ownLogin = async (signal: AbortSignal) => {
    login ??= (await client.get(User, { path: '/user', what: 'the name of this account', signal })).username;
    return login;
  };
  return createCommentClient({
    ...{ label: 'GitLab', mode: 'edit', maxBody: 65_536, pageSize: PAGE.size },
    open: async (repository, mergeRequest, signal) => ({
      ...notesOf(client, repository, mergeRequest, signal),
      ownLogin: () => ownLogin(signal),
    }),
  });
}

function notesOf(client: RestClient, repository: string, mergeRequest: number, signal: AbortSignal): Omit<CommentThread, 'ownLogin'> {
  const path = `${projectPath(repository)}/merge_requests/${mergeRequest}/notes`;
  const one = (id: number) => ({ path: `${path}/${id}`, what: `our note ${id}`, right: RIGHT, signal });
  return {
    list: async (page, size) => {
      const query = { sort: 'asc', order_by: 'created_at', per_page: size, page };
      const notes = await client.get(z.array(Note), { path, query, what: `the notes of merge request ${mergeRequest}`, signal });
      return notes.map(({ id, body, author }) => ({ id, body: body ?? null, author: author?.username ?? null }));
    },
    create: async (body) => {
      const what = `a note on merge request ${mergeRequest}`;
      return (await client.send(Note, { method: 'POST', path, body: { body }, what, right: RIGHT, signal })).id;
    },
    edit: async (id, body) => void (await client.send(z.unknown(), { method: 'PUT', body: { body }, ...one(id) })),
    remove: async (id) => void (await client.send(z.unknown(), { method: 'DELETE', ...one(id) })),
  };
}

/** An external commit status; the newest under one name is what counts. */
export function createGitlabStatusClient(options: GitlabOptions): NotificationClient<StatusContent> {
  const client = createGitlabClient(options, LIMIT_MS);
  return {
    show: async ({ state, description, targetUrl }, { notice: { about, key, repository }, signal }) => {
      if (about.type !== 'commit') throw new TriageError('invalid-input', `The notice ${key} has no commit.`);
      const path = `${projectPath(repository)}${at`/statuses/${about.commit}`}`;
      const target = targetUrl === null ? {} : { target_url: targetUrl };
      const body = { name: NAME, state: state === 'failure' ? 'failed' : state, description, ...target };
      const what = `the status of ${repository}@${about.commit}`;
      await client.send(z.unknown(), { method: 'POST', path, body, what, right: RIGHT, signal }).catch(unlessSaid);
      return { reference: about.commit };
    },
  };
}

/** GitLab refuses a state that the status has already: what it shows is right, though its words may be older. */
function unlessSaid(error: unknown): void {
  if (!(error instanceof TriageError) || !error.message.includes('Cannot transition')) throw error;
}
