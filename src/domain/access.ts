import type { Role } from './review.ts';

/**
 * Who may use a route, declared on the route itself. A route without one is refused at start-up, so that none is open by
 * accident; `open` needs a stated reason.
 */
export type RouteAccess = { readonly role: Role } | { readonly signature: 'github' | 'jenkins' } | { readonly open: string };
