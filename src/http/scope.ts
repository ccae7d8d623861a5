import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance } from 'fastify';
import { isInScope } from '../domain/access-token.ts';
import { TriageError } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';
import type { Stores } from '../ports/stores.ts';

/** What the asker of the request that is being answered may see. */
export interface Scope {
  /** Patterns of repositories, or null where everything may be seen. Throws `internal` outside of a request. */
  repositories(): readonly string[] | null;
  /** Whether this repository may be seen. */
  allows(repository: string): boolean;
}

/**
 * Makes known, from the handler of each request on, what its asker may see. It is asked by the stores that routes are given,
 * so that a route which forgets about projects shows nothing of another one.
 */
export function followScope(app: FastifyInstance): Scope {
  const storage = new AsyncLocalStorage<{ readonly principal: Principal | null }>();
  app.addHook('preHandler', (request, _reply, done) => storage.run({ principal: request.principal }, done));
  const repositories = () => {
    const asking = storage.getStore();
    // Whoever lost the request must not see everything because of it.
    if (asking === undefined) throw new TriageError('internal', 'A store was asked for a client outside of its request');
    return asking.principal?.repositories ?? null;
  };
  return { repositories, allows: (repository) => isInScope(repositories(), repository) };
}

/**
 * Deliveries are asked for by the sender's id and name no repository: whoever may see only some of them sees those whose build
 * is one of theirs.
 */
export function guardDeliveries(app: FastifyInstance, stores: Pick<Stores, 'deliveries' | 'builds'>): void {
  app.addHook('preHandler', async (request) => {
    const scope = request.principal?.repositories ?? null;
    if (scope === null || request.routeOptions.url !== '/api/deliveries/:source/:id') return;
    const { source, id } = textsOf(request.params);
    const kept = await stores.deliveries.find(source, id);
    const build = kept === null || kept.buildId === null ? null : await stores.builds.find(kept.buildId);
    if (build === null || !isInScope(scope, build.repository)) {
      throw new TriageError('not-found', `There is no delivery ${id} of ${source}.`);
    }
  });
}

function textsOf(params: unknown): { readonly source: string; readonly id: string } {
  const of = (name: string) => {
    const value: unknown = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  return { source: of('source'), id: of('id') };
}
