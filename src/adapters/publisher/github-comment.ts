import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { Notice } from '../../domain/notice.ts';
import type { NoticeCall, NotificationClient } from '../../ports/notices.ts';
import { asked, type GithubClientOptions, type GithubVoice, openGithubVoices, ownLogin, voiceFor } from './github-calls.ts';

export interface GithubCommentOptions extends GithubClientOptions {
  /** `edit` changes the comment in place, of which GitHub notifies nobody; `recreate` deletes it and makes another. */
  readonly mode: 'edit' | 'recreate';
}

/** GitHub takes so many characters. */
const MAX_BODY = 65_536;
const PER_PAGE = 100;
/** A comment of ours is among the first; more of a pull request's comments are not read. */
const MAX_PAGES = 20;
const RIGHT = 'Pull requests';

const Comment = z.object({ id: z.int(), body: z.string().nullish(), user: z.object({ login: z.string() }).nullish() });
const Comments = z.array(Comment);

/** The comment of a pull request, known by a marker in its first line and by who wrote it. */
export function createGithubCommentClient({ mode, ...options }: GithubCommentOptions): NotificationClient<{ readonly body: string }> {
  const access = openGithubVoices(options);
  const voice = ({ notice, signal }: NoticeCall) => voiceFor(access, notice.repository, signal);
  return {
    find: async (call) => await findOwn(await voice(call), call),
    show: async ({ body }, call) => {
      const speaking = await voice(call);
      const text = bodyOf(call.notice, body);
      const { reference } = call.notice;
      if (reference === null) return await create(speaking, text, call);
      if (mode === 'edit') return await edit(speaking, reference, text, call);
      return await recreate(speaking, reference, text, call);
    },
  };
}

/** Its first line; nobody sees it. */
function markerOf(notice: Notice): string {
  return `<!-- faultline:v1 repo=${notice.repository} pr=${pullRequestOf(notice)} -->`;
}

function bodyOf(notice: Notice, body: string): string {
  const text = `${markerOf(notice)}\n${body}`;
  if (text.length > MAX_BODY) throw new TriageError('too-large', `The comment has ${text.length} characters, more than GitHub allows.`);
  return text;
}

function pullRequestOf({ about, key }: Notice): number {
  if (about.type === 'pull-request') return about.pullRequest;
  throw new TriageError('invalid-input', `The notice ${key} has no pull request.`);
}

/** Anybody can copy a marker; only what we wrote ourselves is ours to change. */
async function findOwn({ client, place }: GithubVoice, { notice, signal }: NoticeCall): Promise<{ reference: string } | null> {
  const marker = markerOf(notice);
  let login: string | null = null;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { data } = await asked({ what: `the comments of pull request ${pullRequestOf(notice)}`, right: RIGHT }, () =>
      client.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
        ...{ ...place, issue_number: pullRequestOf(notice), per_page: PER_PAGE, page },
        request: { signal },
      }),
    );
    const comments = Comments.parse(data);
    for (const { id, body, user } of comments.filter((one) => one.body?.startsWith(marker) === true)) {
      login ??= await ownLogin(client, signal);
      if (body !== undefined && user?.login === login) return { reference: String(id) };
    }
    if (comments.length < PER_PAGE) break;
  }
  return null;
}

async function create({ client, place }: GithubVoice, body: string, { notice, signal }: NoticeCall): Promise<{ reference: string }> {
  const { data } = await asked({ what: `a comment on pull request ${pullRequestOf(notice)}`, right: RIGHT }, () =>
    client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...{ ...place, issue_number: pullRequestOf(notice), body },
      // Never again by the client: the first try may have got through. The next one looks for it.
      request: { signal, retries: 0 },
    }),
  );
  return { reference: String(Comment.parse(data).id) };
}

async function edit(
  { client, place }: GithubVoice,
  reference: string,
  body: string,
  { signal }: NoticeCall,
): Promise<{ reference: string }> {
  await asked({ what: `our comment ${reference}`, right: RIGHT }, () =>
    client.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
      ...{ ...place, comment_id: Number(reference), body },
      request: { signal },
    }),
  );
  return { reference };
}

/** What is gone may have been replaced already, by a try that did not live to say so. */
async function recreate(voice: GithubVoice, reference: string, body: string, call: NoticeCall): Promise<{ reference: string }> {
  const { client, place } = voice;
  try {
    await asked({ what: `our comment ${reference}`, right: RIGHT }, () =>
      client.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', {
        ...{ ...place, comment_id: Number(reference) },
        request: { signal: call.signal },
      }),
    );
  } catch (error) {
    if (!(error instanceof TriageError) || error.code !== 'not-found') throw error;
    const replaced = await findOwn(voice, call);
    if (replaced !== null) return await edit(voice, replaced.reference, body, call);
  }
  return await create(voice, body, call);
}
