import { TriageError } from '../../domain/errors.ts';
import { createRestClient, type RestClient } from '../rest-client.ts';

export interface GitlabOptions {
  /** Of the API. */
  readonly baseUrl: string;
  readonly token: string | null;
  readonly retryUnitMs?: number;
}

/** A list's longest page. */
export const PAGE = { sizeName: 'per_page', size: 100 } as const;

export function createGitlabClient({ baseUrl, token, ...pace }: GitlabOptions, timeoutMs: number): RestClient {
  const headers = { accept: 'application/json', ...(token === null ? {} : { 'private-token': token }) };
  return createRestClient({ label: 'GitLab', baseUrl, headers, tokenSetting: 'FAULTLINE_GITLAB_TOKEN', timeoutMs, ...pace });
}

/** The address of a project by its path, which may lie in groups within groups. Throws `not-found` for what is no path. */
export function projectPath(repository: string): string {
  const isPath = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$/.test(repository) && repository.length <= 300;
  if (!isPath) throw new TriageError('not-found', `${repository.slice(0, 200)} is not a GitLab project.`);
  return `/projects/${encodeURIComponent(repository)}`;
}
