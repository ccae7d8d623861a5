import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance } from 'fastify';
import { CHECKED, type Checked, isInScope } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';
import type { Sql } from '../ports/database.ts';
import type { Stores } from '../stores/stores.ts';

export type Scope = ReturnType<typeof followScope>;

/**
 * Provides, from the handler of each request on, the scope of its caller. The stores that routes get use it,
 * so that a route that ignores projects shows nothing of other projects.
 */
export function followScope(app: FastifyInstance) {
  const storage = new AsyncLocalStorage<{ readonly principal: Principal | null }>();
  app.addHook('preHandler', (request, _reply, done) => storage.run({ principal: request.principal }, done));
  /**
   * Patterns of repositories, or null if everything may be seen. Throws `internal` outside of a request.
   */
  const repositories = (): readonly string[] | null => {
    const asking = storage.getStore();
    // Code that has lost its request must not get access to everything.
    if (asking === undefined) throw new TriageError('internal', 'A store was used outside of a request');
    return asking.principal?.repositories ?? null;
  };
  return { repositories, allows: (repository: string) => isInScope(repositories(), repository) };
}

/** A part of a filter that limits a query to repositories. */
interface Limit {
  readonly repositories?: readonly string[];
}
/** A filter that can be limited. A query whose filter cannot be is refused by the type checker. */
type Limitable<Filter> = 'repositories' extends keyof Filter ? unknown : never;
type Answer<Result> = Result | Promise<Result>;
interface OfRepository {
  readonly repository: string;
}

/**
 * The checks that a method of a store passes before a route can call it. Each check creates a method that is
 * limited to the repositories of the caller. For callers with unrestricted access it only forwards the call.
 */
export type ScopeChecks = ReturnType<typeof createScopeChecks>;

export function createScopeChecks({ builds }: Pick<Stores, 'builds'>, scope: Scope) {
  const { repositories, allows } = scope;
  const seesAll = () => repositories() === null;
  const canSeeBuild = async (id: string, sql?: Sql): Promise<boolean> => {
    if (seesAll()) return true;
    const build = await builds.find(id, sql);
    return build !== null && allows(build.repository);
  };
  const hasVisibleRepository = ({ repository }: OfRepository) => allows(repository);

  /**
   * Creates a check for methods whose first argument names their subject. If `isVisible` refuses it, the
   * method answers as if the subject did not exist. The caller's transaction is used if there is one, because
   * no other connection may be used inside it.
   */
  const when =
    <Key>(isVisible: (key: Key, sql?: Sql) => Answer<boolean>) =>
    <Args extends [Key, ...unknown[]], Result>(
      method: (...args: Args) => Promise<Result>,
      otherwise: () => NoInfer<Result>,
    ) =>
      check(async (...args: Args) =>
        seesAll() || (await isVisible(args[0], findTransaction(args))) ? await method(...args) : otherwise(),
      );

  return {
    repositories,
    seesAll,
    allows,
    canSeeBuild,
    when,
    /** Checks a method whose first argument is the id of a build. */
    ofBuild: when<string>(canSeeBuild),
    /** Checks a method whose first argument names a repository. */
    ofRepository: when<OfRepository>(hasVisibleRepository),
    /** Limits a query by its filter, which is its first argument. */
    limited: <Filter extends object, Rest extends unknown[], Result>(
      method: ((filter: Filter, ...rest: Rest) => Promise<Result>) & Limitable<Filter>,
    ) => check(async (filter: Filter, ...rest: Rest) => await method(withLimit(filter, scope), ...rest)),
    /** Limits a query by its filter, which is its second argument and optional. */
    limitedSecond: <First, Filter extends object, Result>(
      method: ((first: First, filter?: Filter) => Promise<Result>) & Limitable<Filter>,
      nothing: NoInfer<Filter>,
    ) =>
      check(async (first: First, filter: Filter = nothing) => await method(first, withLimit(filter, scope))),
    /**
     * Hides a result that the caller may not see. By default, this is a result of a repository that the
     * caller may not see.
     */
    visible: <Args extends unknown[], Result extends object>(
      method: (...args: Args) => Promise<Result | null>,
      isVisible: (found: NoInfer<Result>, sql?: Sql) => Answer<boolean>,
    ) =>
      check(async (...args: Args) => {
        const found = await method(...args);
        if (found === null || seesAll()) return found;
        return (await isVisible(found, findTransaction(args))) ? found : null;
      }),
    hasVisibleRepository,
    /** Removes the items that the caller may not see from a list. */
    visibleOnly: <Args extends unknown[], Result>(
      method: (...args: Args) => Promise<Result[]>,
      isVisible: (found: NoInfer<Result>, sql?: Sql) => Answer<boolean>,
    ) =>
      check(async (...args: Args) => {
        const found = await method(...args);
        if (seesAll()) return found;
        const seen: Result[] = [];
        for (const result of found) if (await isVisible(result, findTransaction(args))) seen.push(result);
        return seen;
      }),
    /**
     * Refuses to store data of a repository that the caller may not see. Null stands for all repositories.
     * Throws `forbidden`.
     */
    writes: <Args extends unknown[], Result>(
      what: string,
      method: (...args: Args) => Promise<Result>,
      readRepository: (...args: Args) => string | null,
    ) =>
      check(async (...args: Args) => {
        requireVisible(what, readRepository(...args), scope);
        return await method(...args);
      }),
    /**
     * Marks a method that checks its scope itself, or that concerns no repository. A comment must say which.
     */
    checkedByHand: <Args extends unknown[], Result>(method: (...args: Args) => Result) =>
      check((...args: Args) => method(...args)),
  };
}

/**
 * Throws `forbidden` if data of a repository that the caller may not see is to be stored. Null stands for all
 * repositories.
 */
export function requireVisible(what: string, repository: string | null, scope: Scope): void {
  if (scope.repositories() === null || (repository !== null && scope.allows(repository))) return;
  throw new TriageError(
    'forbidden',
    `Your token does not allow changing ${what} ${repository ?? 'every repository'}.`,
  );
}

/** Limits a filter to the repositories of a scope. */
export function withLimit<Filter extends object>(filter: Filter, scope: Scope): Filter & Limit {
  const repositories = scope.repositories();
  return repositories === null ? filter : { ...filter, repositories };
}

function check<Method extends object>(method: Method): Checked<Method> {
  return Object.assign(method, { [CHECKED]: true } as const);
}

/** Returns the transaction if the last argument of a method is one. */
function findTransaction(args: readonly unknown[]): Sql | undefined {
  const last = args.at(-1);
  return isSql(last) ? last : undefined;
}

function isSql(value: unknown): value is Sql {
  return typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'function';
}
