import type { FastifyReply, FastifyRequest } from 'fastify';
import { TriageError } from '../domain/errors.ts';

/** A conflict is answered here, with the review as it stands, so that a reviewer can go on from it. */
export function answerConflict(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof TriageError) || error.code !== 'conflict') throw error;
  const { code, message, details } = error;
  reply.code(409).send({ error: { code, message, requestId: request.id, details } });
}
