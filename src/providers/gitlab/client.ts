import { TriageError } from '../../domain/errors.ts';
import { createRestClient, type RestClient } from '../rest-client.ts';

export interface GitlabOptions {
  /** The URL of the API. */
  readonly baseUrl: string;
  readonly token: string | null;
  readonly retryUnitMs?: number;
}

/** The maximum page size of a list. */
export const PAGE = { sizeName: 'per_page', size: 100 } as const;

export function createGitlabClient(
  { baseUrl, token, ...pace }: GitlabOptions,
  timeoutMs: number,
): RestClient {
  const headers = { accept: 'application/json', ...(token === null ? {} : { 'private-token': token }) };
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
