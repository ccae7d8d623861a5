import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type BuildStatus, type CiSystem, NewBuild, TestResult } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import type { Deployment } from '../domain/health.ts';
import { parseJson } from './read-input.ts';

/** The content of a webhook's event in our own format, which is stored and from which a build is created. */
export const Intake = z.object({
  build: NewBuild,
  /** The part of the build that is reported as failed. If absent, the whole build is meant. */
  part: z.string().optional(),
  /**
   * True if the event does not say which attempt of the run it belongs to. The newest known attempt is then
   * used.
   */
  attemptUnknown: z.boolean().optional(),
  /**
   * The time that decides the attempt, in ISO 8601 and UTC. It is set if a run keeps its id when it is run
   * again and the event has no attempt number. The event belongs to a new attempt if this time is after the
   * end of the newest known one.
   */
  attemptAt: z.string().nullable().optional(),
  /**
   * True if the event is for a branch of a fork. A build that passes there says nothing about our branch of
   * that name. Absent if this is not known.
   */
  fromFork: z.boolean().optional(),
  /** True if the CI may know more of the build than its event says, such as its repository. */
  incomplete: z.boolean().optional(),
  /** The default branch of the repository, if the event names it. */
  defaultBranch: z.string().nullable().optional(),
  /** The masked end of the build's log, if the event contains it. */
  log: z.string().nullable().optional(),
  /** The results of the tests that the event names. */
  testResults: z.array(TestResult).readonly().optional(),
  /** The W3C traceparent of the request, if the sender uses tracing. */
  traceparent: z.string().nullable().optional(),
});
export type Intake = z.infer<typeof Intake>;

/** The result of a delivery: ignored, with the reason and possibly a deployment, or the data of a build. */
export type WebhookContent = { readonly ignored: string; readonly deployment?: Deployment } | Intake;

/** Reads an event that reports the result of a deployment. */
export function readDeployment(status: string, deployment: Deployment): WebhookContent {
  if (status !== 'success')
    return { ignored: `the deployment is ${status.slice(0, 100)}: only successful ones are kept` };
  return {
    ignored: 'the deployment is kept as a mark beside the figures of its repository; nothing to triage',
    deployment,
  };
}

/**
 * Returns the status for the conclusion of an Actions run, on GitHub or a compatible host; null if it neither
 * failed nor passed.
 */
export function toBuildStatus(conclusion: string | null | undefined): BuildStatus | null {
  if (conclusion === 'failure' || conclusion === 'timed_out' || conclusion === 'startup_failure')
    return 'failed';
  return conclusion === 'success' ? 'passed' : null;
}

/** Returns the reason to ignore an event whose build neither failed nor passed. */
export function ignoreUndecided(what: string, conclusion: string | null | undefined): WebhookContent {
  return {
    ignored: `the ${what} ended as ${(conclusion ?? 'nothing').slice(0, 100)}: neither failed nor passed`,
  };
}

/**
 * Returns the reason to ignore the event of a part that did not fail. One passed job does not mean that the
 * build passed.
 */
export function ignoreUnlessFailed(part: string, conclusion: string | null | undefined): WebhookContent {
  const ended = (conclusion ?? 'nothing').slice(0, 100);
  return {
    ignored:
      `the ${part} ended as ${ended}: only failed ones are read; ` +
      "the run's own event reports how the build ended",
  };
}

/** A request as received. Nothing is parsed before its signature is checked. */
export interface WebhookRequest {
  /** Returns a header that occurs once. The name is in lower case. */
  header(name: string): string | undefined;
  readonly query: unknown;
  readonly body: Buffer;
}

/** A delivery whose sender is authenticated. */
export interface Received {
  readonly event: string;
  /** The sender's own id for the delivery. If null, the hash of the body takes its place. */
  readonly deliveryId: string | null;
  /**
   * True if the id is signed and may be used only once. Receiving the same delivery again is then a conflict.
   */
  readonly once?: boolean;
  readonly reading: WebhookContent;
}

/** A header or parameter by which senders authenticate, as in OpenAPI. */
export interface SecurityScheme {
  readonly name: string;
  readonly in: 'header' | 'query';
  readonly description: string;
}

/** The webhook of one provider. */
export interface Webhook {
  readonly path: `/webhooks/${string}`;
  /**
   * The secrets, any of which may sign. Two are valid during rotation. If there are none, the route answers
   * 503 with the reason.
   */
  readonly secrets: readonly string[];
  /** The accepted media types. */
  readonly accepts: readonly string[];
  /** The data for the OpenAPI description. */
  readonly describes: {
    readonly operationId: string;
    readonly summary: string;
    readonly description: string;
    readonly headers: z.ZodType;
    /** The schemas of the body by media type. */
    readonly bodies: Readonly<Record<string, z.ZodType>>;
    /** The security schemes by their own name; a sender chooses one of them. */
    readonly security: Readonly<Record<string, SecurityScheme>>;
  };
  /**
   * Authenticates the sender, and then reads the delivery. Throws `unauthenticated`, `invalid-config` without
   * secrets, and `invalid-input` for an incomplete event.
   */
  receive(request: WebhookRequest, nowMs: number): Received;
}

