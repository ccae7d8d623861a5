import { createHash } from 'node:crypto';
import swagger from '@fastify/swagger';
import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { createJsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { RouteAccess } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import { createProviders, NO_PROVIDERS } from '../providers/registry.ts';
import { ErrorAnswer } from './answers.ts';
import { addErrors, createErrorResponses } from './describe-errors.ts';
import { type JsonObject, markSchema, moveSchemasToComponents } from './name-schemas.ts';

export const DOCS_PATH = '/docs';

/**
 * The access of the reference page and its script, whose plugin registers its routes without an access rule.
 */
export const DOCS_ACCESS: RouteAccess = {
  open: 'describes the API, which is public source anyway, and contains no data',
};

/**
 * The content security policy of everything except the reference page: nothing may be loaded, framed, or sent
 * anywhere.
 */
export const STRICT_CSP = {
  'default-src': ["'none'"],
  'base-uri': ["'none'"],
  'form-action': ["'self'"],
  'frame-ancestors': ["'none'"],
};

/** The tags of all routes, in the order of the reference. */
const TAGS = [
  { name: 'Intake', description: 'Receive builds.' },
  { name: 'Builds', description: 'Builds, their triage status and their analyses.' },
  { name: 'Analyses', description: 'An analysis and its steps.' },
  { name: 'Ask', description: 'Follow-up questions about an analysis.' },
  { name: 'Failures', description: 'Failures across builds.' },
  { name: 'Causes', description: 'Causes, their state and their owners.' },
  { name: 'Tests', description: 'Flaky tests.' },
  { name: 'Insights', description: 'How far answers can be trusted.' },
  { name: 'Review', description: 'The queue of answers waiting for review.' },
  { name: 'Library', description: 'Answers confirmed by reviewers.' },
  { name: 'Notifications', description: 'Rules that say whom to tell of which failures.' },
  { name: 'Rules', description: 'Answers written by reviewers for future failures.' },
  { name: 'Knowledge', description: 'Team documents.' },
  { name: 'Agents', description: 'The Model Context Protocol.' },
  { name: 'Tokens', description: 'API access.' },
  { name: 'Health', description: 'Probes and metrics.' },
];

/**
 * The ways in which callers authenticate. Webhook senders sign their requests; docs/reference/events.md
 * describes how each does it.
 */
const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token from `faultline token make`, `POST /api/tokens` or FAULTLINE_TOKENS.',
  },
  slackSignature: describeSignedHeader(
    'X-Slack-Signature',
    '`v0=` and the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, in hexadecimal.',
  ),
  ...listWebhookSchemes(),
} as const;

/** The authentication schemes that each webhook sender can use. */
const SIGNATURES: Readonly<Record<string, Record<string, string[]>[]>> = {
  slack: [{ slackSignature: [] }],
  ...Object.fromEntries(
    createProviders(NO_PROVIDERS).map(({ name, webhook }) => [
      name,
      Object.keys(webhook.describes.security).map((scheme) => ({ [scheme]: [] })),
    ]),
  ),
};

function listWebhookSchemes() {
  const schemes = createProviders(NO_PROVIDERS).flatMap(({ webhook }) =>
    Object.entries(webhook.describes.security),
  );
  return Object.fromEntries(schemes.map(([name, scheme]) => [name, { type: 'apiKey' as const, ...scheme }]));
}

/**
 * Registers `/openapi.json`, generated from the zod schemas of the routes, and a page at `/docs` that shows
 * it.
 */
