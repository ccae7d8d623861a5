import type { NoticeCall, NoticeSender } from '../channels/channel.ts';
import { TriageError } from '../domain/errors.ts';
import type { StatusContent } from '../notifications/render-status.ts';

/**
 * Creates a client for commit statuses. Only the newest status with the same name counts, so a duplicate does
 * no harm. `post` throws as `NoticeSender` does.
 */
export function createStatusClient(
  post: (
    content: StatusContent,
    at: { repository: string; commit: string; what: string; signal: AbortSignal },
  ) => Promise<unknown>,
): NoticeSender<StatusContent> {
  return {
    send: async (content, { to: { about, repository }, key, signal }) => {
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
  /** The login of the author; null if the account no longer exists. */
  readonly author: string | null;
}

/** The comments of one pull request. Methods throw as `NoticeSender` does. */
export interface CommentThread<Comment extends PostedComment = PostedComment> {
  /** Lists the comments page by page, up to `COMMENT_PAGES`. */
  list(): AsyncIterable<Comment>;
  /**
   * Creates a comment without a retry. The first attempt may have succeeded; the next delivery looks for its
   * comment.
   */
  create(body: string): Promise<number>;
  edit(id: number, body: string): Promise<void>;
  remove(id: number): Promise<void>;
  /** Returns the login under which our comments appear. */
  ownLogin(): Promise<string>;
}

export interface CommentOptions {
  readonly label: string;
  /** The maximum length of a comment on the host, in characters. */
  readonly maxBody: number;
  open(repository: string, pullRequest: number, signal: AbortSignal): Promise<CommentThread>;
}

/** The maximum number of pages of a hundred comments that are read. Our comment is one of the first. */
export const COMMENT_PAGES = 20;

/**
 * Creates a client for the comment on a pull request, which is identified by a marker in its first line and
 * by its author.
 */
export function createCommentClient(options: CommentOptions): NoticeSender<{ readonly body: string }> {
  const open = (call: NoticeCall) => options.open(call.to.repository, getPullRequest(call), call.signal);
  return {
    find: async (call) => await findOwn(await open(call), call),
    send: async ({ body }, call) => {
      const thread = await open(call);
      const text = `${createMarker(call)}\n${body}`;
      if (text.length > options.maxBody)
        throw new TriageError(
          'too-large',
          `The comment has ${text.length} characters, more than ${options.label} allows.`,
        );
      const { reference } = call;
      if (reference === null) return { reference: String(await thread.create(text)) };
      await thread.edit(Number(reference), text);
      return { reference };
    },
  };
}

/** Returns the first line of the comment, an invisible marker. */
function createMarker(call: NoticeCall): string {
  return `<!-- faultline:v1 repo=${call.to.repository} pr=${getPullRequest(call)} -->`;
}

export function getPullRequest({ to: { about }, key }: NoticeCall): number {
  if (about.type === 'pull-request') return about.pullRequest;
  throw new TriageError('invalid-input', `The notice ${key} has no pull request.`);
}

/**
 * Yields the comments that begin with this marker and that we wrote ourselves. Anyone can copy a marker, and
 * we may only change our own comments.
 */
export async function* listOwnComments<Comment extends PostedComment>(
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

async function findOwn(thread: CommentThread, call: NoticeCall): Promise<{ reference: string } | null> {
  for await (const { id } of listOwnComments(thread, createMarker(call))) return { reference: String(id) };
  return null;
}
