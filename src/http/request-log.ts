import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../ports/logger.ts';

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

/** One line for each answer, at `debug` for the probes that come every few seconds. */
export function logAnswer(logger: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const fields = { ...requestFields(request), status: reply.statusCode, milliseconds: Math.round(reply.elapsedTime) };
  const isProbe = request.routeOptions.url === '/healthz' || request.routeOptions.url === '/readyz';
  if (isProbe) logger.debug(fields, 'request answered');
  else logger.info(fields, 'request answered');
}

/** The logger port in the shape that Fastify and its plugins write to. */
export function toFastifyLogger(logger: Logger): FastifyBaseLogger {
  const to = (write: (fields: object, message: string) => void) => (fields: unknown, message?: unknown) =>
    typeof fields === 'object' && fields !== null ? write(fields, String(message ?? 'server')) : write({}, String(fields));
  return {
    level: 'info',
    trace: to((fields, message) => logger.debug(fields, message)),
    debug: to((fields, message) => logger.debug(fields, message)),
    info: to((fields, message) => logger.info(fields, message)),
    warn: to((fields, message) => logger.warn(fields, message)),
    error: to((fields, message) => logger.error(fields, message)),
    fatal: to((fields, message) => logger.error(fields, message)),
    silent: () => undefined,
    child: (fields) => toFastifyLogger(logger.child(fields)),
  };
}
