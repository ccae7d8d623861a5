import { z } from 'zod';
import { Provider } from '../domain/build.ts';
import { createProviders } from '../providers/registry.ts';
import { createDeliveryInbox } from '../service/intake/delivery-inbox.ts';
import { createDeliveryProcessor } from '../service/intake/delivery-processor.ts';
import type { IntakeDeps, IntakeParts, IntakeSettings } from '../service/intake/record-build.ts';
import type { ScopedStores } from '../stores/stores.ts';
import { buildDeliveryLinks } from './answers.ts';
import { registerBuildUpload } from './build-upload.ts';
import { type ApiApp, requireFound, route } from './route.ts';
import { registerWebhook } from './webhook-route.ts';

/**
 * Registers the routes that receive builds, and the processor that creates builds from deliveries. Each route
 * has its own scope, because each reads its body in a different way.
 */
export async function registerIntakeRoutes(app: ApiApp, parts: IntakeParts): Promise<void> {
  const inbox = createDeliveryInbox(parts.stores.deliveries);
  const processor = createDeliveryProcessor({ ...parts, busy: inbox.busy });
  const deps: IntakeDeps = { ...parts, inbox, processor };
  // Unfinished work of earlier processes is searched for when the server listens, because the routes are
  // also registered just to describe the API.
  app.addHook('onListen', async () => processor.sweep());
  app.addHook('onClose', async () => await processor.stop());
  for (const provider of createProviders(parts.settings.providers))
    await app.register(async (scope) => registerWebhook(scope, provider, deps));
  await app.register((scope) => registerBuildUpload(scope, deps));
}

const Params = z.object({ source: Provider, id: z.string().min(1).max(300) });

/** The state of a delivery. */
const DeliveryView = z
  .object({
    source: z.string(),
    deliveryId: z.string(),
    event: z.string(),
    state: z
      .enum(['landed', 'recorded', 'refused'])
      .describe(
        '`landed`: durably stored; its build follows in a moment. `recorded`: its build is stored. ' +
          '`refused`: rejected after several attempts. The server log has the reason; ' +
          'deliver it again to retry.',
      ),
    attempts: z.int().describe('Failed attempts.'),
    receivedAt: z.string(),
    buildId: z.string().nullable().describe('Set once the build is recorded.'),
    links: z.object({ delivery: z.string(), build: z.string().optional(), analyses: z.string().optional() }),
  })
  .meta({ description: 'A delivery and its build.' });

interface DeliveryRouteDeps {
  readonly stores: Pick<ScopedStores, 'deliveries'>;
  readonly settings: IntakeSettings;
}

/** Registers `GET /api/deliveries/:source/:id`, which returns the outcome of a delivery. */
export function registerDeliveryRoute(app: ApiApp, { stores, settings }: DeliveryRouteDeps): void {
  app.get(
    '/api/deliveries/:source/:id',
    route('read', 'Intake', 'getDelivery', 'Get the status of a delivery', {
      params: Params,
      response: { 200: DeliveryView },
    }),
    async ({ params: { source, id } }) => {
      const kept = requireFound(await stores.deliveries.find(source, id), `delivery ${id} of ${source}`);
      const { event, state, attempts, receivedAt, buildId } = kept;
      const key = { source, deliveryId: id };
      return {
        ...key,
        event,
        state,
        attempts,
        receivedAt,
        buildId,
        links: buildDeliveryLinks(settings, key, buildId),
      };
    },
  );
}
