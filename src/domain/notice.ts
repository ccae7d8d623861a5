import { z } from 'zod';

/** What a notice is about: all that is known of it is what the text is made from. */
export const NoticeAbout = z.discriminatedUnion('type', [
  z.object({ type: z.literal('build'), buildId: z.string() }),
  z.object({ type: z.literal('commit'), repository: z.string(), commit: z.string() }),
  z.object({ type: z.literal('pull-request'), repository: z.string(), pullRequest: z.int() }),
  z.object({ type: z.literal('branch'), repository: z.string(), pipeline: z.string(), branch: z.string() }),
]);
export type NoticeAbout = z.infer<typeof NoticeAbout>;

/** One text in one place outside, kept in step with what is known. */
export const Notice = z.object({
  /** The place, such as `github-comment:shop/api#1204`. */
  key: z.string(),
  /** The channel that shows it: what stands before the colon. */
  channel: z.string(),
  repository: z.string(),
  about: NoticeAbout,
  /** Rises with each change of what should be said. */
  wanted: z.int(),
  /** How much of `wanted` is shown, or was given up. */
  shown: z.int(),
  /** Fencing number: rises with each lease; a stale holder's word is refused. */
  lease: z.int(),
  /** Tries since something was shown that are running or ended without a word. */
  attempts: z.int(),
  /** Tries since something was shown that failed with something that may pass. */
  retries: z.int(),
  /** What the other side calls it; null where nothing is known to stand there. */
  reference: z.string().nullable(),
  /** Of the content that was shown last. */
  hash: z.string().nullable(),
  error: z.string().nullable(),
});
export type Notice = z.infer<typeof Notice>;

/** How far an act is. `started` means the call may have been made; what is `done`, `failed` or `superseded` has ended. */
const ActState = z.enum(['owed', 'started', 'done', 'failed', 'superseded']);

/** One telling of one answer to one publisher. Its row is there before the call, and says afterwards how it ended. */
export const OutboxEntry = z.object({
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
export type OutboxEntry = z.infer<typeof OutboxEntry>;

/** The key under which this publisher tells this answer, now and in every later try. */
export function outboxKey(publisher: string, analysisId: string): string {
  return `${publisher}:${analysisId}`;
}
