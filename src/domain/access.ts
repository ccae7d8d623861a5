import { isInScope } from './access-token.ts';
import { TriageError } from './errors.ts';
import type { Principal, Role } from './review.ts';

/**
 * Who may use a route, declared on the route itself. A route without one is refused at start-up, so that none is open by
 * accident; `open` needs a stated reason.
 */
export type RouteAccess = { readonly role: Role } | { readonly signature: 'github' | 'jenkins' | 'slack' } | { readonly open: string };

/** For whoever brings something of a repository. Throws `forbidden` where the token is for other repositories. */
export function requireInScope(principal: Principal | null, repository: string): void {
  if (principal === null || isInScope(principal.repositories, repository)) return;
  throw new TriageError('forbidden', `The token "${principal.name}" does not give access to the repository ${repository}.`, {
    details: { principal: principal.name },
  });
}
