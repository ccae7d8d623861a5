import { z } from 'zod';

/**
 * What is owed to one build: fetch, read, group, think. One row per build, written in the transaction that stores the
 * build, and owed again when more of the build fails. The queue only notifies; this row is the truth.
 */
export const TriageJob = z.object({
  id: z.string(),
  buildId: z.string(),
  state: z.enum(['queued', 'running', 'done', 'failed']),
  /** Tries since it was owed last that are running or ended without a word, as when the process died. */
  attempts: z.int(),
  /** Tries since it was owed last that failed with something that may pass, and gave the job back. */
  retries: z.int(),
  /** It is left alone until then; null where it may be taken at once. */
  notBefore: z.iso.datetime().nullable(),
  /** Rises with each piece of news about the build: it is owed once more. */
  owed: z.int(),
  /** The `owed` up to which the build's logs were fetched. */
  fetched: z.int(),
  /** News came while it was running: it is run once more before it is done. */
  dirty: z.boolean(),
  /** Fencing number: rises with each lease; a stale holder's writes are refused. */
  lease: z.int(),
  leaseExpiresAt: z.iso.datetime().nullable(),
  error: z.string().nullable(),
  /** When the newest news came; absent where it is not known. */
  owedAt: z.iso.datetime().optional(),
  /** W3C traceparent of the request that owed it, where somebody traces. */
  traceparent: z.string().nullable().optional(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type TriageJob = z.infer<typeof TriageJob>;

/** The work on one failure group. `id` is also the graph's thread id. `(buildId, fingerprint)` is unique. */
export const Triage = z.object({
  id: z.string(),
  buildId: z.string(),
  fingerprint: z.string(),
  state: z.enum(['open', 'concluded']),
  analysisId: z.string().nullable(),
});
export type Triage = z.infer<typeof Triage>;
