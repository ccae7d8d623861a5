import type { DeliveryKey, KeptDelivery } from '../ports/deliveries.ts';
import { type DeliveryAccepted, linksOf } from './answers.ts';
import type { IntakeDeps } from './intake-deps.ts';
import type { Intake } from './intake-shape.ts';
import { type Delivery, usedBefore } from './record-build.ts';

export interface Acceptance {
  readonly answer: DeliveryAccepted;
  /** The same delivery was here before. */
  readonly repeated: boolean;
}

/**
 * Makes a webhook's delivery durable, in one statement, and hands it to the processor. One that was here before changes
 * nothing, except that one that was set aside is tried again; `conflict` where its body is another.
 */
export async function acceptDelivery(deps: IntakeDeps, delivery: Delivery, intake: Intake): Promise<Acceptance> {
  const traceparent = deps.tracer?.traceparent() ?? null;
  const inbox = { ...delivery, intake: traceparent === null ? intake : { ...intake, traceparent } };
  const { before } = await deps.inbox.land(inbox);
  deps.metrics?.count('faultline_deliveries_total', { source: delivery.source, outcome: before === null ? 'kept' : 'repeated' });
  if (before === null) deps.processor.add(keyOf(delivery));
  else await meetAgain(deps, delivery, before, inbox);
  return { answer: answerFor(deps, delivery, before?.buildId ?? null), repeated: before !== null };
}

async function meetAgain(
  { stores, processor, logger }: IntakeDeps,
  delivery: Delivery,
  before: KeptDelivery,
  inbox: Delivery & { readonly intake: Intake },
): Promise<void> {
  if (before.bodySha256 !== delivery.bodySha256) throw usedBefore(delivery.deliveryId, before.buildId);
  const { source, deliveryId } = delivery;
  logger.info({ source, deliveryId, buildId: before.buildId, state: before.state }, 'delivery was here before');
  if (before.state === 'refused' && (await stores.deliveries.landAgain(inbox))) processor.add({ source, deliveryId });
}

function keyOf({ source, deliveryId }: DeliveryKey): DeliveryKey {
  return { source, deliveryId };
}

function answerFor({ settings }: IntakeDeps, { source, deliveryId }: Delivery, buildId: string | null): DeliveryAccepted {
  return { deliveryId, links: linksOf(settings, { source, deliveryId }, buildId) };
}
