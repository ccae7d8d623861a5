import { createHmac, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { RIGHT_BUTTON, WRONG_BUTTON } from '../channels/slack/message.ts';
import type { SlackButtons } from '../channels/slack.ts';
import { TriageError } from '../domain/errors.ts';
import { parseJson } from '../lib/text.ts';
import type { Clock } from '../lib/time.ts';
import type { Logger } from '../ports/telemetry.ts';
import { getRawBody, readHeader } from './webhook-route.ts';

interface SlackWebhookDeps {
  /** The settings of the Slack buttons. If they are absent, every request is refused. */
  readonly slack?: SlackButtons | undefined;
  /** Stores the decision and returns the reply to the user, escaped for Slack. Never throws. */
  readonly decide: (press: SlackPress, reviewers: readonly string[]) => Promise<string>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The time limit for the response to Slack, in milliseconds. Slack reports a failure after 3 s; longer work
 * continues after the response.
 */
const ACK_MS = 2_000;
const REPLY_MS = 5_000;
const MAX_BODY_BYTES = 1024 * 1024;
const FORM = 'application/x-www-form-urlencoded';

/**
 * Registers `POST /webhooks/slack` for the buttons of our messages. The signature is checked first, each
 * press counts once, and Slack gets its 200 within 2 s.
 */
export function registerSlackWebhook(app: FastifyInstance, deps: SlackWebhookDeps): void {
  const running = new Set<Promise<void>>();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    [FORM, 'application/json'],
    { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES },
    (_request, body, done) => done(null, body),
  );
  app.addHook('onClose', async () => void (await Promise.allSettled(running)));
  app.post(
    '/webhooks/slack',
    {
      config: { access: { signature: 'slack' }, rateLimit: false },
      // The schema is only documented here. The handler checks the body after the signature.
      validatorCompiler: () => (value) => ({ value }),
      schema: {
        tags: ['Intake'],
        operationId: 'receiveSlackPress',
        summary: 'Slack buttons',
        description:
          'Set this as the "Request URL" of the app\'s interactivity. ' +
          'Right accepts the answer in the message, Wrong rejects it. ' +
          'Only people listed in FAULTLINE_SLACK_REVIEWERS may use them.',
        headers: z.object({ 'x-slack-request-timestamp': z.string().describe('Unix time in seconds.') }),
        body: {
          content: {
            [FORM]: { schema: z.object({ payload: z.string().describe('The interaction, as JSON.') }) },
          },
        },
        response: { 200: z.null().describe('Accepted; the result is posted in Slack') },
      },
    },
    async (request, reply) => {
      const { slack } = deps;
      const body = getRawBody(request);
      const signed = {
        timestamp: readHeader(request, 'x-slack-request-timestamp'),
        signature: readHeader(request, 'x-slack-signature'),
      };
      checkSlackSignature(body, signed, slack?.secrets ?? [], deps.clock.now());
      const press = readSlackPress(body);
      if (slack === undefined || press === null) return reply.code(200).send(null);
      if (!(await slack.presses.isNew(press.id))) {
        deps.logger.warn(
          { press: press.id, user: press.user },
          'a repeated button press in Slack was ignored',
        );
        return reply.code(200).send(null);
      }
      const work = answer(press, slack, deps).finally(() => running.delete(work));
      running.add(work);
      await Promise.race([work, sleep(ACK_MS, undefined, { ref: false })]);
      return reply.code(200).send(null);
    },
  );
}

async function answer(
  press: SlackPress,
  { reviewers, client }: SlackButtons,
  { decide, logger }: SlackWebhookDeps,
): Promise<void> {
  const answer = await decide(press, reviewers);
  await client.postEphemeral(press, answer, AbortSignal.timeout(REPLY_MS)).catch((error: unknown) => {
    logger.warn({ user: press.user, error }, 'the reply to a button press in Slack could not be sent');
  });
}

/** A press of a button that decides: who pressed it, and where. */
interface SlackPress {
  /** Slack's id of the press. */
  readonly id: string;
  readonly type: 'accept' | 'reject';
  readonly analysisId: string;
  /** Slack's id of the person. */
  readonly user: string;
  /** The name that Slack shows for the person, who may change it. */
  readonly userName: string | null;
  readonly channel: string;
}

/** The fields of Slack's `block_actions` that we use. */
const Payload = z.object({
  type: z.string(),
  trigger_id: z.string().min(1).max(200).optional(),
  user: z.object({ id: z.string().regex(/^[A-Z0-9]{1,40}$/), username: z.string().optional() }).optional(),
  container: z.object({ channel_id: z.string().min(1).max(100).optional() }).optional(),
  actions: z.array(z.object({ action_id: z.string(), value: z.string().max(2000).optional() })).default([]),
});

const TYPES: Readonly<Record<string, SlackPress['type']>> = {
  [RIGHT_BUTTON]: 'accept',
  [WRONG_BUTTON]: 'reject',
};

/**
 * Reads a signed Slack request. Returns null if it contains no decision, as for a button that only opens a
 * URL. Throws `invalid-input` if it is not a Slack interaction.
 */
export function readSlackPress(body: Buffer): SlackPress | null {
  const { type, trigger_id: id, user, container, actions } = parsePayload(body);
  const [action] = actions;
  const decision = action === undefined ? undefined : TYPES[action.action_id];
  const channel = container?.channel_id;
  if (type !== 'block_actions' || decision === undefined || action?.value === undefined || !action.value)
    return null;
  if (id === undefined || user === undefined || channel === undefined)
    throw new TriageError('invalid-input', 'A button press needs its trigger_id, user and channel.');
  return {
    id,
    type: decision,
    analysisId: action.value,
    user: user.id,
    userName: toPlainName(user.username),
    channel,
  };
}

function parsePayload(body: Buffer): z.infer<typeof Payload> {
  const text = new URLSearchParams(body.toString('utf8')).get('payload');
  const read = Payload.safeParse(parseJson(text ?? ''));
  if (read.success) return read.data;
  const message = "The body is not a Slack interaction: send a form with Slack's JSON in `payload`.";
  throw new TriageError('invalid-input', message, { cause: read.error });
}

function toPlainName(name: string | undefined): string | null {
  return name !== undefined && /^[\w.-]{1,80}$/.test(name) ? name : null;
}

/**
 * The maximum difference between the time of a request and the time here, in seconds, as Slack recommends.
 */
const TOLERANCE_SECONDS = 300;

/**
 * Checks Slack's `X-Slack-Signature`: `v0=` and the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, in
 * hexadecimal. The signature may be made with any of the secrets. Throws `unauthenticated` if the signature
 * or the time does not match, and `forbidden` if no secrets are configured, because Slack is not used then.
 */
function checkSlackSignature(
  body: Buffer,
  {
    timestamp,
    signature,
  }: { readonly timestamp: string | undefined; readonly signature: string | undefined },
  secrets: readonly string[],
  nowMs: number,
): void {
  if (timestamp === undefined || signature === undefined)
    throw createRefusedError(
      'The request is not signed: X-Slack-Signature and X-Slack-Request-Timestamp are needed.',
    );
  if (secrets.length === 0) {
    throw new TriageError(
      'forbidden',
      'Slack buttons are not accepted yet: no secret is configured. ' +
        'Set FAULTLINE_SLACK_SIGNING_SECRET and restart.',
    );
  }
  if (!/^\d{1,12}$/.test(timestamp) || !/^v0=[0-9a-f]{64}$/.test(signature))
    throw createRefusedError(
      'X-Slack-Signature must be v0=<64 hexadecimal digits>, and X-Slack-Request-Timestamp Unix time ' +
        'in seconds.',
    );
  const given = Buffer.from(signature);
  const matches = secrets.map((secret) =>
    timingSafeEqual(given, Buffer.from(computeSignature(secret, timestamp, body))),
  );
  if (!matches.includes(true))
    throw createRefusedError(
      "X-Slack-Signature does not match any configured secret. Is it the app's signing secret?",
    );
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    throw createRefusedError(
      `X-Slack-Request-Timestamp is more than ${TOLERANCE_SECONDS / 60} minutes from the server's time.`,
    );
}

function computeSignature(secret: string, timestamp: string, body: Buffer): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')}`;
}

function createRefusedError(message: string): TriageError {
  return new TriageError('unauthenticated', message);
}
