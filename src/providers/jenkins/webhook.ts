import { z } from 'zod';
import { parseJson } from '../read-input.ts';
import { hmacOf, matchesAny, refused, requireRecent, requireSecrets, type Webhook, type WebhookRequest } from '../webhook.ts';
import { GenericEvent, NotificationEvent, readJenkinsEvent } from './events.ts';

const SECRET = 'FAULTLINE_JENKINS_WEBHOOK_SECRET';

const Query = z.object({ token: z.string().optional() });

/** `POST /webhooks/jenkins`: the Notification plugin's shape or the generic one, signed or with a token. */
export function jenkinsWebhook(secrets: readonly string[]): Webhook {
  return {
    path: '/webhooks/jenkins',
    secrets,
    accepts: ['application/json'],
    describes: {
      operationId: 'receiveJenkinsWebhook',
      summary: 'Jenkins and generic webhook',
      description:
        'Accepts events of the Notification plugin (acting once a build is COMPLETED or FINALIZED) and generic build events. Sign the request (X-Faultline-Signature) or, because the plugin cannot sign, send the secret in X-Faultline-Token or `?token=`.',
      headers: z.object({
        'x-faultline-id': z.string().optional().describe('Delivery ID; each ID is accepted once.'),
        'x-faultline-timestamp': z.string().optional().describe("Unix time in seconds; at most 5 minutes from the server's time."),
      }),
      bodies: { 'application/json': z.union([NotificationEvent, GenericEvent]) },
      security: {
        jenkinsSignature: {
          in: 'header',
          name: 'X-Faultline-Signature',
          description:
            '`sha256=` and the HMAC-SHA256 of `<id>.<timestamp>.<raw body>`, in hexadecimal; X-Faultline-Id and X-Faultline-Timestamp are required as well.',
        },
        jenkinsToken: { in: 'header', name: 'X-Faultline-Token', description: 'The secret itself, for senders that cannot sign.' },
        jenkinsQueryToken: { in: 'query', name: 'token', description: 'The secret, for senders that cannot set headers.' },
      },
    },
    receive: (request, nowMs) => {
      requireSecrets(secrets, 'Jenkins', SECRET);
      const deliveryId = authenticate(request, secrets, nowMs);
      const { event, reading } = readJenkinsEvent(parseJson('The body', request.body.toString('utf8')));
      return { event, deliveryId, once: deliveryId !== null, reading };
    },
  };
}

/** The id under which the sender signed, or null where it showed a token. Throws `unauthenticated`. */
function authenticate(request: WebhookRequest, secrets: readonly string[], nowMs: number): string | null {
  const query = Query.safeParse(request.query);
  const token = request.header('x-faultline-token') ?? (query.success ? query.data.token : undefined);
  const signature = request.header('x-faultline-signature');
  if (signature !== undefined || token === undefined) return checkSigned(request, signature, secrets, nowMs);
  if (!matchesAny(token, secrets)) throw refused(`The token does not match any configured secret (${SECRET}).`);
  return null;
}

/** `sha256=` and the HMAC-SHA256 over `<id>.<timestamp>.<raw body>` in hexadecimal, as Standard Webhooks sign. */
function checkSigned(request: WebhookRequest, signature: string | undefined, secrets: readonly string[], nowMs: number): string {
  const id = request.header('x-faultline-id');
  const timestamp = request.header('x-faultline-timestamp');
  if (id === undefined || timestamp === undefined || signature === undefined)
    throw refused('A signed delivery needs the headers X-Faultline-Id, X-Faultline-Timestamp and X-Faultline-Signature.');
  if (id.length > 200 || !/^\d{1,12}$/.test(timestamp))
    throw refused('X-Faultline-Timestamp must be Unix time in seconds, and X-Faultline-Id at most 200 characters.');
  const expected = secrets.map((secret) => `sha256=${hmacOf(secret, `${id}.${timestamp}.`, request.body)}`);
  if (!matchesAny(signature, expected))
    throw refused('X-Faultline-Signature does not match the body, ID and timestamp with any configured secret.');
  requireRecent('X-Faultline-Timestamp', timestamp, nowMs);
  return id;
}
