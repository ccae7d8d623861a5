import { createHash } from 'node:crypto';
import swagger from '@fastify/swagger';
import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { RouteAccess } from '../domain/access.ts';
import { ErrorAnswer } from '../intake/answers.ts';

export const DOCS_PATH = '/docs';

/** Of the reference page and its script, which their vendor registers without saying who may use them. */
export const DOCS_ACCESS: RouteAccess = { open: 'describes the API that is in the public source anyway, and holds no data' };

/** For everything but the reference page: nothing is loaded, framed or sent anywhere. */
export const STRICT_CSP = { 'default-src': ["'none'"], 'base-uri': ["'none'"], 'form-action': ["'self'"], 'frame-ancestors': ["'none'"] };

/** `/openapi.json`, generated from the zod schemas of the routes, and a page at `/docs` that shows it. */
export async function describeApi(app: FastifyInstance, publicUrl: string | null): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Faultline',
        version: '1',
        description: 'CI failure triage: builds go in; category, root cause, fix and the lines that prove it come out.',
      },
      servers: [{ url: publicUrl ?? '/' }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      tags: [{ name: 'Intake', description: 'Where builds come in.' }],
    },
    transform: describeRoute,
  });
  app.get('/openapi.json', { config: { access: DOCS_ACCESS }, schema: { hide: true, response: { 200: z.unknown() } } }, async () =>
    app.swagger(),
  );
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.routeOptions.url === `${DOCS_PATH}/` && typeof payload === 'string') allowReferencePage(reply, payload);
    return payload;
  });
  await app.register(scalar, {
    routePrefix: DOCS_PATH,
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Faultline API',
      // Nothing from other hosts: fonts, telemetry, assistants and the vendor's proxy stay off.
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
    },
  });
}

/** The page's one inline script by its hash, its own script, and the styles that it writes while it runs. */
function allowReferencePage(reply: FastifyReply, html: string): void {
  const hashes = [...html.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)]
    .map((match) => match[1] ?? '')
    .filter((script) => script.trim() !== '')
    .map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  const directives = [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  reply.header('content-security-policy', directives.join('; '));
}

type Transform = typeof jsonSchemaTransform;

/**
 * The zod schemas as JSON schemas, with what holds for every route: who may use it, and what a refusal looks like. A body
 * of several content types, which the converter does not know, is converted type by type.
 */
const describeRoute: Transform = (document) => {
  const { body, response, ...rest } = document.schema ?? {};
  const access = document.route.config?.access;
  const needsToken = access !== undefined && 'role' in access;
  const schema = {
    ...rest,
    response: { '4xx': ErrorAnswer, '5xx': ErrorAnswer, ...(typeof response === 'object' ? response : {}) },
    ...(needsToken ? { security: [{ bearer: [] }] } : {}),
  };
  const bodies = ManyBodies.safeParse(body);
  if (!bodies.success) return jsonSchemaTransform({ ...document, schema: body === undefined ? schema : { ...schema, body } });
  const convert = (one: unknown) => jsonSchemaTransform({ ...document, schema: { body: one } }).schema?.body;
  const content = Object.entries(bodies.data.content).map(([type, one]) => [type, { schema: convert(one.schema) }]);
  const described = jsonSchemaTransform({ ...document, schema });
  return { ...described, schema: { ...described.schema, body: { content: Object.fromEntries(content) } } };
};

const ManyBodies = z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) });
