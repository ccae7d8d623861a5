import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TriageError } from '../domain/errors.ts';
import { toStorable } from '../lib/text.ts';
import type { Provider } from '../providers/provider.ts';
import { hashSha256 } from '../providers/read-input.ts';
import type { Intake } from '../providers/webhook.ts';
import { createUsedBeforeError, type Delivery, type IntakeDeps } from '../service/intake/record-build.ts';
import type { KeptDelivery } from '../stores/deliveries.ts';
import { buildDeliveryLinks, type DeliveryAccepted, WebhookAnswer } from './answers.ts';
import { keepDeployment } from './deployment-routes.ts';

/**
 * The maximum size of a webhook body, which is GitHub's own maximum. Unauthenticated senders can make the
 * server hold this much, so the upload limit does not apply.
 */
const MAX_WEBHOOK_BYTES = 25 * 1024 * 1024;
/**
 * The maximum number of characters that are kept of a log in an event. It stays in the database until the
 * build is recorded.
 */
const MAX_LOG = 256 * 1024;

/**
 * Registers the webhook route of a provider: checks the signature over the raw body, stores the delivery
 * durably, and answers 202.
 */
export function registerWebhook(
  app: FastifyInstance,
  { name: source, webhook }: Provider,
  deps: IntakeDeps,
): void {
  const { path, accepts, describes } = webhook;
  const { bodies, security, ...described } = describes;
  keepRawBodies(app, accepts);
  app.post(
    path,
    {
      // If a webhook is refused, its build is lost, because few senders try again. Forged requests are
      // limited where they are refused.
      config: { access: { signature: source }, rateLimit: false },
      // The schema is only documented here. The handler checks the body after the signature.
      validatorCompiler: () => (value) => ({ value }),
      schema: {
        tags: ['Intake'],
        ...described,
        body: {
          content: Object.fromEntries(Object.entries(bodies).map(([type, schema]) => [type, { schema }])),
        },
        response: { 202: WebhookAnswer },
      },
    },
    async (request, reply) => {
      const body = getRawBody(request);
      const header = (name: string) => readHeader(request, name);
      const { event, deliveryId, once, reading } = webhook.receive(
        { header, query: request.query, body },
        deps.clock.now(),
      );
      reply.status(202);
      if ('ignored' in reading) {
        if (reading.deployment !== undefined) await keepDeployment(deps, reading.deployment);
        deps.logger.info({ source, event, deliveryId, reason: reading.ignored }, 'delivery ignored');
        return { ignored: reading.ignored };
      }
      const bodySha256 = hashSha256(body);
      const delivery: Delivery = { source, deliveryId: deliveryId ?? bodySha256, event, bodySha256 };
      const { answer, repeated } = await acceptDelivery(deps, delivery, {
        ...reading,
        ...(await cutLogEnd(reading, deps)),
      });
      if (repeated && once === true) throw createReplayedError(delivery.deliveryId, answer.links.delivery);
      return answer;
    },
  );
}

/**
 * Keeps bodies of these types as the signed bytes in this scope. Nothing is parsed before the signature is
 * checked.
 */
function keepRawBodies(scope: FastifyInstance, types: readonly string[]): void {
  const bodyLimit = Math.min(scope.initialConfig.bodyLimit ?? MAX_WEBHOOK_BYTES, MAX_WEBHOOK_BYTES);
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser([...types], { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
    done(null, body),
  );
}

export function getRawBody(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

/** Returns the value of a header that occurs once, otherwise undefined. */
export function readHeader(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Masks the end of the log before it is cut, so that no part of a secret remains. */
async function cutLogEnd(
  { log }: Intake,
  { masker }: Pick<IntakeDeps, 'masker'>,
): Promise<Pick<Intake, 'log'>> {
  if (log == null || log.trim() === '') return { log: null };
  return { log: toStorable((await masker.mask(log)).text.slice(-MAX_LOG)) };
}

/**
 * Stores a webhook's delivery in one statement, and hands it to the processor. A delivery that was stored
 * before changes nothing, except that a delivery that was set aside is tried again, and is `repeated`. A
 * delivery with the same id and another body is a `conflict`.
 */
async function acceptDelivery(deps: IntakeDeps, delivery: Delivery, intake: Intake) {
  const { source, deliveryId } = delivery;
  const traceparent = deps.tracer?.traceparent() ?? null;
  const inbox = { ...delivery, intake: traceparent === null ? intake : { ...intake, traceparent } };
  const { before } = await deps.inbox.store(inbox);
  deps.metrics?.count('faultline_deliveries_total', {
    source,
    outcome: before === null ? 'kept' : 'repeated',
  });
  if (before === null) deps.processor.add({ source, deliveryId });
  else await recordDuplicate(deps, delivery, before, inbox);
  const answer: DeliveryAccepted = {
    deliveryId,
    links: buildDeliveryLinks(deps.settings, { source, deliveryId }, before?.buildId ?? null),
  };
  return { answer, repeated: before !== null };
}

async function recordDuplicate(
  { stores, processor, logger }: IntakeDeps,
  delivery: Delivery,
  before: KeptDelivery,
  inbox: Delivery & { readonly intake: Intake },
): Promise<void> {
  if (before.bodySha256 !== delivery.bodySha256)
    throw createUsedBeforeError(delivery.deliveryId, before.buildId);
  const { source, deliveryId } = delivery;
  logger.info({ source, deliveryId, buildId: before.buildId, state: before.state }, 'duplicate delivery');
  if (before.state === 'refused' && (await stores.deliveries.requeue(inbox)))
    processor.add({ source, deliveryId });
}

function createReplayedError(id: string, link: string): TriageError {
  return new TriageError(
    'conflict',
    `The delivery ${id} was already accepted (${link}). A new event needs a new X-Faultline-Id.`,
  );
}
