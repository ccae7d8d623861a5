import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { createMemory } from '../memory.ts';
import {
  createGithubClient,
  createGithubError,
  findHttpFailure,
  type GithubAppKey,
  type GithubClient,
  type GithubClientOptions,
  type RepositoryName,
} from './client.ts';

/** The names of permissions with their levels. */
export type Rights = Readonly<Record<string, 'read' | 'write'>>;

/** The scope of a token request: an installation, limited to the required rights. */
export interface Grant {
  readonly installation: number;
  readonly permissions: Rights;
  /** The repositories of the token; all repositories of the installation if absent. */
  readonly only?: { repositories: string[] } | { repository_ids: number[] };
}

export interface InstallationToken {
  readonly token: string;
  /** The times at which the token was received and expires, both by our clock, in milliseconds. */
  readonly madeAt: number;
  readonly endsAt: number;
}

/** The installations of a GitHub App. All methods throw only TriageErrors. */
export interface Installations {
  /** Returns the grant for a repository; null if the App is not installed on it. */
  find(place: RepositoryName, signal: AbortSignal): Promise<Grant | null>;
  forget(place: RepositoryName): void;
  /**
   * Lists grants for reading the names of repositories, one for each installation that is not suspended, up
   * to twenty.
   */
  list(signal: AbortSignal): Promise<Grant[]>;
  /**
   * Returns a token that does not expire soon. Throws `not-found` if the installation, or the repository in
   * it, is gone.
   */
  token(grant: Grant, signal: AbortSignal): Promise<InstallationToken>;
  /** Removes a token that GitHub has revoked from the cache. */
  drop(grant: Grant): void;
}

/**
 * The permissions that Faultline needs to read. Tokens are requested with no others, even if the App has
 * more.
 */
export const NEEDED: readonly string[] = ['actions', 'contents', 'metadata', 'pull_requests'];
const TO_READ: Rights = Object.fromEntries(NEEDED.map((name) => [name, 'read']));

const MINUTE_MS = 60_000;
/**
 * The time for which a found installation is cached. Installations seldom change; a missing one may appear
 * within a minute, because the user was asked to install the App.
 */
const FOUND_MS = 10 * MINUTE_MS;
const MISSING_MS = MINUTE_MS;
/**
 * The time before its expiration at which a token is renewed, in milliseconds. Tokens are valid for an hour,
 * and must not expire during a call.
 */
const MARGIN_MS = 5 * MINUTE_MS;
const MAX_REMEMBERED = 1_000;
const MAX_INSTALLATIONS = 20;

const Installation = z.object({
  id: z.int(),
  permissions: z.record(z.string(), z.unknown()).default({}),
  suspended_at: z.string().nullish(),
});
const AccessToken = z.object({ token: z.string().min(1), expires_at: z.iso.datetime({ offset: true }) });

/**
 * Creates the installations of the App. `rights` are the permissions requested for tokens, as far as they
 * were granted.
 */
export function createInstallations(
  options: GithubClientOptions,
  app: GithubAppKey,
  rights: Rights = TO_READ,
): Installations {
  const client = createGithubClient(options, { who: `app ${app.id}`, app });
  const grants = createMemory<Grant | null>(MAX_REMEMBERED);
  const tokens = createMemory<InstallationToken>(MAX_REMEMBERED);
  return {
    find: (place, signal) =>
      grants.recall(toKey(place), {
        signal,
        lifeMs: (grant) => (grant === null ? MISSING_MS : FOUND_MS),
        ask: () => askInstallation(client, app.id, place, rights, signal),
      }),
    forget: (place) => grants.forget(toKey(place)),
    list: (signal) => askInstallations(client, app.id, signal),
    token: (grant, signal) =>
      tokens.recall(JSON.stringify(grant), {
        signal,
        lifeMs: ({ madeAt, endsAt }) => Math.max(endsAt - madeAt - MARGIN_MS, (endsAt - madeAt) / 2),
        ask: () => askToken(client, app.id, grant, signal),
      }),
    drop: (grant) => tokens.forget(JSON.stringify(grant)),
  };
}

function toKey({ owner, repo }: RepositoryName): string {
  return `${owner}/${repo}`.toLowerCase();
}

async function askInstallation(
  client: GithubClient,
  id: string,
  place: RepositoryName,
  rights: Rights,
  signal: AbortSignal,
): Promise<Grant | null> {
  const what = `the installation of the GitHub App on ${place.owner}/${place.repo}`;
  try {
    const { data, url } = await client.request('GET /repos/{owner}/{repo}/installation', {
      ...place,
      request: { signal },
    });
    const found = Installation.parse(data);
    if (found.suspended_at != null) throw createSuspendedError(place, id);
    return {
      installation: found.id,
      permissions: narrowRights(found.permissions, rights),
      only: getSameRepository(url, place),
    };
  } catch (error) {
    if (findHttpFailure(error)?.status === 404) return null;
    throw createAppError(what, error, id, signal);
  }
}

/**
 * Returns the repository for a token request. A renamed repository was found under its id or its new name,
 * and tokens accept only these.
 */
