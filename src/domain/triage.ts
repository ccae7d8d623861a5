import { z } from 'zod';

/**
 * What is owed to one build: fetch, read, group, think. One row per build, written in the transaction that stores the
 * build. The queue only rings the bell; this row is the truth.
 */
export const TriageJob = z.object({
  id: z.string(),
  buildId: z.string(),
  state: z.enum(['queued', 'running', 'done', 'failed']),
  attempts: z.int(),
  /** Fencing number: rises with each lease; a stale holder's writes are refused. */
  lease: z.int(),
  leaseExpiresAt: z.iso.datetime().nullable(),
  error: z.string().nullable(),
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
