import { TriageError } from '../../domain/errors.ts';
import { createRestClient, type RestClient } from '../rest-client.ts';

export interface GitlabOptions {
  /** The URL of the API. */
  readonly baseUrl: string;
  readonly token: string | null;
  /** True if a person granted the token by OAuth. Such a token has a header of its own. */
  readonly isGranted?: boolean;
  readonly retryUnitMs?: number;
}

/** The maximum page size of a list. */
export const PAGE = { sizeName: 'per_page', size: 100 } as const;

export function createGitlabClient(
  { baseUrl, token, isGranted = false, ...pace }: GitlabOptions,
  timeoutMs: number,
): RestClient {
  const credentials = (value: string) =>
    isGranted ? { authorization: `Bearer ${value}` } : { 'private-token': value };
  const headers = { accept: 'application/json', ...(token === null ? {} : credentials(token)) };
  return createRestClient({
    label: 'GitLab',
    baseUrl,
    headers,
    tokenSetting: 'FAULTLINE_GITLAB_TOKEN',
    timeoutMs,
    ...pace,
  });
}

/**
 * Returns the API path of a project, which may be in nested groups. Throws `not-found` if the name is not a
 * path.
 */
export function getProjectPath(repository: string): string {
  const isPath =
    /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$/.test(repository) &&
    repository.length <= 300;
  if (!isPath) throw new TriageError('not-found', `${repository.slice(0, 200)} is not a GitLab project.`);
  return `/projects/${encodeURIComponent(repository)}`;
}
