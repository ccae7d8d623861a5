import type { FastifyInstance } from 'fastify';
import { providersOf } from '../providers/registry.ts';
import { createDeliveryInbox } from '../service/intake/delivery-inbox.ts';
import { createDeliveryProcessor } from '../service/intake/delivery-processor.ts';
import type { IntakeDeps, IntakeParts } from '../service/intake/intake-deps.ts';
import { createJobNotifier } from '../service/intake/job-notifier.ts';
import { registerBuildUpload } from './build-upload.ts';
import { registerWebhook } from './webhook-route.ts';

/**
 * The routes through which builds come in, and behind them the processor, which makes builds of what was received. Each route has
 * a scope of its own, since each reads its body in its own way.
 */
export async function registerIntakeRoutes(app: FastifyInstance, parts: IntakeParts): Promise<void> {
  const bell = createJobNotifier(parts);
  const inbox = createDeliveryInbox(parts.stores.deliveries);
  const processor = createDeliveryProcessor({ ...parts, jobNotifier: bell, busy: inbox.busy });
  const deps: IntakeDeps = { ...parts, jobNotifier: bell, inbox, processor };
  // What an earlier process left is looked for once there are routes to serve, not by whoever only describes them.
  app.addHook('onListen', async () => processor.sweep());
  app.addHook('onClose', async () => await processor.stop());
  for (const provider of providersOf(parts.settings.providers)) await app.register(async (scope) => registerWebhook(scope, provider, deps));
  await app.register((scope) => registerBuildUpload(scope, deps));
}
