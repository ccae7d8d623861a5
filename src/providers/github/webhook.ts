import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { parseJson } from '../read-input.ts';
import { bodyText, FORM, isSigned, refused, requiredHeader, requireSecrets, type Webhook, type WebhookRequest } from '../webhook.ts';
import { CheckRunEvent, readGithubEvent, WorkflowJobEvent, WorkflowRunEvent } from './events.ts';

/** `POST /webhooks/github`: signed over the raw body. */
export function githubWebhook(secrets: readonly string[]): Webhook {
  return {
    path: '/webhooks/github',
    secrets,
    accepts: ['application/json', FORM],
    describes: {
      operationId: 'receiveGithubWebhook',
      summary: 'GitHub webhook',
      description:
        'Subscribe it to "Workflow runs". "Workflow jobs" and "Check runs" are optional: with them, the first failed job is analyzed while the run continues, and later failures are added. All events of one run belong to one build. Failed builds are fetched and triaged, passed builds are stored for history, and everything else is acknowledged and ignored with a reason.',
      headers: z.object({
        'x-github-event': z.string().describe('workflow_run, workflow_job or check_run; others are acknowledged and ignored.'),
        'x-github-delivery': z.string().describe('Delivery ID. A second delivery with the same ID has no effect.'),
      }),
      bodies: {
        'application/json': z.union([WorkflowRunEvent, WorkflowJobEvent, CheckRunEvent]),
        [FORM]: z.object({ payload: z.string().describe('The JSON of the event.') }),
      },
      security: {
        githubSignature: {
          in: 'header',
          name: 'X-Hub-Signature-256',
          description: '`sha256=` and the HMAC-SHA256 of the raw body, in hexadecimal.',
        },
      },
    },
    receive: (request) => {
      checkSignature(request, secrets);
      if (request.header('x-gitea-event') !== undefined || request.header('x-forgejo-event') !== undefined) throw fromGitea();
      const event = requiredHeader(request, 'X-GitHub-Event');
      const deliveryId = requiredHeader(request, 'X-GitHub-Delivery');
      return { event, deliveryId, reading: readGithubEvent(event, parseJson('The body', bodyText(request))) };
    },
  };
}

function checkSignature(request: WebhookRequest, secrets: readonly string[]): void {
  requireSecrets(secrets, 'GitHub', 'FAULTLINE_GITHUB_WEBHOOK_SECRET');
  const signature = request.header('x-hub-signature-256');
  if (signature === undefined)
    throw refused('The delivery is not signed: X-Hub-Signature-256 is missing. Set a secret for the webhook in GitHub.');
  if (!/^sha256=[0-9a-f]{64}$/.test(signature)) throw refused('X-Hub-Signature-256 must have the form sha256=<64 hexadecimal digits>.');
  if (!isSigned(request.body, signature.slice('sha256='.length), secrets))
    throw refused('The signature does not match any configured secret. Is the secret in GitHub the same as the one configured here?');
}

/** They sign as GitHub does and send its headers too, but their logs are read elsewhere. */
function fromGitea(): TriageError {
  return new TriageError(
    'invalid-input',
    'This delivery comes from Gitea or Forgejo. Change the webhook to /webhooks/gitea, with the secret in FAULTLINE_GITEA_WEBHOOK_SECRET.',
  );
}