export async function describeApi(app: FastifyInstance, publicUrl: string | null): Promise<void> {
  const withOptionalBody = new Set<string>();
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Faultline',
        version: '1',
        description:
          'CI failure triage: send builds and get the category, root cause, fix and the log lines ' +
          'that prove it.',
        contact: {
          name: 'The operator of this installation',
          ...(publicUrl === null ? {} : { url: publicUrl }),
        },
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl ?? '/' }],
      components: { securitySchemes: SECURITY_SCHEMES },
      tags: TAGS,
    },
    transform: (document) => {
      if (document.schema?.body !== undefined && takesNoBody(document.schema.body))
        withOptionalBody.add(String(document.schema.operationId));
      return describeRoute(document);
    },
    transformObject: (document) => {
      if ('swaggerObject' in document) return document.swaggerObject;
      // The generator marks every body as required.
      for (const operation of Object.values(document.openapiObject.paths ?? {}).flatMap((path) =>
        Object.values(path ?? {}),
      )) {
        const { operationId, requestBody } = Operation.parse(operation);
        if (requestBody !== undefined && withOptionalBody.has(operationId)) requestBody.required = false;
      }
      return completeDescription(document.openapiObject);
    },
  });
  app.get(
    '/openapi.json',
    { config: { access: DOCS_ACCESS }, schema: { hide: true, response: { 200: z.unknown() } } },
    async () => app.swagger(),
  );
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.routeOptions.url === `${DOCS_PATH}/` && typeof payload === 'string')
      allowReferencePage(reply, payload);
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

/** Allows the page's inline script by its hash, its own script, and the styles that it writes at run time. */
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

const Operation = z.looseObject({
  operationId: z.string(),
  requestBody: z.custom<{ required: boolean }>((body) => typeof body === 'object').optional(),
});

/** Converts schemas to JSON, and marks those that will be components. */
const jsonSchemaTransform = createJsonSchemaTransform({ zodToJsonConfig: { override: markSchema } });

type Transform = typeof jsonSchemaTransform;

/** Adds the components: schemas by their names, and the errors of all routes. */
function completeDescription<Described extends object>(described: Described): Described {
  const { paths = {}, components = {}, ...rest } = JSON.parse(JSON.stringify(described));
  const { $schema: _version, ...error } = z.toJSONSchema(ErrorAnswer);
  const schemas = { ...moveSchemasToComponents(paths), Error: error };
  for (const [path, operations] of Object.entries<JsonObject>(paths))
    for (const operation of Object.values(operations)) addErrors(path, operation as JsonObject);
  return { ...rest, components: { ...components, schemas, responses: createErrorResponses() }, paths };
}

/**
 * Converts the zod schemas to JSON schemas and adds what holds for every route: who may use it, and the shape
 * of errors. The converter does not support a body of several content types, so such a body is converted type
 * by type.
 */
const describeRoute: Transform = (document) => {
  const { body, response, description, ...rest } = document.schema ?? {};
  const { security, who } = describeAccess(document.route.config?.access);
  const schema = {
    ...rest,
    security,
    description: [description, who].filter((part) => part !== undefined).join('\n\n'),
    response: typeof response === 'object' ? response : {},
  };
  const bodies = ManyBodies.safeParse(body);
  if (!bodies.success)
    return jsonSchemaTransform({ ...document, schema: body === undefined ? schema : { ...schema, body } });
  const convert = (body: unknown) =>
    jsonSchemaTransform({ ...document, schema: { body: body } }).schema?.body;
  const content = Object.entries(bodies.data.content).map(([type, part]) => [
    type,
    { schema: convert(part.schema) },
  ]);
  const described = jsonSchemaTransform({ ...document, schema });
  return { ...described, schema: { ...described.schema, body: { content: Object.fromEntries(content) } } };
};

const ManyBodies = z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) });

function describeAccess(access: RouteAccess | undefined): {
  readonly security: Record<string, string[]>[];
  readonly who: string;
} {
  if (access === undefined) throw new TriageError('internal', 'A route without config.access was described.');
  if ('role' in access)
    return { security: [{ bearer: [] }], who: `Needs a token with the role \`${access.role}\`.` };
  if ('signature' in access)
    return {
      security: SIGNATURES[access.signature] ?? [],
      who: 'Needs no token: the sender signs each delivery.',
    };
  return { security: [], who: `Needs no token: ${access.open}.` };
}

function takesNoBody(body: unknown): boolean {
  return body instanceof z.ZodType && body.safeParse(undefined).success;
}

function describeSignedHeader(name: string, description: string) {
  return { type: 'apiKey', in: 'header', name, description } as const;
}
