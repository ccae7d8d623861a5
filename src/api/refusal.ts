import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { getErrorMessage, TriageError, type TriageErrorCode } from '../domain/errors.ts';
import { explainIssues, summarizeIssues } from '../lib/explain-issue.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { ErrorAnswer } from './answers.ts';

const STATUS: Partial<Record<TriageErrorCode, number>> = {
  'invalid-input': 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'wrong-method': 405,
  conflict: 409,
  'too-large': 413,
  'unsupported-type': 415,
  impossible: 422,
  'rate-limited': 429,
  'invalid-config': 503,
  locked: 503,
  'storage-failed': 503,
  timeout: 504,
};
/**
 * The maximum number of characters that are quoted from a server's own message, which may repeat the whole
 * URL.
 */
const MAX_QUOTED = 200;
const RETRY_AFTER_MS: Partial<Record<TriageErrorCode, number>> = {
  'rate-limited': 60_000,
  locked: 5_000,
  'storage-failed': 5_000,
};

/** The parts of an error that a client may see. */
interface Refusal {
  readonly status: number;
  readonly error: TriageError;
  /** A message for the client that says what failed and how to fix it. */
  readonly message: string;
}

/** Sends the error with a message that says how to fix it, and logs it. */
export function refuse(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): FastifyReply {
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
  // Bypasses the response schemas of the route, because the error must be sent whatever its text is.
  return reply
    .status(status)
    .header('content-type', 'application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(answer);
}

/** Writes the error to the log and sets its headers. The caller sends the body. */
export function recordRefusal(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): Refusal {
  const error = toTriageError(thrown, request);
  const isUnread = isDisconnect(error, request);
  const status = isUnread ? DISCONNECTED : chooseStatus(error);
  const fields = {
    ...listRequestFields(request),
    status,
    code: error.code,
    reason: error.message,
    details: error.details,
  };
  if (isUnread) logger.info(fields, 'the client disconnected');
  else if (status >= 500) logger.error({ ...fields, error: thrown }, 'request failed');
  else logger.warn(fields, 'request refused');
  const retryAfterMs = error.retryAfterMs ?? (status === 500 ? undefined : RETRY_AFTER_MS[error.code]);
  if (retryAfterMs !== undefined)
    reply.header('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  if (status === 413) closeAfterAnswer(request, reply);
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  return { status, error, message: toClientMessage(error, request) };
}

/** The status in the log for a client that disconnected; no answer reaches it. */
const DISCONNECTED = 499;

/** Checks whether an error only tells that the client disconnected before it had its answer. */
function isDisconnect({ code, cause }: TriageError, { raw: { socket } }: FastifyRequest): boolean {
  if (!socket.destroyed) return false;
  const isUnreadStream =
    cause instanceof Error && 'code' in cause && cause.code === 'ERR_STREAM_PREMATURE_CLOSE';
  return code === 'cancelled' || isUnreadStream;
}

/** The time for which the rest of a refused body is read and discarded, in milliseconds. */
const LINGER_MS = 5_000;

/**
 * Closes the connection once the answer is sent, without waiting for the rest of the body. If a socket is
 * closed with unread data, it is reset, and the sender may lose the answer (RFC 9112, section 9.6). Therefore
 * data that still arrives is discarded for a while.
 */
function closeAfterAnswer(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('connection', 'close');
  const { socket } = request.raw;
  // Node calls this once the answer has been written, if the connection is to be closed.
  socket.destroySoon = () => {
    request.raw.resume();
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

/**
 * The SQLSTATE classes 22 (invalid value) and 23 (violated constraint). The same request would fail again.
 */
const REFUSED_VALUE = /^2[23]/;

/** The PostgreSQL error `disk_full`. The sender may retry once space has been freed. */
const DISK_FULL = '53100';

function chooseStatus(error: TriageError): number {
  if (error.code === 'storage-failed' && error.details.state === DISK_FULL) return 507;
  if (error.code === 'storage-failed' && REFUSED_VALUE.test(String(error.details.state))) return 500;
  return STATUS[error.code] ?? 500;
}

/**
 * Returns the message for the client. Driver messages name hosts, users, and values, so they appear only in
 * the log.
 */
function toClientMessage(error: TriageError, request: FastifyRequest): string {
  if (error.code !== 'storage-failed' || error.cause === undefined) return error.message;
  return `The database request failed. See the server log, request ${request.id}.`;
}

const Issues = z.array(z.object({ path: z.string(), message: z.string() }));

/**
 * Converts a thrown value to a TriageError. The details of an unexpected error are not sent to the client.
 */
function toTriageError(thrown: unknown, request: FastifyRequest): TriageError {
  if (thrown instanceof TriageError) return thrown;
  if (hasZodFastifySchemaValidationErrors(thrown)) {
    const part = thrown.validationContext;
    const found = thrown.validation.map(({ keyword, instancePath, message = '', params }) => ({
      ...params,
      code: keyword,
      message,
      path: instancePath.split('/').filter((name) => name !== ''),
    }));
    const schema = part === undefined ? undefined : Object(request.routeOptions.schema)[part];
    const issues = explainIssues(
      found,
      part === 'querystring' ? request.query : Object(request)[part ?? ''],
      schema,
    );
    const what = part === 'querystring' ? 'query' : (part ?? 'request');
    return new TriageError('invalid-input', summarizeIssues(`The ${what}`, issues), { details: { issues } });
  }
  const status = readStatusCode(thrown);
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'FST_ERR_CTP_INVALID_JSON_BODY')
    return new TriageError(
      'invalid-input',
      'The body is not valid JSON, or has a key such as "__proto__". Send one JSON value in UTF-8.',
    );
  if (status === 413)
    return new TriageError('too-large', `The body exceeds the size limit: ${getErrorMessage(thrown)}.`);
  if (status === 415 || status === 406) {
    const type = (request.headers['content-type'] ?? 'none').slice(0, 100);
    return new TriageError(
      'unsupported-type',
      `The content type ${type} is not accepted here. See /docs for the accepted types.`,
    );
  }
  if (status === 404)
    return new TriageError('not-found', `There is no ${request.method} ${readPath(request)}.`);
  if (status !== null && status >= 400 && status < 500)
    return new TriageError(
      'invalid-input',
      `The request is invalid: ${getErrorMessage(thrown).slice(0, MAX_QUOTED)}.`,
    );
  return new TriageError('internal', `Something went wrong. See the server log, request ${request.id}.`, {
    cause: thrown,
  });
}

function readStatusCode(thrown: unknown): number | null {
  return thrown instanceof Error && 'statusCode' in thrown && typeof thrown.statusCode === 'number'
    ? thrown.statusCode
    : null;
}

export function createTooManyError(message: string, waitMs: number): TriageError {
  return new TriageError(
    'rate-limited',
    `${message} Try again in ${Math.max(1, Math.ceil(waitMs / 1000))} s.`,
    {
      retryable: true,
      retryAfterMs: waitMs,
    },
  );
}

/**
 * The error of a server's parser. It also holds the raw bytes, including tokens, so only the code is read.
 */
interface ParserError {
  readonly code?: string | undefined;
}

/**
 * Answers input that is not an HTTP request, which reaches no route. The answer has the same shape as every
 * other refusal and is logged.
 */
export function refuseBroken(error: ParserError, socket: Socket, logger: Logger): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const { status, code, message } = describeParserError(error);
  logger.warn({ status, code, reason: error.code, address: socket.remoteAddress }, 'request refused');
  const answer: ErrorAnswer = { error: { code, message } };
  const body = JSON.stringify(answer);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  if (socket.writable) socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  else socket.destroy();
}

function describeParserError({ code }: ParserError) {
  if (code === 'HPE_HEADER_OVERFLOW')
    return {
      status: 431,
      code: 'too-large',
      message: 'The URL and headers exceed 16 kB. Send a shorter query.',
    };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, code: 'timeout', message: 'The request did not arrive in time. Send it again.' };
  return { status: 400, code: 'invalid-input', message: 'This is not a valid HTTP request.' };
}

/** The handler for browsers that request an unknown address; null until pages are registered. */
export interface UnknownPages {
  unknown: ((request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) | null;
}

/** A path as routes write it, such as `/api/builds/:id`, and the methods for which it is registered. */
interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/**
 * Answers requests without a route, before their body is read. A known path answers `wrong-method` (405) with
 * its methods in `Allow`, and answers OPTIONS with only these (204). Any other path answers `not-found`, to a
 * browser by `pages.unknown`. Neither needs a token, because `/openapi.json` lists the addresses anyway.
 */
export function answerUnrouted(app: FastifyInstance, pages: UnknownPages): void {
  const paths = new Map<string, KnownPath>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: toPathPattern(url), methods: new Set(['OPTIONS']) };
    paths.set(url, known);
    for (const single of [method].flat()) known.methods.add(single);
  });
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const { method } = request;
    const path = readPath(request);
    const known = paths.get(path) ?? [...paths.values()].find(({ pattern }) => pattern.test(path));
    const methods = [...(known?.methods ?? [])].sort();
    if (methods.length > 0) reply.header('allow', methods.join(', '));
    if (methods.length > 0 && method === 'OPTIONS') return await reply.code(204).send();
    if (methods.length === 0) {
      if (pages.unknown !== null && wantsPage(request, path)) return await pages.unknown(request, reply);
      throw new TriageError('not-found', `There is no ${method} ${path}. See /docs for all endpoints.`);
    }
    throw new TriageError(
      'wrong-method',
      `${path} does not support ${method}. Use ${methods.join(', ')}; see /docs.`,
    );
  });
}

