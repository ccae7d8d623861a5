import { createHmac, timingSafeEqual } from 'node:crypto';
import { TriageError } from '../domain/errors.ts';

/** How far a request's time may be from ours, in seconds: what Slack recommends. */
const TOLERANCE_SECONDS = 300;

/**
 * Checks Slack's `X-Slack-Signature`: `v0=` and the HMAC-SHA256 over `v0:<timestamp>:<raw body>`, in hexadecimal; any of the secrets may
 * have signed. Throws `unauthenticated` for a signature or a time that does not fit, `forbidden` without secrets: nobody uses Slack here.
 */
export function checkSlackSignature(
  body: Buffer,
  { timestamp, signature }: { readonly timestamp: string | undefined; readonly signature: string | undefined },
  secrets: readonly string[],
  nowMs: number,
): void {
  if (timestamp === undefined || signature === undefined)
    throw refused('The request is not signed: X-Slack-Signature and X-Slack-Request-Timestamp are needed.');
  if (secrets.length === 0) {
    throw new TriageError(
      'forbidden',
      'Slack buttons are not accepted yet: no secret is configured. Set FAULTLINE_SLACK_SIGNING_SECRET and restart.',
    );
  }
  if (!/^\d{1,12}$/.test(timestamp) || !/^v0=[0-9a-f]{64}$/.test(signature))
    throw refused('X-Slack-Signature must be v0=<64 hexadecimal digits>, and X-Slack-Request-Timestamp Unix time in seconds.');
  const given = Buffer.from(signature);
  const matches = secrets.map((secret) => timingSafeEqual(given, Buffer.from(signatureOf(secret, timestamp, body))));
  if (!matches.includes(true)) throw refused("X-Slack-Signature does not match any configured secret. Is it the app's signing secret?");
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    throw refused(`X-Slack-Request-Timestamp is more than ${TOLERANCE_SECONDS / 60} minutes from the server's time.`);
}

function signatureOf(secret: string, timestamp: string, body: Buffer): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')}`;
}

function refused(message: string): TriageError {
  return new TriageError('unauthenticated', message);
}
