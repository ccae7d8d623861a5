import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Provider } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import type { ScopedStores } from '../ports/stores.ts';
import type { IntakeSettings } from '../service/intake/intake-deps.ts';
import { linksOf } from './answers.ts';

const Params = z.object({ source: Provider, id: z.string().min(1).max(300) });

/** Where a delivery has got to. */
const DeliveryView = z
  .object({
    source: z.string(),
    deliveryId: z.string(),
    event: z.string(),
    state: z
      .enum(['landed', 'recorded', 'refused'])
      .describe(
        '`landed`: durably stored; its build follows in a moment. `recorded`: its build is stored. `refused`: rejected after several attempts. The server log has the reason; deliver it again to retry.',
      ),
    attempts: z.int().describe('Failed attempts.'),
    receivedAt: z.string(),
    buildId: z.string().nullable().describe('Set once the build is recorded.'),
    links: z.object({ delivery: z.string(), build: z.string().optional(), analyses: z.string().optional() }),
  })
  .meta({ description: 'A delivery and its build.' });

export interface DeliveryRouteDeps {
  readonly stores: Pick<ScopedStores, 'deliveries'>;
  readonly settings: IntakeSettings;
}

/** `GET /api/deliveries/:source/:id`: what became of a delivery. */
export function registerDeliveryRoute(app: FastifyInstance, { stores, settings }: DeliveryRouteDeps): void {
  app.withTypeProvider<ZodTypeProvider>().get(
    '/api/deliveries/:source/:id',
    {
      config: { access: { role: 'read' } },
      schema: {
        tags: ['Intake'],
        operationId: 'getDelivery',
        summary: 'Get the status of a delivery',
        params: Params,
        response: { 200: DeliveryView },
      },
    },
    async ({ params: { source, id } }) => {
      const kept = await stores.deliveries.find(source, id);
      if (kept === null) throw new TriageError('not-found', `There is no delivery ${id} of ${source}.`);
      const { event, state, attempts, receivedAt, buildId } = kept;
      const key = { source, deliveryId: id };
      return { ...key, event, state, attempts, receivedAt, buildId, links: linksOf(settings, key, buildId) };
    },
  );
}
