import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance } from 'fastify';
import { isInScope } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';

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
