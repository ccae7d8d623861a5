import { TriageError } from '../../domain/errors.ts';
import type { PastRuns } from '../past-runs.ts';
import { createGithubAccess, type GithubAccessOptions } from './access.ts';
import { githubError } from './client.ts';
import { readGithubEvent } from './events.ts';

const PAGE = 100;

/** Runs of Actions, with the App where it is installed, else with the token. GitHub lists at most a thousand. */
export function createGithubPastRuns(options: GithubAccessOptions): PastRuns {
  const access = createGithubAccess(options);
  return {
    async *list(repository, since, signal) {
      const [owner, repo, ...rest] = repository.split('/');
      if (owner === undefined || repo === undefined || rest.length > 0)
        throw new TriageError('not-found', `${repository.slice(0, 200)} is not a GitHub repository; use the form owner/name.`);
      const { client } = await access.forRepository({ owner, repo }, signal);
      const asked = { owner, repo, request: { signal } };
      const refused = (what: string) => (error: unknown) => {
        throw githubError(what, error, 'Actions');
      };
      const { data } = await client.rest.repos.get(asked).catch(refused(`the repository ${repository}`));
      const place = { full_name: data.full_name, default_branch: data.default_branch };
      for (let page = 1; ; page += 1) {
        const query = { status: 'completed', created: `>=${since.toISOString()}`, per_page: PAGE, page } as const;
        const listed = await client.rest.actions
          .listWorkflowRunsForRepo({ ...asked, ...query })
          .catch(refused('the runs of the repository'));
        const { workflow_runs: runs } = listed.data;
        for (const run of runs) {
          const event = { action: 'completed', repository: place, workflow_run: { ...run, pull_requests: run.pull_requests ?? [] } };
          const load = async () => readGithubEvent('workflow_run', event);
          yield { externalId: String(run.id), attempt: run.run_attempt ?? 1, load };
        }
        if (runs.length < PAGE) return;
      }
    },
  };
}
