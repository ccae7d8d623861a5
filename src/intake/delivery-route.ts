import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { linksOf } from './answers.ts';
import type { IntakeDeps } from './intake-deps.ts';

const Params = z.object({ source: z.enum(['github', 'jenkins', 'upload']), id: z.string().min(1).max(300) });

/** Where a delivery has got to. */
const DeliveryView = z
  .object({
    source: z.string(),
    deliveryId: z.string(),
    event: z.string(),
    state: z
      .enum(['landed', 'recorded', 'refused'])
      .describe(
        '`landed`: durable, its build follows in a moment. `recorded`: its build is kept. `refused`: set aside after several tries; the log says why, and it is tried again when it is delivered again.',
      ),
    attempts: z.int().describe('Tries that failed.'),
    receivedAt: z.string(),
    buildId: z.string().nullable().describe('Once it is recorded.'),
    links: z.object({ delivery: z.string(), build: z.string().optional(), analyses: z.string().optional() }),
  })
  .meta({ description: 'A delivery, and the build that was made of it.' });

/** `GET /api/deliveries/:source/:id`: what became of a delivery. */
export function registerDeliveryRoute(app: FastifyInstance, { stores, settings }: IntakeDeps): void {
  app.withTypeProvider<ZodTypeProvider>().get(
    '/api/deliveries/:source/:id',
    {
      config: { access: { role: 'read' } },
      schema: {
        tags: ['Intake'],
        operationId: 'getDelivery',
        summary: 'What became of a delivery',
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
