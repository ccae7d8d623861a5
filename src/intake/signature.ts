import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { TriageError } from '../domain/errors.ts';

/** How far a signed delivery's time may be from ours, in seconds: what Standard Webhooks recommends. */
const TOLERANCE_SECONDS = 300;

/** What a sender signs, besides the body. */
export interface SignedHeaders {
  readonly id: string | undefined;
  /** Unix time in seconds. */
  readonly timestamp: string | undefined;
  /** `sha256=` and 64 hexadecimal digits. */
  readonly signature: string | undefined;
}

/** Checks GitHub's `X-Hub-Signature-256` over the raw body; any of the secrets may have signed. Throws `unauthenticated` or `invalid-config`. */
export function checkGithubSignature(body: Buffer, signature: string | undefined, secrets: readonly string[]): void {
  if (secrets.length === 0) throw noSecrets('GitHub', 'FAULTLINE_GITHUB_WEBHOOK_SECRET');
  if (signature === undefined)
    throw refused('The delivery is not signed: X-Hub-Signature-256 is missing. Set a secret for the webhook in GitHub.');
  if (!/^sha256=[0-9a-f]{64}$/.test(signature)) throw refused('X-Hub-Signature-256 must have the form sha256=<64 hexadecimal digits>.');
  const given = Buffer.from(signature);
  // Nobody signs nothing.
  const matches = body.length === 0 ? [] : secrets.map((secret) => timingSafeEqual(given, Buffer.from(signatureOf(secret, body))));
  if (!matches.includes(true))
    throw refused('The signature does not match any configured secret. Is the secret in GitHub the same as the one configured here?');
}

/**
 * Checks `X-Faultline-Signature`: HMAC-SHA256 over `<id>.<timestamp>.<raw body>`, as Standard Webhooks sign, in
 * hexadecimal. Throws `unauthenticated` for a signature or a time that does not fit, `invalid-config` without secrets.
 */
export function checkSigned(body: Buffer, headers: SignedHeaders, secrets: readonly string[], nowMs: number): { readonly id: string } {
  if (secrets.length === 0) throw noSecrets('Jenkins', 'FAULTLINE_JENKINS_WEBHOOK_SECRET');
  const { id, timestamp, signature } = headers;
  if (id === undefined || timestamp === undefined || signature === undefined) {
    throw refused('A signed delivery needs the headers X-Faultline-Id, X-Faultline-Timestamp and X-Faultline-Signature.');
  }
  if (id.length > 200 || !/^\d{1,12}$/.test(timestamp)) {
    throw refused('X-Faultline-Timestamp must be Unix time in seconds, and X-Faultline-Id at most 200 characters.');
  }
  const expected = secrets.map(
    (secret) => `sha256=${createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('hex')}`,
  );
  if (!matchesAny(signature, expected))
    throw refused('X-Faultline-Signature does not match the body, ID and timestamp with any configured secret.');
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw refused(
      `X-Faultline-Timestamp is more than ${TOLERANCE_SECONDS / 60} minutes from the server's time. Check the sender's clock, and sign each attempt again.`,
    );
  }
  return { id };
}

/** As GitHub writes it; over the bytes, which is measurably cheaper than over the text that they spell. */
function signatureOf(secret: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Checks a secret that is sent as it is, for senders that cannot sign. */
export function checkToken(token: string, secrets: readonly string[]): void {
  if (secrets.length === 0) throw noSecrets('Jenkins', 'FAULTLINE_JENKINS_WEBHOOK_SECRET');
  if (!matchesAny(token, secrets)) throw refused('The token does not match any configured secret (FAULTLINE_JENKINS_WEBHOOK_SECRET).');
}

/** Compares with every candidate in constant time; digests make the lengths equal. */
function matchesAny(given: string, candidates: readonly string[]): boolean {
  const digest = sha256(given);
  return candidates.map((candidate) => timingSafeEqual(digest, sha256(candidate))).includes(true);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function refused(message: string): TriageError {
  return new TriageError('unauthenticated', message);
}

function noSecrets(sender: string, setting: string): TriageError {
  return new TriageError(
    'invalid-config',
    `Webhooks from ${sender} are not accepted yet: no secret is configured. Set ${setting} and restart.`,
  );
}
