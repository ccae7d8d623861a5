import { z } from 'zod';

/** How far an act is. `started` means the call may have been made; what is `done`, `failed` or `superseded` has ended. */
const ActState = z.enum(['owed', 'started', 'done', 'failed', 'superseded']);

/** One telling of one answer to one publisher. Its row is there before the call, and says afterwards how it ended. */
export const OutwardAct = z.object({
  /** Unique, and known to the other side: see `actKey`. */
  key: z.string(),
  /** The driver of the publisher that makes it. */
  publisher: z.string(),
  buildId: z.string(),
  analysisId: z.string(),
  state: ActState,
  /** Tries that are running or ended without a word, as when the process died. */
  attempts: z.int(),
  /** Tries that failed with something that may pass, and gave the act back. */
  retries: z.int(),
  /** Fencing number: rises with each lease; a stale holder's word is refused. Above 1 the call may have been made before. */
  lease: z.int(),
  /** What the other side calls it (an address or an id), where it said so. */
  reference: z.string().nullable(),
  error: z.string().nullable(),
});
export type OutwardAct = z.infer<typeof OutwardAct>;

/** The key under which this publisher tells this answer, now and in every later try. */
export function actKey(publisher: string, analysisId: string): string {
  return `${publisher}:${analysisId}`;
}
