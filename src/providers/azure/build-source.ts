import { z } from 'zod';
import type { Build } from '../../domain/build.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import { type CiJob, createRunSource, type RunLimits, unknownBuild } from '../job-logs.ts';
import { at, type RestClient } from '../rest-client.ts';
import { API, type AzureOptions, createAzureClient } from './client.ts';

/** Earlier attempts of one job that are looked through. */
const MAX_ATTEMPTS = 10;

const Timeline = z.object({
  records: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      name: z.string(),
      state: z.string().nullish(),
      result: z.string().nullish(),
      finishTime: z.string().nullish(),
      log: z.object({ id: z.int() }).nullish(),
      previousAttempts: z.array(z.object({ attempt: z.int(), timelineId: z.string(), recordId: z.string().nullish() })).nullish(),
    }),
  ),
});
type Entry = z.infer<typeof Timeline>['records'][number];

interface Asking {
  readonly client: RestClient;
  /** Of the build. */
  readonly path: string;
  readonly signal: AbortSignal;
}

/** Reads the logs of a build's failed jobs from Azure Pipelines. */
export function createAzureBuildSource(options: AzureOptions & RunLimits): BuildSource {
  return createRunSource('azure', options, (build, signal) => {
    const client = createAzureClient(options, options.timeoutMs);
    const path = pathOf(build);
    return {
      listJobs: () => listJobs({ client, path, signal }, build.finishedAt),
      fetchLog: ({ id, name }, maxBytes) =>
        client.bytes({ path: `${path}${at`/logs/${id}`}`, query: API, what: `the log of job "${name}"`, signal, maxBytes }),
    };
  });
}

/** Each job as it was at `until`, when the build ended: one that was run again since then has earlier attempts in timelines of their own. */
async function listJobs(asking: Asking, until: string | null): Promise<CiJob[]> {
  const jobs = (await timelineOf(asking, '')).filter(({ type }) => type === 'Job');
  const own: CiJob[] = [];
  for (const newest of jobs) {
    const job = await atTime(asking, newest, until);
    // One that never began has no log, and did not fail.
    if (job !== null && (job.log != null || job.result === 'failed')) own.push(jobOf(job));
  }
  return own;
}

function jobOf({ name, state, result, finishTime, log }: Entry): CiJob {
  const hasPassed = result === 'succeeded' || result === 'succeededWithIssues';
  const outcome = result === 'failed' ? 'failed' : hasPassed ? 'passed' : 'other';
  return { id: log?.id ?? 0, name, isOver: state === 'completed', outcome, endedAt: finishTime ?? null };
}

async function atTime(asking: Asking, job: Entry, until: string | null): Promise<Entry | null> {
  const isLater = ({ finishTime }: Entry) => until !== null && finishTime != null && Date.parse(finishTime) > Date.parse(until);
  if (!isLater(job)) return job;
  const before = [...(job.previousAttempts ?? [])].sort((left, right) => right.attempt - left.attempt).slice(0, MAX_ATTEMPTS);
  for (const { timelineId, recordId } of before) {
    const found = (await timelineOf(asking, at`/${timelineId}`)).find(
      (one) => one.type === 'Job' && (one.id === recordId || one.name === job.name),
    );
    if (found !== undefined && !isLater(found)) return found;
  }
  return null;
}

async function timelineOf({ client, path, signal }: Asking, which: string): Promise<Entry[]> {
  const question = { path: `${path}/timeline${which}`, query: API, what: 'the jobs of the build', signal };
  return (await client.get(Timeline, question)).records;
}

/** Throws `not-found` for what is no build of Azure Pipelines. */
function pathOf(build: Build): string {
  const [, project, id] = /^([^/]{1,200})\/(\d{1,15})$/.exec(build.externalId ?? '') ?? [];
  if (project === undefined || id === undefined || /^\.+$/.test(project)) throw unknownBuild(build, 'Azure Pipelines');
  return at`/${project}/_apis/build/builds/${id}`;
}
