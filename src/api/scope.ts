import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance } from 'fastify';
import { isInScope } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';
import type { Sql } from '../ports/database.ts';
import type { Stores } from '../stores/stores.ts';

export type Scope = ReturnType<typeof followScope>;

/**
 * Makes known, from the handler of each request on, what its asker may see. It is asked by the stores that
 * routes are given, so that a route which forgets about projects shows nothing of another one.
 */
export function followScope(app: FastifyInstance) {
  const storage = new AsyncLocalStorage<{ readonly principal: Principal | null }>();
  app.addHook('preHandler', (request, _reply, done) => storage.run({ principal: request.principal }, done));
  /**
   * Patterns of repositories, or null where everything may be seen. Throws `internal` outside of a request.
   */
  const repositories = (): readonly string[] | null => {
    const asking = storage.getStore();
    // Code that has lost its request must not get access to everything.
    if (asking === undefined) throw new TriageError('internal', 'A store was used outside of a request');
    return asking.principal?.repositories ?? null;
  };
  return { repositories, allows: (repository: string) => isInScope(repositories(), repository) };
}

export type Held = ReturnType<typeof heldTo>;

/** Extends a scope with a check for builds. Users see the data of a build if they may see the build. */
export function heldTo({ builds }: Pick<Stores, 'builds'>, scope: Scope) {
  /** Returns the value if its repository is visible, otherwise null. */
  const shown = <Value extends { readonly repository: string }>(one: Value | null): Value | null =>
    one !== null && scope.allows(one.repository) ? one : null;
  return {
    ...scope,
    shown,
    build: async (id: string, sql?: Sql) =>
      scope.repositories() === null || shown(await builds.find(id, sql)) !== null,
    /**
     * Throws `forbidden` where what is to be stored is of a repository that may not be seen; null: of every
     * one.
     */
    require: (what: string, repository: string | null): void => {
      if (scope.repositories() === null || (repository !== null && scope.allows(repository))) return;
      throw new TriageError(
        'forbidden',
        `Your token does not allow changing ${what} ${repository ?? 'every repository'}.`,
      );
    },
  };
}

/** Creates the scope filter for lists. */
export function within(scope: Scope): { readonly repositories?: readonly string[] } {
  const repositories = scope.repositories();
  return repositories === null ? {} : { repositories };
}
