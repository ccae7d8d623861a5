import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { Role } from '../domain/review.ts';
import { operation } from '../lib/openapi.ts';

/** The server where routes are typed by their zod schemas. */
export type ApiApp = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>;

interface RouteSchema {
  readonly description?: string;
  readonly params?: z.ZodType;
  readonly querystring?: z.ZodType;
  readonly body?: z.ZodType;
  readonly response: Readonly<Record<number, unknown>>;
}

/**
 * A route that needs a token: the role that may use it, and what the API's description says of it. A route with a response 409 answers a
 * conflict with its details.
 */
export function route<const Schema extends RouteSchema>(role: Role, tag: string, operationId: string, summary: string, schema: Schema) {
  return {
    config: { access: { role } },
    schema: { ...operation(tag, operationId, summary), ...schema },
    ...(409 in schema.response ? { errorHandler: answerConflict } : {}),
  };
}

/** What was searched for. Throws `not-found` where it is not there; `what` names it: "analysis ana_1". */
export function found<Value>(value: Value | null, what: string): Value {
  if (value === null) throw new TriageError('not-found', `There is no ${what}.`);
  return value;
}

/** A conflict is answered with what the caller needs to go on: the review as it stands, or the builds that bear an ambiguous number. */
function answerConflict(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof TriageError) || error.code !== 'conflict') throw error;
  const { code, message, details } = error;
  reply.code(409).send({ error: { code, message, requestId: request.id, details } });
}
