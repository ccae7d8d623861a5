import { z } from 'zod';
import type { NamedRun } from '../named-runs.ts';
import { buildPath } from '../rest-client.ts';
import type { WebhookContent } from '../webhook.ts';
import { API, type AzureOptions, createAzureClient } from './api.ts';
import { readAzureEvent } from './webhook.ts';

const AzureBuild = z.looseObject({ status: z.string().nullish() });

/** Reads one build of Azure Pipelines, as its event `build.complete` would report it. */
export async function loadAzureBuild(
  options: AzureOptions,
  { repository: project, id }: NamedRun,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<WebhookContent> {
  const resource = await createAzureClient(options, timeoutMs).get(AzureBuild, {
    path: buildPath`/${project}/_apis/build/builds/${id}`,
    query: API,
    what: `build ${id} of ${project}`,
    signal,
  });
  if (resource.status !== 'completed') return { ignored: `it has not ended (${resource.status})` };
  return readAzureEvent({ id, eventType: 'build.complete', resource }).reading;
}
