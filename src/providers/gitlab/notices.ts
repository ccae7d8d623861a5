import { z } from 'zod';
import type { NoticeSender } from '../../channels/channel.ts';
import { TriageError } from '../../domain/errors.ts';
import type { StatusContent } from '../../notifications/render-status.ts';
import { COMMENT_PAGES, type CommentThread, createCommentClient, createStatusClient } from '../comments.ts';
import { buildPath, type RestClient } from '../rest-client.ts';
import { createSuggestionClient, type Suggestions, type SuggestionThread } from '../suggestions.ts';
import { ALL_PAGES } from './build-source.ts';
import { createGitlabClient, type GitlabOptions, getProjectPath, PAGE } from './client.ts';

/** The default time limit of one call in milliseconds. */
const NOTICE_MS = 60_000;
const NAME = 'Faultline';
const RIGHT = 'write notes and statuses (the scope api, and the role Developer)';

const Note = z.object({
  id: z.int(),
  body: z.string().nullish(),
  author: z.object({ username: z.string() }).nullish(),
});
const NOTES = { query: { sort: 'asc', order_by: 'created_at' } } as const;
const NOTE_PAGES = { ...PAGE, maxPages: COMMENT_PAGES };
const User = z.object({ username: z.string().min(1) });

/** Creates a client for the note on a merge request. */
export function createGitlabCommentClient(options: GitlabOptions): NoticeSender<{ readonly body: string }> {
  const client = createGitlabClient(options, NOTICE_MS);
  return createCommentClient({
    label: 'GitLab',
    maxBody: 65_536,
    open: async (repository, mergeRequest, signal) => openNotes(client, repository, mergeRequest, signal),
  });
}

/** The login of each client, which is requested once. */
const logins = new WeakMap<RestClient, string>();

function openNotes(
  client: RestClient,
  repository: string,
  mergeRequest: number,
  signal: AbortSignal,
): CommentThread {
  const path = `${getProjectPath(repository)}/merge_requests/${mergeRequest}/notes`;
  const noteRequest = (id: number) => ({
    path: `${path}/${id}`,
    what: `our note ${id}`,
    right: RIGHT,
    signal,
  });
  return {
    list: () =>
      client.items(
        z.array(Note.transform(toPostedComment)),
        { path, ...NOTES, what: `the notes of merge request ${mergeRequest}`, signal },
        NOTE_PAGES,
      ),
    create: async (body) => {
      const what = `a note on merge request ${mergeRequest}`;
      return (await client.send(Note, { method: 'POST', path, body: { body }, what, right: RIGHT, signal }))
        .id;
    },
    edit: async (id, body) =>
      void (await client.send(z.unknown(), { method: 'PUT', body: { body }, ...noteRequest(id) })),
    remove: async (id) => void (await client.send(z.unknown(), { method: 'DELETE', ...noteRequest(id) })),
    ownLogin: async () => {
      const login =
        logins.get(client) ??
        (await client.get(User, { path: '/user', what: "the account's name", signal })).username;
      logins.set(client, login);
      return login;
    },
  };
}

function toPostedComment({ id, body, author }: z.infer<typeof Note>) {
  return { id, body: body ?? null, author: author?.username ?? null };
}

const Placed = Note.extend({
  position: z.object({ new_path: z.string().nullish(), new_line: z.int().nullish() }).nullish(),
}).transform(({ position, ...note }) => ({
  ...toPostedComment(note),
  path: position?.new_path ?? null,
  line: position?.new_line ?? null,
}));
const DiffRefs = z.object({
  diff_refs: z.object({ base_sha: z.string(), start_sha: z.string(), head_sha: z.string() }),
});
const Diffs = z.array(z.object({ old_path: z.string(), new_path: z.string(), diff: z.string() }));

/** Creates a client for suggestions at lines of a merge request. */
export function createGitlabSuggestionClient(options: GitlabOptions): NoticeSender<Suggestions> {
  const client = createGitlabClient(options, NOTICE_MS);
  return createSuggestionClient({
    fenceWord: (lines) => `suggestion:-${lines - 1}+0`,
    open: async (repository, mergeRequest, signal) =>
      openSuggestions(client, repository, mergeRequest, signal),
  });
}

function openSuggestions(
  client: RestClient,
  repository: string,
  mergeRequest: number,
  signal: AbortSignal,
): SuggestionThread {
  const path = `${getProjectPath(repository)}/merge_requests/${mergeRequest}`;
  const what = `merge request ${mergeRequest}`;
  const { edit, remove, ownLogin } = openNotes(client, repository, mergeRequest, signal);
  const oldPaths = new Map<string, string>();
  return {
    edit,
    remove,
    ownLogin,
    list: () =>
      client.items(
        z.array(Placed),
        { path: `${path}/notes`, ...NOTES, what: `the notes of ${what}`, signal },
        NOTE_PAGES,
      ),
    patches: async () => {
      const files = await client.list(
        Diffs,
        { path: `${path}/diffs`, what: `the changes of ${what}`, signal },
        ALL_PAGES,
      );
      for (const { old_path, new_path } of files) oldPaths.set(new_path, old_path);
      return new Map(files.map(({ new_path, diff }) => [new_path, diff]));
    },
    create: async ({ path: file, to, oldTo }, body) => {
      const { diff_refs } = await client.get(DiffRefs, { path, what, signal });
      const lines = { new_line: to, ...(oldTo === null ? {} : { old_line: oldTo }) };
      const position = {
        position_type: 'text',
        ...diff_refs,
        new_path: file,
        old_path: oldPaths.get(file) ?? file,
        ...lines,
      };
      const sent = {
        method: 'POST',
        path: `${path}/discussions`,
        body: { body, position },
        what: `a suggestion in ${what}`,
      } as const;
      await client.send(z.unknown(), { ...sent, right: RIGHT, signal });
    },
  };
}

/** Creates a client for external commit statuses. */
export function createGitlabStatusClient(options: GitlabOptions): NoticeSender<StatusContent> {
  const client = createGitlabClient(options, NOTICE_MS);
  return createStatusClient(
    async ({ state, description, targetUrl }, { repository, commit, what, signal }) => {
      const path = `${getProjectPath(repository)}${buildPath`/statuses/${commit}`}`;
      const target = targetUrl === null ? {} : { target_url: targetUrl };
      const body = { name: NAME, state: state === 'failure' ? 'failed' : state, description, ...target };
      await client
        .send(z.unknown(), { method: 'POST', path, body, what, right: RIGHT, signal })
        .catch(ignoreKnownState);
    },
  );
}

/**
 * Ignores GitLab's refusal of a state that the status already has, and rethrows any other error. The state
 * shown is correct, although its text may be older.
 */
function ignoreKnownState(error: unknown): void {
  if (!(error instanceof TriageError) || !error.message.includes('Cannot transition')) throw error;
}