function getSameRepository(url: string, { repo }: RepositoryName): NonNullable<Grant['only']> {
  const [, number] = /\/repositories\/(\d{1,15})\/installation$/.exec(url) ?? [];
  if (number !== undefined) return { repository_ids: [Number(number)] };
  const [, name = repo] = /\/repos\/[^/]{1,200}\/([^/]{1,200})\/installation$/.exec(url) ?? [];
  return { repositories: [decodeURIComponent(name)] };
}

/** Limits the wanted permissions to the granted ones. GitHub refuses to create a token with more. */
function narrowRights(granted: Readonly<Record<string, unknown>>, wanted: Rights): Rights {
  const given = Object.entries(wanted).filter(([name]) => granted[name] !== undefined);
  return Object.fromEntries(
    given.map(([name, right]) => [name, right === 'write' && granted[name] === 'write' ? right : 'read']),
  );
}

async function askInstallations(client: GithubClient, id: string, signal: AbortSignal): Promise<Grant[]> {
  try {
    const { data } = await client.request('GET /app/installations', {
      per_page: MAX_INSTALLATIONS,
      request: { signal },
    });
    const installed = z.array(Installation).parse(data);
    return installed
      .filter((installation) => installation.suspended_at == null)
      .map((installation) => ({
        installation: installation.id,
        permissions: narrowRights(installation.permissions, { metadata: 'read' }),
      }));
  } catch (error) {
    throw createAppError('the installations of the GitHub App', error, id, signal);
  }
}

async function askToken(
  client: GithubClient,
  id: string,
  grant: Grant,
  signal: AbortSignal,
): Promise<InstallationToken> {
  const what = `a token of installation ${grant.installation}`;
  const { installation, permissions, only } = grant;
  try {
    const { data, headers } = await client.request(
      'POST /app/installations/{installation_id}/access_tokens',
      {
        installation_id: installation,
        permissions,
        ...only,
        request: { signal },
      },
    );
    const { token, expires_at: end } = AccessToken.parse(data);
    const madeAt = Date.now();
    // This is GitHub's clock, because ours may be wrong.
    const made = Date.parse(headers.date ?? '');
    return { token, madeAt, endsAt: madeAt + Date.parse(end) - (Number.isNaN(made) ? madeAt : made) };
  } catch (error) {
    // 422 means that the installation exists but no longer includes this repository.
    if (findHttpFailure(error)?.status === 422)
      throw new TriageError('not-found', `GitHub returned 422 for ${what}.`, { cause: error });
    throw createAppError(what, error, id, signal);
  }
}

export const AppReply = z.object({
  name: z.string(),
  html_url: z.url({ protocol: /^https?$/ }).nullish(),
  permissions: z.record(z.string(), z.unknown()).default({}),
  installations_count: z.int().nullish(),
});

export async function askApp(options: GithubClientOptions, app: GithubAppKey, signal: AbortSignal) {
  try {
    return await createGithubClient(options, { who: `app ${app.id}`, app }).request('GET /app', {
      request: { signal },
    });
  } catch (error) {
    throw createAppError('the GitHub App', error, app.id, signal);
  }
}

/** Converts a failed call of the App. If the error is permanent, the message says what to do. */
function createAppError(what: string, error: unknown, id: string, signal: AbortSignal): TriageError {
  if (signal.aborted)
    return new TriageError('cancelled', `The GitHub request for ${what} was stopped.`, { cause: error });
  const meaning = createGithubError(what, error, 'read the contents');
  const status = findHttpFailure(error)?.status;
  if (meaning.code !== 'upstream-auth' || error instanceof TriageError) return meaning;
  const refused = `GitHub returned ${status} for ${what}:`;
  const says =
    status === 401
      ? `${refused} it does not accept the key of the GitHub App ${id}. Check FAULTLINE_GITHUB_APP_ID. ` +
        'If the key was deleted on GitHub, create a new one for FAULTLINE_GITHUB_APP_KEY. ' +
        "Also check this machine's clock."
      : `${refused} the GitHub App ${id} does not have permission. Its installation may be suspended: ` +
        'an account owner can unsuspend it in the settings, under GitHub Apps.';
  return new TriageError('upstream-auth', says, { cause: error });
}

/**
 * Creates the error for a repository that no installation can read. It is final until the App is installed
 * there.
 */
export function createNotInstalledError(
  { owner, repo }: RepositoryName,
  id: string,
  cause?: unknown,
): TriageError {
  return new TriageError(
    'upstream-auth',
    `The GitHub App ${id} is not installed on ${owner}/${repo}. ` +
      `Install it for ${owner} with access to this repository (App settings, "Install App"), or set ` +
      'FAULTLINE_GITHUB_TOKEN for repositories without it.',
    cause === undefined ? {} : { cause },
  );
}

function createSuspendedError({ owner }: RepositoryName, id: string): TriageError {
  return new TriageError(
    'upstream-auth',
    `The installation of the GitHub App ${id} for ${owner} is suspended. ` +
      `An owner of ${owner} can unsuspend it in the settings, under GitHub Apps.`,
  );
}
