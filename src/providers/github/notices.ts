import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { Notice } from '../../domain/notice.ts';
import type { NoticeCall, NotificationClient } from '../../ports/notices.ts';
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

export interface GithubStatusContent {
  readonly state: 'pending' | 'failure' | 'success';
  /** At most 140 characters. */
  readonly description: string;
  readonly targetUrl: string | null;
}

const CONTEXT = 'Faultline';

/** A commit status: the newest under one name is what counts, so that a second one harms nobody. */
export function createGithubStatusClient(options: GithubClientOptions): NotificationClient<GithubStatusContent> {
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
