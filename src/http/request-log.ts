import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../ports/telemetry.ts';

/** The path without its query: a query may hold a token. */
export function pathOf(request: FastifyRequest): string {
  return (request.url.split('?')[0] ?? '').slice(0, 300);
}

/** What a log line says of a request. */
export function requestFields(request: FastifyRequest): object {
  return {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url ?? pathOf(request),
    address: request.ip,
    principal: request.principal?.name,
  };
}

const PROBES: readonly string[] = ['/healthz', '/readyz', '/metrics'];

/** One line for each answer, at `debug` for the probes that come every few seconds, and for webhooks, whose builds have a line of their own. */
export function logAnswer(logger: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const fields = { ...requestFields(request), status: reply.statusCode, milliseconds: Math.round(reply.elapsedTime) };
  const isProbe = PROBES.includes(request.routeOptions.url ?? '');
  const isAccepted = reply.statusCode === 202 && 'signature' in (request.routeOptions.config.access ?? {});
  if (isProbe || isAccepted) logger.debug(fields, 'request answered');
  else logger.info(fields, 'request answered');
}

/** The logger port in the shape that Fastify and its plugins write to. */
export function toFastifyLogger(logger: Logger): FastifyBaseLogger {
  return overLogger(() => logger);
}

/** Fastify makes a logger for every request, and few of them write a line: each is made when it does. */
function overLogger(made: () => Logger): FastifyBaseLogger {
  const to = (write: (fields: object, message: string) => void) => (fields: unknown, message?: unknown) =>
    typeof fields === 'object' && fields !== null ? write(fields, String(message ?? 'server')) : write({}, String(fields));
  return {
    level: 'info',
    trace: to((fields, message) => made().debug(fields, message)),
    debug: to((fields, message) => made().debug(fields, message)),
    info: to((fields, message) => made().info(fields, message)),
    warn: to((fields, message) => made().warn(fields, message)),
    error: to((fields, message) => made().error(fields, message)),
    fatal: to((fields, message) => made().error(fields, message)),
    silent: () => undefined,
    child: (fields) => overLogger(() => made().child(fields)),
  };
}
