import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { messageOf, TriageError, type TriageErrorCode } from '../domain/errors.ts';
import type { ErrorAnswer } from '../intake/answers.ts';
import type { Logger } from '../ports/telemetry.ts';
import { pathOf, requestFields } from './request-log.ts';

const STATUS: Partial<Record<TriageErrorCode, number>> = {
  'invalid-input': 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'wrong-method': 405,
  conflict: 409,
  'too-large': 413,
  'unsupported-type': 415,
  'rate-limited': 429,
  'invalid-config': 503,
  locked: 503,
  'storage-failed': 503,
  timeout: 504,
};
/** Of a server's own words, which may repeat the whole address. */
const MAX_QUOTED = 200;
const RETRY_AFTER_MS: Partial<Record<TriageErrorCode, number>> = { 'rate-limited': 60_000, locked: 5_000, 'storage-failed': 5_000 };

/** What a client is told of an error. */
export interface Refusal {
  readonly status: number;
  readonly error: TriageError;
  /** How it went wrong and how to mend it, in words that are fit for the client. */
  readonly message: string;
}

/** Answers with what went wrong and how to mend it, and logs it. */
export function refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): FastifyReply {
  const { status, error, message } = recordRefusal(thrown, request, reply, logger);
  const issues = Issues.safeParse(error.details.issues);
  const answer: ErrorAnswer = {
    error: {
      code: error.code,
      message,
      requestId: request.id,
      ...(issues.success ? { issues: issues.data } : {}),
    },
  };
  // Past the route's own response schemas: a refusal must arrive whatever they say.
  return reply.status(status).header('content-type', 'application/json; charset=utf-8').serializer(JSON.stringify).send(answer);
}

/** Logs what went wrong and sets the headers that go with it; the body is the caller's. */
export function recordRefusal(thrown: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): Refusal {
  const error = toTriageError(thrown, request);
  const status = statusFor(error);
  const fields = { ...requestFields(request), status, code: error.code, reason: error.message, details: error.details };
  if (status >= 500) logger.error({ ...fields, error: thrown }, 'request failed');
  else logger.warn(fields, 'request refused');
  const retryAfterMs = error.retryAfterMs ?? (status === 500 ? undefined : RETRY_AFTER_MS[error.code]);
  if (retryAfterMs !== undefined) reply.header('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  // The rest of a body that is too large is not waited for.
  if (status === 413) reply.header('connection', 'close');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  return { status, error, message: toldMessage(error, request) };
}

/** SQLSTATE classes 22 and 23: a value or a constraint. The same request would fail again, so nobody is told to come back. */
const REFUSED_VALUE = /^2[23]/;

/** disk_full. The sender may come again once somebody has made room. */
const DISK_FULL = '53100';

function statusFor(error: TriageError): number {
  if (error.code === 'storage-failed' && error.details.state === DISK_FULL) return 507;
  if (error.code === 'storage-failed' && REFUSED_VALUE.test(String(error.details.state))) return 500;
  return STATUS[error.code] ?? 500;
}

/** A driver's words name hosts, users and values: they are for the log. */
function toldMessage(error: TriageError, request: FastifyRequest): string {
  if (error.code !== 'storage-failed' || error.cause === undefined) return error.message;
  return `The database request failed. See the server log, request ${request.id}.`;
}

const Issues = z.array(z.object({ path: z.string(), message: z.string() }));

/** Makes one of our errors of whatever was thrown. What nobody threw on purpose says nothing of itself to the client. */
function toTriageError(thrown: unknown, request: FastifyRequest): TriageError {
  if (thrown instanceof TriageError) return thrown;
  if (hasZodFastifySchemaValidationErrors(thrown)) {
    const issues = thrown.validation.map((issue) => ({
      path: issue.instancePath.replace(/^\//, '').replaceAll('/', '.'),
      message: issue.message ?? '',
    }));
    const first = issues[0];
    const where = first === undefined || first.path === '' ? '' : ` at "${first.path}"`;
    return new TriageError(
      'invalid-input',
      `The ${thrown.validationContext ?? 'request'} is invalid${where}: ${first?.message ?? 'unknown'}.`,
      { details: { issues } },
    );
  }
  const status = statusOf(thrown);
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'FST_ERR_CTP_INVALID_JSON_BODY')
    return new TriageError('invalid-input', 'The body is not valid JSON, or has a key such as "__proto__". Send one JSON value in UTF-8.');
  if (status === 413) return new TriageError('too-large', `The body exceeds the size limit: ${messageOf(thrown)}.`);
  if (status === 415 || status === 406) {
    const type = (request.headers['content-type'] ?? 'none').slice(0, 100);
    return new TriageError('unsupported-type', `The content type ${type} is not accepted here. See /docs for the accepted types.`);
  }
  if (status === 404) return new TriageError('not-found', `There is no ${request.method} ${pathOf(request)}.`);
  if (status !== null && status >= 400 && status < 500)
    return new TriageError('invalid-input', `The request is invalid: ${messageOf(thrown).slice(0, MAX_QUOTED)}.`);
  return new TriageError('internal', `Something went wrong. See the server log, request ${request.id}.`, { cause: thrown });
}

function statusOf(thrown: unknown): number | null {
  return thrown instanceof Error && 'statusCode' in thrown && typeof thrown.statusCode === 'number' ? thrown.statusCode : null;
}

/** A refusal for coming too often. */
export function tooMany(message: string, waitMs: number): TriageError {
  return new TriageError('rate-limited', `${message} Try again in ${Math.max(1, Math.ceil(waitMs / 1000))} s.`, {
    retryable: true,
    retryAfterMs: waitMs,
  });
}
