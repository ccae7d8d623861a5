import { z } from 'zod';
import type { NamedRun } from '../named-runs.ts';
import type { PastRuns } from '../provider.ts';
import type { RestClient } from '../rest-client.ts';
import type { WebhookContent } from '../webhook.ts';
import { createGitlabClient, type GitlabOptions, getProjectPath, PAGE } from './client.ts';
import { readGitlabEvent } from './webhook.ts';

const MAX_PAST_PAGES = 100;

const Project = z.object({
  path_with_namespace: z.string(),
  default_branch: z.string().nullish(),
  web_url: z.string().nullish(),
});
const Listed = z.array(z.object({ id: z.int() }));
const Pipeline = z.looseObject({ web_url: z.string().nullish(), user: z.unknown() });

/**
 * Creates the reader of a project's past pipelines. Each pipeline is requested separately, because the list
 * does not state when it ended.
 */
export function createGitlabPastRuns(options: GitlabOptions, timeoutMs: number): PastRuns {
  const client = createGitlabClient(options, timeoutMs);
  return {
    async *list(repository, since, signal) {
      const path = getProjectPath(repository);
      const project = await client.get(Project, { path, what: `the project ${repository}`, signal });
      const query = { scope: 'finished', order_by: 'id', sort: 'desc', updated_after: since.toISOString() };
      const pipelines = { path: `${path}/pipelines`, query, what: 'the pipelines of the project', signal };
      for await (const { id } of client.items(Listed, pipelines, { ...PAGE, maxPages: MAX_PAST_PAGES })) {
        const load = async (within: AbortSignal) =>
          await readPipeline(client, project, `${path}/pipelines/${id}`, within);
        yield { externalId: String(id), attempt: null, load };
      }
    },
  };
}

/** Reads one pipeline of a project. */
export async function loadGitlabRun(
  options: GitlabOptions,
  { repository, id }: NamedRun,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<WebhookContent> {
  const client = createGitlabClient(options, timeoutMs);
  const path = getProjectPath(repository);
  const project = await client.get(Project, { path, what: `the project ${repository}`, signal });
  return await readPipeline(client, project, `${path}/pipelines/${id}`, signal);
}

async function readPipeline(
  client: RestClient,
  project: z.infer<typeof Project>,
  path: string,
  signal: AbortSignal,
): Promise<WebhookContent> {
  const question = { path, what: `pipeline ${path.split('/').at(-1)}`, signal };
  const { web_url: url, user, ...pipeline } = await client.get(Pipeline, question);
  return readGitlabEvent('Pipeline Hook', {
    object_kind: 'pipeline',
    object_attributes: { ...pipeline, url },
    user,
    project,
  });
}
