import fastify, { type FastifyInstance, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Logger } from '../ports/telemetry.ts';
import { type OperationsDeps, registerOperations } from './operations.ts';
import { toFastifyLogger } from './request-log.ts';

const REQUEST_TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1024;

const OPEN = { open: 'served on a separate port that serves nothing else and that only the scraper should reach' };

/** A server for monitoring, on a port of its own: for processes without another server, and for scrapers without a token. */
export async function buildOperations(deps: OperationsDeps & { readonly logger: Logger }): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: toFastifyLogger(deps.logger),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(async (error, request, reply) => {
    deps.logger.error({ error, path: request.routeOptions.url }, 'a question about operation failed');
    return reply.status(500).send({ error: { code: 'internal', message: 'Something went wrong. See the server log.' } });
  });
  app.setNotFoundHandler(async (_request, reply) =>
    reply.status(404).send({ error: { code: 'not-found', message: 'This port serves /healthz, /readyz and /metrics.' } }),
  );
  registerOperations(app, deps, { metrics: OPEN, details: null });
  await app.ready();
  return app;
}
