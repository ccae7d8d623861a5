import { TriageError } from '../domain/errors.ts';
import type { Notice } from '../domain/outbox.ts';
import type { StatusContent } from '../notifications/render-status.ts';
import type { NoticeCall, NotificationClient } from '../ports/notices.ts';

/** The status of a commit: the newest under one name is what counts, so that a second one harms nobody. `post` throws as `NotificationClient` does. */
export function createStatusClient(
  post: (content: StatusContent, at: { repository: string; commit: string; what: string; signal: AbortSignal }) => Promise<unknown>,
): NotificationClient<StatusContent> {
  return {
    show: async (content, { notice: { about, key, repository }, signal }) => {
      if (about.type !== 'commit') throw new TriageError('invalid-input', `The notice ${key} has no commit.`);
      const { commit } = about;
      await post(content, { repository, commit, what: `the status of ${repository}@${commit}`, signal });
      return { reference: commit };
    },
  };
}

/** A comment as its host lists it. */
export interface PostedComment {
  readonly id: number;
  readonly body: string | null;
  /** The login of who wrote it; null: nobody who is still there. */
  readonly author: string | null;
}

/** The comments of one pull request, and as whom we write. Throws as `NotificationClient` does. */
export interface CommentThread<Comment extends PostedComment = PostedComment> {
  /** Page by page, as far as `COMMENT_PAGES`. */
  list(): AsyncIterable<Comment>;
  /** Tried once: the first try may have got through, and the next one looks for it. */
  create(body: string): Promise<number>;
  edit(id: number, body: string): Promise<void>;
  remove(id: number): Promise<void>;
  /** Under which login what we write appears. */
  ownLogin(): Promise<string>;
}

export interface CommentOptions {
  readonly label: string;
  /** The host takes so many characters. */
  readonly maxBody: number;
  /** `edit` changes the comment in place, of which nobody is notified; `recreate` deletes it and makes another. */
  readonly mode: 'edit' | 'recreate';
  open(repository: string, pullRequest: number, signal: AbortSignal): Promise<CommentThread>;
}

/** A comment of ours is among the first; more of a pull request's comments, a hundred a page, are not read. */
export const COMMENT_PAGES = 20;

/** The comment of a pull request, known by a marker in its first line and by who wrote it. */
export function createCommentClient(options: CommentOptions): NotificationClient<{ readonly body: string }> {
  const open = ({ notice, signal }: NoticeCall) => options.open(notice.repository, pullRequestOf(notice), signal);
  return {
    find: async (call) => await findOwn(await open(call), call.notice),
    show: async ({ body }, call) => {
      const thread = await open(call);
      const text = `${markerOf(call.notice)}\n${body}`;
      if (text.length > options.maxBody)
        throw new TriageError('too-large', `The comment has ${text.length} characters, more than ${options.label} allows.`);
      const { reference } = call.notice;
      if (reference === null) return { reference: String(await thread.create(text)) };
      if (options.mode === 'recreate') return await recreate(thread, text, call.notice, reference);
      await thread.edit(Number(reference), text);
      return { reference };
    },
  };
}

/** Its first line; nobody sees it. */
function markerOf(notice: Notice): string {
  return `<!-- faultline:v1 repo=${notice.repository} pr=${pullRequestOf(notice)} -->`;
}

export function pullRequestOf({ about, key }: Notice): number {
  if (about.type === 'pull-request') return about.pullRequest;
  throw new TriageError('invalid-input', `The notice ${key} has no pull request.`);
}

/**
 * The comments that begin with this marker and that we wrote ourselves: anybody can copy a marker, and only what is ours is ours to change.
 */
export async function* ownComments<Comment extends PostedComment>(
  thread: Pick<CommentThread<Comment>, 'list' | 'ownLogin'>,
  marker: string,
): AsyncGenerator<Comment> {
  let login: string | null = null;
  for await (const comment of thread.list()) {
    if (comment.body?.startsWith(marker) !== true) continue;
    login ??= await thread.ownLogin();
    if (comment.author === login) yield comment;
  }
}

async function findOwn(thread: CommentThread, notice: Notice): Promise<{ reference: string } | null> {
  for await (const { id } of ownComments(thread, markerOf(notice))) return { reference: String(id) };
  return null;
}

/** What is gone may have been replaced already, by a try that did not live to say so. */
async function recreate(thread: CommentThread, body: string, notice: Notice, reference: string) {
  try {
    await thread.remove(Number(reference));
  } catch (error) {
    if (!(error instanceof TriageError) || error.code !== 'not-found') throw error;
    const replaced = await findOwn(thread, notice);
    if (replaced !== null) {
      await thread.edit(Number(replaced.reference), body);
      return replaced;
    }
  }
  return { reference: String(await thread.create(body)) };
}
