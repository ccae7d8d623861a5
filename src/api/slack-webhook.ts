import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../lib/time.ts';
import type { SlackButtons } from '../ports/chat-room.ts';
import type { Logger } from '../ports/telemetry.ts';
import { readSlackPress, type SlackPress } from './slack-press.ts';
import { checkSlackSignature } from './slack-signature.ts';
import { headerOf, rawBody } from './webhook-route.ts';

export interface SlackWebhookDeps {
  /** Absent: Slack is not used, and every request is refused. */
  readonly slack?: SlackButtons | undefined;
  /** Stores the decision; what the person who pressed is told, escaped for Slack. Never throws. */
  readonly decide: (press: SlackPress, reviewers: readonly string[]) => Promise<string>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Slack gives up after 3 s and tells the person that it failed; what takes longer goes on without it. */
const ACK_MS = 2_000;
const WHISPER_MS = 5_000;
const MAX_BODY_BYTES = 1024 * 1024;
const FORM = 'application/x-www-form-urlencoded';

/** `POST /webhooks/slack`: buttons of our messages. The signature comes first; each press counts once; Slack has its 200 within 2 s. */
export function registerSlackWebhook(app: FastifyInstance, deps: SlackWebhookDeps): void {
  const running = new Set<Promise<void>>();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser([FORM, 'application/json'], { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) =>
    done(null, body),
  );
  app.addHook('onClose', async () => void (await Promise.allSettled(running)));
  app.post(
    '/webhooks/slack',
    {
      config: { access: { signature: 'slack' }, rateLimit: false },
      // Documented here, checked in the handler: the signature comes first.
      validatorCompiler: () => (value) => ({ value }),
      schema: {
        tags: ['Intake'],
        operationId: 'receiveSlackPress',
        summary: 'Slack buttons',
        description:
          'Set this as the "Request URL" of the app\'s interactivity. Right accepts the answer in the message, Wrong rejects it. Only people listed in FAULTLINE_SLACK_REVIEWERS may use them.',
        headers: z.object({ 'x-slack-request-timestamp': z.string().describe('Unix time in seconds.') }),
        body: { content: { [FORM]: { schema: z.object({ payload: z.string().describe('The interaction, as JSON.') }) } } },
        response: { 200: z.null().describe('Accepted; the result is posted in Slack') },
      },
    },
    async (request, reply) => {
      const { slack } = deps;
      const body = rawBody(request);
      const signed = { timestamp: headerOf(request, 'x-slack-request-timestamp'), signature: headerOf(request, 'x-slack-signature') };
      checkSlackSignature(body, signed, slack?.secrets ?? [], deps.clock.now());
      const press = readSlackPress(body);
      if (slack === undefined || press === null) return reply.code(200).send(null);
      if (!(await slack.presses.isNew(press.id))) {
        deps.logger.warn({ press: press.id, user: press.user }, 'a press in Slack came again and was left alone');
        return reply.code(200).send(null);
      }
      const work = answer(press, slack, deps).finally(() => running.delete(work));
      running.add(work);
      await Promise.race([work, sleep(ACK_MS, undefined, { ref: false })]);
      return reply.code(200).send(null);
    },
  );
}

async function answer(press: SlackPress, { reviewers, room }: SlackButtons, { decide, logger }: SlackWebhookDeps): Promise<void> {
  const told = await decide(press, reviewers);
  await room.whisper(press, told, AbortSignal.timeout(WHISPER_MS)).catch((error: unknown) => {
    logger.warn({ user: press.user, error }, 'a person could not be told what came of a press in Slack');
  });
}
