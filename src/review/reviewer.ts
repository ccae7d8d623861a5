import type { FastifyRequest } from 'fastify';
import { TriageError } from '../domain/errors.ts';

/** Who decides: the name of the token that asks. The routes here declare a role, so the HTTP layer has set it by now. */
export function reviewerOf(request: FastifyRequest): string {
  if (request.principal === null) throw new TriageError('unauthenticated', 'Reviewing needs a token with the role review.');
  return request.principal.name;
}

/** Whether the one who asks may also change what others decided. */
export function isAdmin({ principal }: Pick<FastifyRequest, 'principal'>): boolean {
  return principal?.roles.includes('admin') === true;
}
