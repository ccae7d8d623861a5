import { z } from 'zod';
import type { NamedRun } from '../named-runs.ts';
import { buildPath } from '../rest-client.ts';
import type { WebhookContent } from '../webhook.ts';
import { type CircleciOptions, createCircleciClient } from './api.ts';
import { readCircleciEvent } from './webhook.ts';

const Workflow = z.object({
  name: z.string(),
  status: z.string(),
  pipeline_id: z.uuid(),
  pipeline_number: z.int(),
  created_at: z.string(),
  stopped_at: z.string().nullish(),
});
const Pipeline = z.object({ id: z.uuid(), number: z.int(), vcs: z.unknown() });

/** Reads one workflow of CircleCI, as its event `workflow-completed` would report it. */
export async function loadCircleciWorkflow(
  { siteUrl, ...options }: CircleciOptions & { readonly siteUrl: string },
  { repository: slug, id }: NamedRun,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<WebhookContent> {
  const client = createCircleciClient(options, timeoutMs);
  const path = buildPath`/v2/workflow/${id}`;
  const workflow = await client.get(Workflow, { path, what: `the workflow ${id}`, signal });
  if (workflow.stopped_at == null) return { ignored: `it has not ended (${workflow.status})` };
  const pipeline = await client.get(Pipeline, {
    path: buildPath`/v2/pipeline/${workflow.pipeline_id}`,
    what: `the pipeline of the workflow ${id}`,
    signal,
  });
  const [, organization = '', project = ''] = slug.split('/');
  const url = `${siteUrl}/pipelines/${slug}/${workflow.pipeline_number}/workflows/${id}`;
  return readCircleciEvent({
    id,
    type: 'workflow-completed',
    workflow: { ...workflow, url },
    pipeline,
    project: { name: project },
    organization: { name: organization },
  }).reading;
}
