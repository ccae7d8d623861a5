import { z } from 'zod';
import { parseJson } from '../../lib/text.ts';
import { joinPath } from '../check.ts';
import type { NamedRun } from '../named-runs.ts';
import { withDeadline } from '../rest-client.ts';
import type { WebhookContent } from '../webhook.ts';
import { checkJenkinsAddress, type JenkinsAccess, READ_JOB, readJenkins } from './client.ts';
import { readJenkinsEvent } from './webhook.ts';

const TREE = 'number,building,result';
const MAX_BYTES = 1024 * 1024;

const JenkinsBuild = z.object({
  number: z.int(),
  building: z.boolean().default(false),
  result: z.string().nullish(),
});

/**
 * Reads one build of Jenkins, as the Notification plugin would report it. What the plugin does not say is
 * added by the source of the build.
 */
export async function loadJenkinsBuild(
  access: JenkinsAccess,
  { repository: job, id }: NamedRun,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<WebhookContent> {
  const url = access.baseUrl === null ? null : joinPath(access.baseUrl, `${job}/${id}/`);
  const address = checkJenkinsAddress(access.baseUrl, { url, externalId: url, number: id, pipeline: job });
  const path = new URL(`api/json?tree=${TREE}`, address);
  const question = { what: `build ${id} of ${job}`, right: READ_JOB, maxBytes: MAX_BYTES };
  const found = await withDeadline(`Asking Jenkins about build ${id}`, timeoutMs, signal, async (within) =>
    JenkinsBuild.parse(
      parseJson((await readJenkins(access, path, { ...question, signal: within })).toString()),
    ),
  );
  const name = job.split('/').at(-1) ?? job;
  const build = {
    full_url: address.href,
    number: found.number,
    phase: found.building ? 'STARTED' : 'FINALIZED',
    status: found.result ?? null,
  };
  const event = { name, display_name: name, url: `${job}/`, build };
  return readJenkinsEvent(event, { baseUrl: access.baseUrl, nowMs: Date.now() }).reading;
}