/** Checks whether a browser requests a page. Paths below these folders are requested by programs. */
function wantsPage({ method, headers }: FastifyRequest, path: string): boolean {
  return (
    method === 'GET' &&
    /\btext\/html\b/.test(headers.accept ?? '') &&
    !/^\/(?:api|webhooks|mcp)(?:\/|$)/.test(path)
  );
}

function toPathPattern(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]*';
    return segment === '*' ? '.*' : segment.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${segments.join('/')}$`);
}

/** Returns the path without its query, because a query may hold a token. */
function readPath(request: FastifyRequest): string {
  return (request.url.split('?')[0] ?? '').slice(0, 300);
}

function listRequestFields(request: FastifyRequest): object {
  return {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url ?? readPath(request),
    address: request.ip,
    principal: request.principal?.name,
  };
}

const PROBES: readonly string[] = ['/healthz', '/readyz', '/metrics'];

/**
 * Writes one log line per response. It uses the level `debug` for frequent probes and for webhooks, whose
 * builds have a log line of their own.
 */
export function logAnswer(logger: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const fields = {
    ...listRequestFields(request),
    status: reply.statusCode,
    milliseconds: Math.round(reply.elapsedTime),
  };
  const isProbe = PROBES.includes(request.routeOptions.url ?? '');
  const isAccepted = reply.statusCode === 202 && 'signature' in (request.routeOptions.config.access ?? {});
  if (isProbe || isAccepted) logger.debug(fields, 'request answered');
  else logger.info(fields, 'request answered');
}

/** Adapts the logger port to the interface that Fastify and its plugins use. */
export function toFastifyLogger(logger: Logger): FastifyBaseLogger {
  return createLazyLogger(() => logger);
}

/**
 * Creates the logger of a request when it first writes. Fastify creates one for every request, but few of
 * them write a line.
 */
function createLazyLogger(made: () => Logger): FastifyBaseLogger {
  const to = (write: (fields: object, message: string) => void) => (fields: unknown, message?: unknown) =>
    typeof fields === 'object' && fields !== null
      ? write(fields, String(message ?? 'server'))
      : write({}, String(fields));
  return {
    level: 'info',
    trace: to((fields, message) => made().debug(fields, message)),
    debug: to((fields, message) => made().debug(fields, message)),
    info: to((fields, message) => made().info(fields, message)),
    warn: to((fields, message) => made().warn(fields, message)),
    error: to((fields, message) => made().error(fields, message)),
    fatal: to((fields, message) => made().error(fields, message)),
    silent: () => undefined,
    child: (fields) => createLazyLogger(() => made().child(fields)),
  };
}