/** The webhook of one provider: how its deliveries are described, authenticated, and read. */
export interface Sender extends Omit<Webhook['describes'], 'operationId' | 'bodies'> {
  readonly name: CiSystem;
  /** The display name: "GitHub". */
  readonly label: string;
  /** The variable of the secrets. */
  readonly setting: string;
  /**
   * True if the JSON may be in a form field. GitHub, Gitea and Forgejo send a form unless "application/json"
   * is selected.
   */
  readonly inForm?: true;
  readonly body: z.ZodType;
  /** Authenticates the sender. Throws `unauthenticated`. */
  authenticate(request: WebhookRequest, secrets: readonly string[], nowMs: number): void;
  /** Reads the JSON of an authenticated delivery. Throws `invalid-input` for an incomplete event. */
  read(payload: unknown, request: WebhookRequest, nowMs: number): Received;
}

const FORM = 'application/x-www-form-urlencoded';
const FormBody = z.object({ payload: z.string().describe('The JSON of the event.') });

/**
 * Creates the webhook `POST /webhooks/NAME` with these secrets. Nothing is parsed before the sender is
 * authenticated.
 */
export function createWebhook(sender: Sender): (secrets: readonly string[]) => Webhook {
  const {
    name,
    label,
    setting,
    inForm = false,
    authenticate,
    read,
    body,
    summary,
    description,
    headers,
    security,
  } = sender;
  const operationId = `receive${name.charAt(0).toUpperCase()}${name.slice(1)}Webhook`;
  const bodies = { 'application/json': body, ...(inForm && { [FORM]: FormBody }) };
  return (secrets) => ({
    path: `/webhooks/${name}`,
    secrets,
    accepts: Object.keys(bodies),
    describes: { operationId, summary, description, headers, bodies, security },
    receive: (request, nowMs) => {
      requireSecrets(secrets, label, setting);
      authenticate(request, secrets, nowMs);
      return read(
        parseJson('The body', inForm ? readBodyText(request) : request.body.toString('utf8')),
        request,
        nowMs,
      );
    },
  });
}

/** Returns the JSON of a body. A form contains it in one field; the signature covers the form as sent. */
function readBodyText({ header, body }: WebhookRequest): string {
  const text = body.toString('utf8');
  return header('content-type')?.startsWith(FORM) === true
    ? (new URLSearchParams(text).get('payload') ?? '')
    : text;
}

/** Returns a required header. Throws `invalid-input` if it is missing. */
export function readRequiredHeader(request: WebhookRequest, name: string): string {
  const value = request.header(name.toLowerCase());
  if (value === undefined || value === '' || value.length > 200)
    throw new TriageError('invalid-input', `The header ${name} is missing or longer than 200 characters.`);
  return value;
}

/** Reads the password of HTTP Basic authentication. Returns undefined if the request has none. */
export function readBasicPassword(request: WebhookRequest): string | undefined {
  const basic = /^Basic ([A-Za-z0-9+/=]{1,2000})$/i.exec(request.header('authorization') ?? '')?.[1];
  const login = basic === undefined ? '' : Buffer.from(basic, 'base64').toString('utf8');
  return login.includes(':') ? login.slice(login.indexOf(':') + 1) : undefined;
}

/**
 * Computes the HMAC-SHA256 of the parts, in hexadecimal. Bytes are measurably cheaper than the text that they
 * encode.
 */
export function computeHmac(secret: string, ...parts: readonly (string | Buffer)[]): string {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
}

/**
 * Checks whether any of the secrets signed the body. An empty body never counts as signed. `signature`
 * consists of 64 hexadecimal digits.
 */
export function isSigned(body: Buffer, signature: string, secrets: readonly string[]): boolean {
  const given = Buffer.from(signature);
  const matches =
    body.length === 0
      ? []
      : secrets.map((secret) => timingSafeEqual(given, Buffer.from(computeHmac(secret, body))));
  return matches.includes(true);
}

/** Compares a value with every candidate in constant time, by digests of equal length. */
export function matchesAny(given: string, candidates: readonly string[]): boolean {
  const digest = hashSha256(given);
  return candidates.map((candidate) => timingSafeEqual(digest, hashSha256(candidate))).includes(true);
}

function hashSha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * The largest difference between a signed delivery's time and ours, in seconds, as Standard Webhooks
 * recommends.
 */
const TOLERANCE_SECONDS = 300;

/**
 * Refuses a delivery whose signed time is too far in the past or the future. `header` names the header that
 * contained the time, in Unix seconds.
 */
export function requireRecent(header: string, timestamp: string, nowMs: number): void {
  if (Math.abs(nowMs / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS) return;
  const minutes = TOLERANCE_SECONDS / 60;
  throw createRefusedError(
    `${header} is more than ${minutes} minutes from the server's time. ` +
      "Check the sender's clock, and sign each attempt again.",
  );
}

export function createRefusedError(message: string): TriageError {
  return new TriageError('unauthenticated', message);
}

/** Throws `invalid-config` if no secret is configured, because no sender can be authenticated then. */
function requireSecrets(secrets: readonly string[], sender: string, setting: string): void {
  if (secrets.length > 0) return;
  throw new TriageError(
    'invalid-config',
    `Webhooks from ${sender} are not accepted yet: no secret is configured. Set ${setting} and restart.`,
  );
}
