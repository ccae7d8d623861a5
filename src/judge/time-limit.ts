import type { StoppedRun } from '../domain/environment.ts';
import type { TriageSubject } from '../domain/triage.ts';

/** A usual time limit that had run out when a run was stopped. */
export interface ReachedLimit {
  readonly minutes: number;
  /** The limited part. */
  readonly of: 'job' | 'step' | 'silence';
  readonly stopped: StoppedRun;
}

/** Usual time limits in minutes of jobs, steps, and runs without output. */
const LIMITS = [5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 360] as const;
const SILENT_LIMITS: ReadonlySet<number> = new Set([10, 15, 20, 30, 60]);
/**
 * The number of seconds by which a log may be shorter than the limit, because it begins after the timer, and
 * by which it may be longer.
 */
const [SOONER, LATER] = [3, 20];

/**
 * Finds the usual time limit that had run out when the run was stopped. Returns null if the run was not
 * stopped, or if the time matches no limit. In the first half hour, one time in fifteen matches by chance.
 */
export function findReachedLimit({ environment }: Pick<TriageSubject, 'environment'>): ReachedLimit | null {
  const stopped = environment?.stopped;
  if (stopped === undefined) return null;
  const job = findLimit(stopped.jobSeconds);
  if (job !== null) return { minutes: job, of: 'job', stopped };
  const silence = findLimit(stopped.silentSeconds);
  if (silence !== null && SILENT_LIMITS.has(silence)) return { minutes: silence, of: 'silence', stopped };
  const step = findLimit(stopped.stepSeconds);
  return step === null ? null : { minutes: step, of: 'step', stopped };
}

function findLimit(seconds: number | null): number | null {
  if (seconds === null) return null;
  return LIMITS.find((limit) => seconds >= limit * 60 - SOONER && seconds <= limit * 60 + LATER) ?? null;
}
