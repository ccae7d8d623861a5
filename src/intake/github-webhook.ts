import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { acceptDelivery } from './accept-delivery.ts';
import { WebhookAnswer } from './answers.ts';
import { CheckRunEvent, readGithubEvent, WorkflowJobEvent, WorkflowRunEvent } from './github-events.ts';
import type { IntakeDeps } from './intake-deps.ts';
import { parseJson, sha256 } from './read-input.ts';
import { checkGithubSignature } from './signature.ts';
import { headerOf, keepRawBodies, rawBody, requiredHeader } from './webhook-body.ts';

/** What GitHub sends where nobody chose "application/json". */
const FORM = 'application/x-www-form-urlencoded';

const GithubHeaders = z.object({
  'x-github-event': z.string().describe('workflow_run, workflow_job or check_run; others are acknowledged and ignored.'),
  'x-github-delivery': z.string().describe('Delivery ID. A second delivery with the same ID has no effect.'),
});

/** `POST /webhooks/github`: checks the signature over the raw body, makes the delivery durable, answers 202. */
export function registerGithubWebhook(app: FastifyInstance, deps: IntakeDeps): void {
  keepRawBodies(app, ['application/json', FORM]);
  app.post(
    '/webhooks/github',
    {
      // A webhook that is turned away is a build lost: GitHub does not try again. Forged ones are limited where they are refused.
      config: { access: { signature: 'github' }, rateLimit: false },
      // Documented here, checked in the handler: the signature comes first.
      validatorCompiler: () => (value) => ({ value }),
      schema: {
        tags: ['Intake'],
        operationId: 'receiveGithubWebhook',
        summary: 'GitHub webhook',
        description:
          'Subscribe it to "Workflow runs". "Workflow jobs" and "Check runs" are optional: with them, the first failed job is analyzed while the run continues, and later failures are added. All events of one run belong to one build. Failed builds are fetched and triaged, passed builds are stored for history, and everything else is acknowledged and ignored with a reason.',
        headers: GithubHeaders,
        body: {
          content: {
            'application/json': { schema: z.union([WorkflowRunEvent, WorkflowJobEvent, CheckRunEvent]) },
            [FORM]: { schema: z.object({ payload: z.string().describe('The JSON of the event.') }) },
          },
        },
        response: { 202: WebhookAnswer },
      },
    },
    async (request, reply) => {
      const body = rawBody(request);
      checkGithubSignature(body, headerOf(request, 'x-hub-signature-256'), deps.settings.webhooks.githubSecrets);
      const event = requiredHeader(request, 'x-github-event', 'X-GitHub-Event');
      const deliveryId = requiredHeader(request, 'x-github-delivery', 'X-GitHub-Delivery');
      const reading = readGithubEvent(event, parseJson('The body', jsonIn(request, body)));
      reply.status(202);
      if ('ignored' in reading) {
        deps.logger.info({ source: 'github', event, deliveryId, reason: reading.ignored }, 'delivery ignored');
        return reading;
      }
      const delivery = { source: 'github', deliveryId, event, bodySha256: sha256(body) } as const;
      return (await acceptDelivery(deps, delivery, reading)).answer;
    },
  );
}

/** A form holds the JSON in one field; GitHub signs the form as it is sent. */
function jsonIn(request: FastifyRequest, body: Buffer): string {
  const text = body.toString('utf8');
  return headerOf(request, 'content-type')?.startsWith(FORM) ? (new URLSearchParams(text).get('payload') ?? '') : text;
}
