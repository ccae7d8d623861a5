import type { SourceText } from '../../domain/build.ts';
import { isRetryable, TriageError } from '../../domain/errors.ts';
import type { Fetching, Job } from './github-logs.ts';
import { endedJustNow, fetchJobLog, isMissing, listJobs, logsInArchive, notYet } from './github-logs.ts';

/** More passed jobs than this are the cells of one matrix. */
const MAX_JOBS = 60;
/** Logs fetched one by one, where the run's archive is too large or cannot be had. */
const MAX_SINGLE = 10;

/**
 * The logs of a run's passed jobs, each named as the log of a failed job of that name is. The archive of the run's logs has all
 * of them in one answer; where it is too large, as many logs as there is room for.
 */
export async function fetchGreenLogs(fetching: Fetching): Promise<SourceText[]> {
  const jobs = (await listJobs(fetching)).filter((job) => job.conclusion === 'success').slice(0, MAX_JOBS);
  if (jobs.length === 0) return [];
  try {
    // A copy: what it takes of the room is free again where it fails.
    return await logsInArchive({ ...fetching }, jobs);
  } catch (error) {
    if (isRetryable(error) || fetching.signal.aborted) throw error;
    const isBare = isMissing(error) || (error instanceof TriageError && error.code === 'too-large');
    if (!isBare) throw error;
    return await oneByOne(fetching, jobs);
  }
}

async function oneByOne(fetching: Fetching, jobs: readonly Job[]): Promise<SourceText[]> {
  const logs: SourceText[] = [];
  for (const job of jobs.slice(0, MAX_SINGLE)) {
    try {
      logs.push(await fetchJobLog(fetching, job));
    } catch (error) {
      if (isRetryable(error) || fetching.signal.aborted) throw error;
      if (isMissing(error) && endedJustNow(job)) throw notYet(job, error);
      // One log too large, or gone, says nothing of the others.
      if (!(error instanceof TriageError) || error.code === 'upstream-auth') throw error;
    }
  }
  return logs;
}
