import type { TriageError } from '../../domain/errors.ts';
import { githubError as meaningOf } from '../github-rest/error.ts';

export { createGithubAccess, type GithubAccessOptions } from '../github-rest/access.ts';
export type { GithubClient } from '../github-rest/client.ts';

/** A run of Actions, as the API addresses it. */
export interface GithubRun {
  readonly owner: string;
  readonly repo: string;
  readonly run_id: number;
  readonly attempt_number: number;
}

/** What a failed call means for a triage; `what` names it for people. */
export function githubError(what: string, error: unknown): TriageError {
  return meaningOf(what, error, 'Actions');
}
