import { createHmac } from 'node:crypto';

/** How a secret of Standard Webhooks looks: a prefix and 24 to 64 random bytes. */
const PREFIX = 'whsec_';

/**
 * The headers of Standard Webhooks (standardwebhooks.com, version 1): an id that stays the same in every try, the time in seconds, and a
 * signature by each secret, so that one can be rotated.
 */
export function signedHeaders(key: string, body: string, secrets: readonly string[], now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const signatures = secrets.map((secret) => {
    const bytes = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', bytes).update(`${key}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': key, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
