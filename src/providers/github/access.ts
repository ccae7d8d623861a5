import { TriageError } from '../../domain/errors.ts';
import { createBoundedCache } from '../memory.ts';
import { createInstallations, type Grant, type Installations, notInstalled, type Rights, signAsInstallation } from './app.ts';
import {
  createGithubClient,
  createKeptAnswers,
  type GithubAppKey,
  type GithubClient,
  type GithubClientOptions,
  type KeptAnswers,
  type RepositoryName,
} from './client.ts';

export interface GithubAccessOptions extends GithubClientOptions {
  /** Asked first; null: there is none. */
  readonly app?: GithubAppKey | null;
  /** For repositories on which the App is not installed, or for all; null: only what is public is read. */
  readonly token: string | null;
  /** What an installation's token is asked for; absent: to read what analyses need. */
  readonly rights?: Rights;
}

/** A client, and as whom it asks. */
export interface Signed {
  readonly client: GithubClient;
  readonly as: 'installation' | 'token' | 'nobody';
}

/** Knows how calls for a repository are signed. */
export interface GithubAccess {
  /** Throws `upstream-auth` where the App is not installed there and there is no token, or where GitHub refuses the App. */
  forRepository(place: RepositoryName, signal: AbortSignal): Promise<Signed>;
  /** Those that can list repositories: each installation of the App, then the token. None where there is neither. */
  forLists(signal: AbortSignal): Promise<Signed[]>;
}

/** How the tokens of GitHub Apps and of Actions begin. */
const INSTALLATION_TOKEN = 'ghs_';
/** Clients of an App's installations that are kept; another one is soon made. */
const KEPT_CLIENTS = 200;

export function createGithubAccess(options: GithubAccessOptions): GithubAccess {
  const { app = null, token } = options;
  const own: Signed = { client: createGithubClient(options, { who: 'token', token }), as: kindOf(token) };
  const withToken = token === null ? [] : [own];
  if (app === null) return { forRepository: async () => own, forLists: async () => withToken };
  const installations = createInstallations(options, app, options.rights);
  const clientOf = createInstallationClients(options, installations);
  return {
    async forRepository(place, signal) {
      const grant = await usableGrant(installations, place, signal);
      if (grant !== null) return clientOf(grant);
      if (token === null) throw notInstalled(place, app.id);
      return own;
    },
    forLists: async (signal) => [...(await installations.list(signal)).map(clientOf), ...withToken],
  };
}

function kindOf(token: string | null): Signed['as'] {
  if (token === null) return 'nobody';
  return token.startsWith(INSTALLATION_TOKEN) ? 'installation' : 'token';
}

/** What a repository is read with; looked up anew where the installation that we knew is gone. Null: the App is not installed there. */
async function usableGrant(installations: Installations, place: RepositoryName, signal: AbortSignal): Promise<Grant | null> {
  for (let tries = 0; tries < 2; tries++) {
    const grant = await installations.find(place, signal);
    if (grant === null) return null;
    try {
      await installations.token(grant, signal);
      return grant;
    } catch (error) {
      if (!(error instanceof TriageError) || error.code !== 'not-found') throw error;
      installations.forget(place);
    }
  }
  return null;
}

function createInstallationClients(options: GithubClientOptions, installations: Installations): (grant: Grant) => Signed {
  const clients = createBoundedCache<GithubClient>(KEPT_CLIENTS, () => 1);
  const answers: KeptAnswers = createKeptAnswers();
  return (grant) => {
    const who = `installation ${JSON.stringify(grant)}`;
    const known = clients.get(who);
    if (known !== undefined) return { client: known, as: 'installation' };
    const identity = { who, limit: `installation ${grant.installation}`, answers };
    const client = createGithubClient(options, identity, (octokit) => signAsInstallation(octokit, installations, grant, options));
    clients.set(who, client);
    return { client, as: 'installation' };
  };
}
