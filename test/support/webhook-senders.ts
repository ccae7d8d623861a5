import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import type { WebhookDefinition } from '@octokit/webhooks-examples';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { GITHUB_SECRETS, JENKINS_SECRETS } from './http-deps.ts';

// The package's main file is JSON, which Node cannot import by name.
const examples: readonly WebhookDefinition[] = createRequire(import.meta.url)('@octokit/webhooks-examples');

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns a payload from GitHub's documentation with changes such as `{ workflow_run: { conclusion: 'failure'
 * } }`.
 */
export function createGithubExample(
  event: string,
  action: string,
  changes: Readonly<Record<string, Json>> = {},
  index = 0,
): Json {
  const found = examples
    .find((example) => example.name === event)
    ?.examples.filter((example) => 'action' in example && example.action === action)[index];
  if (found === undefined) throw new Error(`no example of ${event} ${action}`);
  const payload: Record<string, unknown> = structuredClone({ ...found });
  for (const [part, fields] of Object.entries(changes))
    payload[part] = Object.assign({}, payload[part], fields);
  return payload;
}

export interface GithubSending {
  readonly event: string;
  readonly payload: unknown;
  readonly delivery?: string;
  readonly secret?: string;
  /** Headers to replace, or to remove (undefined). */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export function signForGithub(body: string | Buffer, secret: string = GITHUB_SECRETS[0]): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Sends a delivery as GitHub does, with a signature of the sent bytes. */
export async function sendGithub(
  app: FastifyInstance,
  sending: GithubSending,
): Promise<LightMyRequestResponse> {
  const body =
    typeof sending.payload === 'string' || Buffer.isBuffer(sending.payload)
      ? sending.payload
      : JSON.stringify(sending.payload);
  const headers = {
    'content-type': 'application/json',
    'x-github-event': sending.event,
    'x-github-delivery': sending.delivery ?? 'd1a7c4f0-0000-4000-8000-000000000001',
    'x-hub-signature-256': signForGithub(body, sending.secret),
    ...sending.headers,
  };
  const present = Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return app.inject({ method: 'POST', url: '/webhooks/github', headers: present, payload: body });
}

/** Returns the headers of a signed delivery to the Jenkins webhook. */
export function createSignedHeadersFor(
  body: string,
  nowMs: number,
  id = 'evt-1',
  secret: string = JENKINS_SECRETS[0],
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('hex');
  return {
    'content-type': 'application/json',
    'x-faultline-id': id,
    'x-faultline-timestamp': timestamp,
    'x-faultline-signature': `sha256=${signature}`,
  };
}
