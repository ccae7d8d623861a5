import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../read-input.ts';
import { matchesAny, refused, requiredHeader, requireRecent, requireSecrets, type Webhook, type WebhookRequest } from '../webhook.ts';
import { JobEvent, PipelineEvent, readGitlabEvent } from './events.ts';

const SECRET = 'FAULTLINE_GITLAB_WEBHOOK_SECRET';
/** How a signing token begins; base64 follows. */
const SIGNING_TOKEN = 'whsec_';

/** `POST /webhooks/gitlab`: with the secret token, or signed as Standard Webhooks are. */
export function gitlabWebhook(secrets: readonly string[]): Webhook {
  return {
    path: '/webhooks/gitlab',
    secrets,
    accepts: ['application/json'],
    describes: {
      operationId: 'receiveGitlabWebhook',
      summary: 'GitLab webhook',
      description:
        'Subscribe it to "Pipeline events" and, optionally, "Job events": with them, the first failed job is analyzed while the pipeline continues. All events of one pipeline belong to one build, until it is retried. Failed pipelines are fetched and triaged, passed ones are stored for history, and everything else is acknowledged and ignored with a reason.',
      headers: z.object({
        'x-gitlab-event': z.string().describe('Pipeline Hook or Job Hook; others are acknowledged and ignored.'),
        'idempotency-key': z.string().optional().describe('Delivery ID. A second delivery with the same ID has no effect.'),
      }),
      bodies: { 'application/json': z.union([PipelineEvent, JobEvent]) },
      security: {
        gitlabToken: { in: 'header', name: 'X-Gitlab-Token', description: 'The secret token itself.' },
        gitlabSignature: {
          in: 'header',
          name: 'webhook-signature',
          description:
            '`v1,` and the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>`, in base64; webhook-id and webhook-timestamp are required as well.',
        },
      },
    },
    receive: (request, nowMs) => {
      requireSecrets(secrets, 'GitLab', SECRET);
      authenticate(request, secrets, nowMs);
      const event = requiredHeader(request, 'X-Gitlab-Event');
      const given = request.header('idempotency-key') ?? request.header('webhook-id');
      const deliveryId = given === undefined || given === '' || given.length > 200 ? null : given;
      return { event, deliveryId, reading: readGitlabEvent(event, parseJson('The body', request.body.toString('utf8'))) };
    },
  };
}

/** Either shows that the sender knows a secret; GitLab may send both. */
function authenticate(request: WebhookRequest, secrets: readonly string[], nowMs: number): void {
  const token = request.header('x-gitlab-token');
  const signature = request.header('webhook-signature');
  if (token !== undefined && matchesAny(token, secrets)) return;
  if (signature !== undefined) checkSigned(request, signature, secrets, nowMs);
  else if (token !== undefined) throw refused(`X-Gitlab-Token does not match any configured secret (${SECRET}).`);
  else throw refused('The delivery contains no secret: X-Gitlab-Token is missing. Set a secret token for the webhook in GitLab.');
}

function checkSigned(request: WebhookRequest, signature: string, secrets: readonly string[], nowMs: number): void {
  const id = request.header('webhook-id');
  const timestamp = request.header('webhook-timestamp');
  if (id === undefined || timestamp === undefined || !/^\d{1,12}$/.test(timestamp))
    throw refused('A signed delivery needs the headers webhook-id and webhook-timestamp, in Unix time.');
  const expected = secrets.map((secret) => {
    const key = secret.startsWith(SIGNING_TOKEN) ? Buffer.from(secret.slice(SIGNING_TOKEN.length), 'base64') : secret;
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(request.body).digest('base64')}`;
  });
  // Two signatures stand beside each other while a token is rotated.
  if (!signature.split(' ', 4).some((one) => matchesAny(one, expected)))
    throw refused(`webhook-signature does not match the body, ID and timestamp with any configured secret (${SECRET}).`);
  requireRecent('webhook-timestamp', timestamp, nowMs);
}
