import { setTimeout as sleep } from 'node:timers/promises';
import type { Octokit } from '@octokit/rest';
import { TriageError } from '../../domain/errors.ts';
import { createBoundedCache } from '../memory.ts';
import {
  createGithubClient,
  createKeptAnswers,
  findHttpFailure,
  type GithubAppKey,
  type GithubClient,
  type GithubClientOptions,
  type KeptAnswers,
  type RepositoryName,
} from './client.ts';
import {
  createInstallations,
  createNotInstalledError,
  type Grant,
  type Installations,
  type Rights,
} from './installations.ts';

export interface GithubAccessOptions extends GithubClientOptions {
  /** The App, which takes precedence over the token; null if there is none. */
  readonly app?: GithubAppKey | null;
  /**
   * The token for repositories on which the App is not installed, or for all; null if only public
   * repositories are read.
   */
  readonly token: string | null;
  /**
   * The permissions requested for an installation's token. By default, the read access that analyses need.
   */
  readonly rights?: Rights;
}

/** A client, and the identity that it uses. */
export interface Signed {
  readonly client: GithubClient;
  readonly as: 'installation' | 'token' | 'nobody';
}

/** Knows the credentials for calls about each repository. */
export interface GithubAccess {
  /**
   * Returns the client for a repository. Throws `upstream-auth` if the App is not installed there and there
   * is no token, or if GitHub refuses the App.
   */
  forRepository(place: RepositoryName, signal: AbortSignal): Promise<Signed>;
  /**
   * Lists the clients that can list repositories: one for each installation of the App, then the one with the
   * token. Empty if there is neither.
   */
  forLists(signal: AbortSignal): Promise<Signed[]>;
}

/** The prefix of tokens of GitHub Apps and of Actions. */
const INSTALLATION_TOKEN = 'ghs_';
/** The number of clients of an App's installations that are cached. */
const KEPT_CLIENTS = 200;

export function createGithubAccess(options: GithubAccessOptions): GithubAccess {
  const { app = null, token } = options;
  const credentials: Signed = {
    client: createGithubClient(options, { who: 'token', token }),
    as: detectTokenKind(token),
  };
  const withToken = token === null ? [] : [credentials];
  if (app === null) return { forRepository: async () => credentials, forLists: async () => withToken };
  const installations = createInstallations(options, app, options.rights);
  const clientOf = createInstallationClients(options, installations);
  return {
    async forRepository(place, signal) {
      const grant = await findUsableGrant(installations, place, signal);
      if (grant !== null) return clientOf(grant);
      if (token === null) throw createNotInstalledError(place, app.id);
      return credentials;
    },
    forLists: async (signal) => [...(await installations.list(signal)).map(clientOf), ...withToken],
  };
}

function detectTokenKind(token: string | null): Signed['as'] {
  if (token === null) return 'nobody';
  return token.startsWith(INSTALLATION_TOKEN) ? 'installation' : 'token';
}

/**
 * Returns the grant for reading a repository. Looks the installation up again if the known one is gone. Null
 * if the App is not installed there.
 */
async function findUsableGrant(
  installations: Installations,
  place: RepositoryName,
  signal: AbortSignal,
): Promise<Grant | null> {
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

function createInstallationClients(
  options: GithubClientOptions,
  installations: Installations,
): (grant: Grant) => Signed {
  const clients = createBoundedCache<GithubClient>(KEPT_CLIENTS, () => 1);
  const answers: KeptAnswers = createKeptAnswers();
  return (grant) => {
    const who = `installation ${JSON.stringify(grant)}`;
    const known = clients.get(who);
    if (known !== undefined) return { client: known, as: 'installation' };
    const identity = { who, limit: `installation ${grant.installation}`, answers };
    const client = createGithubClient(options, identity, (octokit) =>
      signAsInstallation(octokit, installations, grant, options),
    );
    clients.set(who, client);
    return { client, as: 'installation' };
  };
}

/** Default time limit of a call, in milliseconds. */
const LIMIT_MS = 60_000;
/**
 * The age of a token, in milliseconds, up to which a refusal is not final. Not every server of GitHub knows a
 * new token at once.
 */
const NEW_MS = 5_000;
/** The number of units to wait before such a token is tried again. */
const WAIT_UNITS = 2;

/**
 * Signs every call with a token of the installation that does not expire soon, creating one if necessary. A
 * revoked token is replaced once.
 */
function signAsInstallation(
  client: Octokit,
  installations: Pick<Installations, 'token' | 'drop'>,
  grant: Grant,
  { retryUnitMs = 1000 }: { readonly retryUnitMs?: number },
): void {
  client.hook.wrap('request', async (request, options) => {
    const signal = options.request.signal ?? AbortSignal.timeout(LIMIT_MS);
    const sign = async () => {
      const made = await installations.token(grant, signal);
      // The object is changed in place, because inner hooks have a reference to it.
      options.headers.authorization = `token ${made.token}`;
      return made;
    };
    const { madeAt } = await sign();
    try {
      return await request(options);
    } catch (error) {
      if (findHttpFailure(error)?.status !== 401) throw error;
      if (Date.now() - madeAt < NEW_MS) await sleep(WAIT_UNITS * retryUnitMs, undefined, { signal });
      else installations.drop(grant);
      await sign();
      return await request(options);
    }
  });
}
