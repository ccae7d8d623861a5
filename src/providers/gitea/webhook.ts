import { z } from 'zod';
import { parseJson } from '../read-input.ts';
import { bodyText, FORM, isSigned, refused, requiredHeader, requireSecrets, type Webhook, type WebhookRequest } from '../webhook.ts';
import { ActionRunEvent, readGiteaEvent, WorkflowJobEvent, WorkflowRunEvent } from './events.ts';

/** `POST /webhooks/gitea`: Gitea or Forgejo, signed over the raw body. Forgejo's own headers go before those that it sends for Gitea's sake. */
export function giteaWebhook(secrets: readonly string[]): Webhook {
  return {
    path: '/webhooks/gitea',
    secrets,
    accepts: ['application/json', FORM],
    describes: {
      operationId: 'receiveGiteaWebhook',
      summary: 'Gitea and Forgejo webhook',
      description:
        'Subscribe it to "Workflow run" and, optionally, "Workflow job" (Gitea), or to the action run events (Forgejo). All events of one run belong to one build. Failed builds are fetched and triaged, passed builds are stored for history, and everything else is acknowledged and ignored with a reason.',
      headers: z.object({
        'x-gitea-event': z.string().optional().describe('workflow_run or workflow_job; others are acknowledged and ignored.'),
        'x-forgejo-event': z.string().optional().describe('action_run_failure, action_run_recover or action_run_success.'),
        'x-gitea-delivery': z.string().optional().describe('Delivery ID. A second delivery with the same ID has no effect.'),
      }),
      bodies: {
        'application/json': z.union([WorkflowRunEvent, WorkflowJobEvent, ActionRunEvent]),
        [FORM]: z.object({ payload: z.string().describe('The JSON of the event.') }),
      },
      security: {
        giteaSignature: { in: 'header', name: 'X-Gitea-Signature', description: 'The HMAC-SHA256 of the raw body, in hexadecimal.' },
        forgejoSignature: { in: 'header', name: 'X-Forgejo-Signature', description: 'The HMAC-SHA256 of the raw body, in hexadecimal.' },
      },
    },
    receive: (request) => {
      checkSignature(request, secrets);
      const sender = request.header('x-forgejo-event') === undefined ? 'X-Gitea' : 'X-Forgejo';
      const event = requiredHeader(request, `${sender}-Event`);
      const deliveryId = requiredHeader(request, `${sender}-Delivery`);
      return { event, deliveryId, reading: readGiteaEvent(event, parseJson('The body', bodyText(request))) };
    },
  };
}

function checkSignature(request: WebhookRequest, secrets: readonly string[]): void {
  requireSecrets(secrets, 'Gitea and Forgejo', 'FAULTLINE_GITEA_WEBHOOK_SECRET');
  const signature = request.header('x-forgejo-signature') ?? request.header('x-gitea-signature');
  if (signature === undefined)
    throw refused('The delivery is not signed: X-Gitea-Signature is missing. Set a secret for the webhook in Gitea or Forgejo.');
  if (!/^[0-9a-f]{64}$/.test(signature)) throw refused('X-Gitea-Signature must be 64 hexadecimal digits.');
  if (!isSigned(request.body, signature, secrets))
    throw refused(
      'The signature does not match any configured secret. Is the secret in Gitea or Forgejo the same as the one configured here?',
    );
}
