import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { createGithubAccess, type GithubAccess, type GithubAccessOptions, type Signed } from '../github-rest/access.ts';
import type { GithubClient, RepositoryName } from '../github-rest/client.ts';
import { githubError, httpFailure } from '../github-rest/error.ts';

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
