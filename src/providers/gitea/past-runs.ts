import { z } from 'zod';
import { findOrNull } from '../code-questions.ts';
import { createNoRunError, type NamedRun } from '../named-runs.ts';
import type { PastRun, PastRuns } from '../provider.ts';
import { buildPath, type RestClient } from '../rest-client.ts';
import type { WebhookContent } from '../webhook.ts';
import { createGiteaClient, type GiteaOptions, PAGE, splitOwnerAndName } from './client.ts';
import { readGiteaEvent } from './webhook.ts';

const MAX_PAGES = 200;

const Repository = z.object({ full_name: z.string(), default_branch: z.string().nullish() });
/** A run of Gitea, or of Forgejo, whose runs have an index. */
const Run = z.looseObject({
  id: z.int(),
  status: z.string(),
  path: z.string().nullish(),
  run_attempt: z.int().nullish(),
  index_in_repo: z.int().nullish(),
  html_url: z.string().nullish(),
  started_at: z.string().nullish(),
  started: z.string().nullish(),
});
const Runs = z
  .object({ workflow_runs: z.array(Run).nullable() })
  .transform(({ workflow_runs }) => workflow_runs ?? []);
const Workflows = z.object({ workflows: z.array(z.object({ id: z.string(), name: z.string() })).nullable() });

/** Creates the reader of past runs of Gitea or Forgejo Actions, for servers that list them. */
export function createGiteaPastRuns(options: GiteaOptions, timeoutMs: number): PastRuns {
  const client = createGiteaClient(options, timeoutMs);
  return {
    async *list(repository, since, signal) {
      const { owner, repo } = splitOwnerAndName(repository);
      const path = buildPath`/repos/${owner}/${repo}`;
      const place = await client.get(Repository, { path, what: `the repository ${repository}`, signal });
      const names = await readWorkflowNames(client, path, signal);
      const question = { path: `${path}/actions/runs`, what: 'the runs of the repository', signal };
      for await (const run of client.items(Runs, question, {
        sizeName: 'limit',
        size: PAGE,
        maxPages: MAX_PAGES,
      })) {
        const began = Date.parse(run.started_at ?? run.started ?? '');
        // A run that has not begun has a date in 1970 or in the year 1.
        if (began < since.getTime() && began > Date.UTC(1971)) return;
        yield toPastRun(run, place, names);
      }
    },
  };
}

/**
 * Reads one run of Gitea or Forgejo Actions. The address of its page has the number of the run in its
 * repository in some releases and its id in others, so the run with that page is looked for among the newest
 * ones.
 */
export async function loadGiteaRun(
  options: GiteaOptions,
  { repository, id }: NamedRun,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<WebhookContent> {
  const client = createGiteaClient(options, timeoutMs);
  const { owner, repo } = splitOwnerAndName(repository);
  const path = buildPath`/repos/${owner}/${repo}`;
  const place = await client.get(Repository, { path, what: `the repository ${repository}`, signal });
  const question = { path: `${path}/actions/runs`, what: 'the runs of the repository', signal };
  const page = `/${repository}/actions/runs/${id}`.toLowerCase();
  for await (const run of client.items(Runs, question, {
    sizeName: 'limit',
    size: PAGE,
    maxPages: MAX_PAGES,
  }))
    if (run.html_url?.toLowerCase().endsWith(page) === true)
      return await toPastRun(run, place, await readWorkflowNames(client, path, signal)).load(signal);
  throw createNoRunError(`Run ${id} of ${repository}`, 'Gitea');
}

/**
 * Returns the names of workflows by the file that runs refer to. Returns none if the server does not provide
 * them.
 */
async function readWorkflowNames(
  client: RestClient,
  path: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const asked = client.get(Workflows, { path: `${path}/actions/workflows`, what: 'the workflows', signal });
  const found = await findOrNull(asked);
  return new Map((found?.workflows ?? []).map(({ id, name }) => [id, name]));
}

function toPastRun(
  run: z.infer<typeof Run>,
  repository: z.infer<typeof Repository>,
  names: ReadonlyMap<string, string>,
): PastRun {
  const externalId = String(run.id);
  if (run.index_in_repo != null) {
    const event = { action: run.status, run: { ...run, repository } };
    return { externalId, attempt: null, load: async () => readGiteaEvent('action_run_failure', event) };
  }
  const file = run.path?.split('@', 1)[0]?.split('/').at(-1) ?? '';
  const event = {
    action: run.status,
    repository,
    workflow: { name: names.get(file) ?? null },
    workflow_run: run,
  };
  return {
    externalId,
    attempt: run.run_attempt ?? 1,
    load: async () => readGiteaEvent('workflow_run', event),
  };
}
