import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { Role } from '../domain/review.ts';
import { describeOperation } from '../lib/openapi.ts';

/** The server type whose routes get their types from their zod schemas. */
export type ApiApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

interface RouteSchema {
  readonly description?: string;
  readonly params?: z.ZodType;
  readonly querystring?: z.ZodType;
  readonly body?: z.ZodType;
  readonly response: Readonly<Record<number, unknown>>;
}

/**
 * Describes a route that needs a token: the required role and its entry in the API description. A route with
 * a 409 response answers a conflict with its details.
 */
export function route<const Schema extends RouteSchema>(
  role: Role,
  tag: string,
  operationId: string,
  summary: string,
  schema: Schema,
) {
  return {
    config: { access: { role } },
    schema: { ...describeOperation(tag, operationId, summary), ...schema },
    ...(409 in schema.response ? { errorHandler: answerConflict } : {}),
  };
}

/** Returns the value. Throws `not-found` if it is null; `what` names it: "analysis ana_1". */
export function requireFound<Value>(value: Value | null, what: string): Value {
  if (value === null) throw new TriageError('not-found', `There is no ${what}.`);
  return value;
}

/**
 * Answers a conflict with the details that the caller needs to continue: the current review, or the builds
 * that share an ambiguous number.
 */
function answerConflict(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof TriageError) || error.code !== 'conflict') throw error;
  const { code, message, details } = error;
  reply.code(409).send({ error: { code, message, requestId: request.id, details } });
}
