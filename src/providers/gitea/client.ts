import { TriageError } from '../../domain/errors.ts';
import { createRestClient, type RestClient } from '../rest-client.ts';

export interface GiteaOptions {
  /** The URL of the API. If null, no API is called. */
  readonly baseUrl: string | null;
  readonly token: string | null;
  readonly retryUnitMs?: number;
}

/** The maximum page size of a list, unless the server's administrator allows more. */
export const PAGE = 50;

/** Creates the client. Throws `invalid-config` without a URL. */
export function createGiteaClient({ baseUrl, token, ...pace }: GiteaOptions, timeoutMs: number): RestClient {
  if (baseUrl === null)
    throw new TriageError(
      'invalid-config',
      'Cannot ask Gitea or Forgejo for builds: FAULTLINE_GITEA_URL is not set.',
    );
  const headers = {
    accept: 'application/json',
    ...(token === null ? {} : { authorization: `token ${token}` }),
  };
  return createRestClient({
    label: 'Gitea',
    baseUrl,
    headers,
    tokenSetting: 'FAULTLINE_GITEA_TOKEN',
    timeoutMs,
    ...pace,
  });
}

/** Splits `owner/name`. Throws `not-found` for anything else. */
export function splitOwnerAndName(repository: string): { readonly owner: string; readonly repo: string } {
  const [, owner, repo] = /^([A-Za-z0-9._-]{1,100})\/([A-Za-z0-9._-]{1,100})$/.exec(repository) ?? [];
  if (owner === undefined || repo === undefined || /^\.+$/.test(owner) || /^\.+$/.test(repo))
    throw new TriageError(
      'not-found',
      `${repository.slice(0, 200)} is not a repository of Gitea or Forgejo.`,
    );
  return { owner, repo };
}
