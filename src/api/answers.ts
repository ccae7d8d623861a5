import { z } from 'zod';
import type { IntakeSettings, Recorded } from '../service/intake/record-build.ts';
import type { DeliveryKey } from '../stores/deliveries.ts';

export const BuildReceived = z
  .object({
    buildId: z.string().describe("Faultline's ID of the build."),
    jobId: z
      .string()
      .nullable()
      .describe('ID of the triage, which is that of the build; null if none is needed.'),
    ignored: z.string().optional().describe('Why no triage is needed, in a sentence.'),
    links: z.object({ build: z.string(), analyses: z.string() }),
  })
  .meta({
    description: 'The build is stored.',
    examples: [
      {
        buildId: 'bld_0mi3k9x2a5f6c1d2e3f405162738',
        jobId: 'bld_0mi3k9x2a5f6c1d2e3f405162738',
        links: {
          build: '/api/builds/bld_0mi3k9x2a5f6c1d2e3f405162738',
          analyses: '/api/builds/bld_0mi3k9x2a5f6c1d2e3f405162738/analyses',
        },
      },
    ],
  });
export type BuildReceived = z.infer<typeof BuildReceived>;

const DeliveryIgnored = z
  .object({ ignored: z.string().describe('Why nothing needs to be done, in a sentence.') })
  .meta({
    description: 'Nothing needs to be done.',
    examples: [{ ignored: 'ping: the webhook works; nothing to triage' }],
  });

/** The response to a delivery that was stored. Its build is created from it a moment later. */
export const DeliveryAccepted = z
  .object({
    deliveryId: z.string().describe("The sender's delivery ID."),
    links: z.object({
      delivery: z.string().describe("URL of the delivery's status."),
      build: z.string().optional().describe('The build, if the same delivery was received before.'),
      analyses: z.string().optional(),
    }),
  })
  .meta({
    description: 'The delivery is durably stored.',
    examples: [
      {
        deliveryId: 'd1a7c4f0-6a2d-4f43-9b8e-0d7c9e2a4f11',
        links: { delivery: '/api/deliveries/github/d1a7c4f0-6a2d-4f43-9b8e-0d7c9e2a4f11' },
      },
    ],
  });
export type DeliveryAccepted = z.infer<typeof DeliveryAccepted>;

export const WebhookAnswer = z
  .union([DeliveryAccepted, DeliveryIgnored])
  .describe('The delivery is durably stored, or nothing needs to be done.');
export type WebhookAnswer = z.infer<typeof WebhookAnswer>;

/** The shape of every error response: what failed, where, and how to fix it. */
export const ErrorAnswer = z
  .object({
    error: z.object({
      code: z.string().describe('Stable error code, for programs.'),
      message: z.string().describe('Error message, for people.'),
      requestId: z.string().optional().describe('Request ID, to find it in the log.'),
      issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    }),
  })
  .meta({
    description: 'Rejected: what is wrong, where, and how to fix it.',
    examples: [
      {
        error: {
          code: 'invalid-input',
          message: 'The metadata is invalid at "repository": required, but missing.',
          requestId: '0b5c8f0e-6a2d-4f43-9b8e-0d7c9e2a4f11',
          issues: [{ path: 'repository', message: 'required, but missing' }],
        },
      },
    ],
  });
export type ErrorAnswer = z.infer<typeof ErrorAnswer>;

/** Creates the response for a stored build. It is the same for each repetition of the upload. */
export function answerFor(settings: IntakeSettings, { build, job }: Recorded): BuildReceived {
  return {
    buildId: build.id,
    jobId: job?.buildId ?? null,
    ...(job === null
      ? { ignored: 'the build passed: it is stored for history and comparison; nothing to triage' }
      : {}),
    links: buildLinks(settings, build.id),
  };
}

/** Builds the links to a delivery and, if there is one, to its build. */
export function buildDeliveryLinks(
  settings: IntakeSettings,
  { source, deliveryId }: DeliveryKey,
  buildId: string | null,
): DeliveryAccepted['links'] {
  const delivery = `${getBaseUrl(settings)}/api/deliveries/${source}/${encodeURIComponent(deliveryId)}`;
  return buildId === null ? { delivery } : { delivery, ...buildLinks(settings, buildId) };
}

function buildLinks(settings: IntakeSettings, buildId: string): BuildReceived['links'] {
  const build = `${getBaseUrl(settings)}/api/builds/${buildId}`;
  return { build, analyses: `${build}/analyses` };
}

function getBaseUrl({ http }: IntakeSettings): string {
  return (http.publicUrl ?? '').replace(/\/$/, '');
}
