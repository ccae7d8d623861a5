import { z } from 'zod';

/** Who is told of sure answers, beside the log. */
export const PublishersConfig = z.object({
  webhook: z
    .object({
      url: z.url({ protocol: /^https?$/ }).nullable(),
      /** All of them sign: two while one is rotated. */
      secrets: z.array(
        z.string().regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'must be whsec_ followed by the base64 of 24 to 64 random bytes'),
      ),
      /** As Standard Webhooks, or as CloudEvents in structured mode; signed the same way. */
      format: z.enum(['standard', 'cloudevents']),
    })
    .refine(({ url, secrets }) => url === null || secrets.length > 0, { path: ['secrets'], error: 'the webhook needs a signing secret' }),
  /** Between two edits of one text outside, in milliseconds. */
  pauseMs: z.int().min(0).max(600_000),
  /** Of one call, in milliseconds. */
  timeoutMs: z.int().min(100).max(120_000),
});

/** Nobody but the log. */
export const NO_PUBLISHERS: z.input<typeof PublishersConfig> = {
  webhook: { url: null, secrets: [], format: 'standard' },
  pauseMs: 20_000,
  timeoutMs: 10_000,
};
