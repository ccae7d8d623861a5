import { JSONRPCMessageSchema } from '@modelcontextprotocol/core';
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolErrorCode,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Scoped } from '../domain/access.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { holds, type Principal } from '../domain/review.ts';
import { omitUndefined } from '../lib/collections.ts';
import { explainIssues, summarizeIssues } from '../lib/explain-issue.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { ScopedStores, ShownArchive } from '../stores/stores.ts';
import { createMcpServer, createOffer } from './server.ts';
import type { Decide, ExplainLog, InstallationDeps, OpenReview } from './tool.ts';

export interface McpRouteDeps extends InstallationDeps {
  readonly stores: ScopedStores;
  readonly archive: Scoped<ShownArchive>;
  /** The explainer of pasted logs. Without it, they are not explained here. */
  readonly explainLog?: ExplainLog | undefined;
  /** Decides on a review as `POST /api/reviews/:id/decision` does. */
  readonly decide: Decide;
  readonly openReview: OpenReview;
  /** The public URL of this installation. Requests from other pages are refused. */
  readonly publicUrl: string | null;
  readonly logger: Logger;
}

/**
 * The maximum size of a body, in bytes: a pasted log of half a million characters, escaped, with its
 * envelope.
 */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const tags = ['Agents'];
const access = { access: { role: 'read' } } as const;
const Query = z.strictObject({
  allow: z
    .literal('feedback')
    .optional()
    .describe('Also offer submit_feedback; needs a token with the role review'),
});
const Result = z.looseObject({ jsonrpc: z.literal('2.0'), id: z.union([z.string(), z.int()]).nullable() });
/** The answer to an unreadable message, which has no id. */
const BrokenMessage = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.null(),
  error: z.object({ code: z.int(), message: z.string() }),
});

/**
 * Registers the Model Context Protocol over HTTP. Each message is answered on its own with JSON, and no state
 * is kept between messages. A client sees the data that the stores show for its token.
 */
export function registerMcpRoutes(app: FastifyInstance, deps: McpRouteDeps): void {
  app.withTypeProvider<ZodTypeProvider>().post(
    '/mcp',
    {
      config: access,
      bodyLimit: MAX_BODY_BYTES,
      schema: {
        tags,
        operationId: 'callMcp',
        summary: 'Model Context Protocol (Streamable HTTP, stateless) for agents',
        description:
          'One JSON-RPC message in, one out. Read-only unless `?allow=feedback` is given with a ' +
          'token that may review.',
        querystring: Query,
        body: JSONRPCMessageSchema,
        response: {
          200: Result.describe('The result, or the error of the call'),
          202: z.null().describe('Notification accepted; no response body'),
          400: BrokenMessage.describe('Not a JSON-RPC message, or not one of the protocol that it names'),
        },
      },
      // The handler checks the body, so that an invalid message is answered in the form of the protocol.
      validatorCompiler: () => (value) => ({ value }),
      errorHandler: (error, _request, reply) => {
        if (!(error instanceof Error && 'statusCode' in error && error.statusCode === 400)) throw error;
        sendBroken(
          reply,
          ProtocolErrorCode.ParseError,
          `The body is not JSON: ${getErrorMessage(error).slice(0, 200)}`,
        );
      },
    },
    async (request, reply) => {
      refuseForeignPages(request, deps.publicUrl);
      const query = Query.safeParse(request.query);
      if (!query.success) {
        const issues = explainIssues(query.error.issues, request.query, Query);
        return sendBroken(reply, ProtocolErrorCode.InvalidRequest, summarizeIssues('The query', issues));
      }
      if (!JSONRPCMessageSchema.safeParse(request.body).success) {
        const message =
          'The body is not one JSON-RPC 2.0 message: an object with "jsonrpc": ' +
          '"2.0", "method", and "id" if a response is expected.';
        return sendBroken(reply, ProtocolErrorCode.InvalidRequest, message);
      }
      const offer = createOffer({
        installation: deps,
        ...chooseTools(deps, query.data, request.principal),
        logger: deps.logger,
      });
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const create = () => createMcpServer(offer, deps.logger);
      return await send(
        reply,
        await answerMessage(convertWebRequest(request, gone.signal), request.body, create, deps.logger),
      );
    },
  );
}

/**
 * Answers one message with JSON: in the protocol of 2026-07-28 if the message says that it is one of that
 * protocol, otherwise in the former one, without a session.
 */
async function answerMessage(
  request: Request,
  parsedBody: unknown,
  create: () => Server,
  logger: Logger,
): Promise<Response> {
  if (await isLegacyRequest(request, parsedBody)) {
    const server = create();
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    request.signal.addEventListener('abort', () => void server.close().catch(() => undefined));
    await server.connect(transport);
    return await transport.handleRequest(request, { parsedBody });
  }
  const handler = createMcpHandler(create, {
    legacy: 'reject',
    onerror: (error) => logger.debug({ error }, 'a message of an agent was refused'),
  });
  const response = await handler.fetch(request, { parsedBody });
  // Nothing changes while it is served, so a subscription is confirmed and ended at once.
  await handler.close();
  return response;
}

function chooseTools(
  { explainLog, decide, openReview }: McpRouteDeps,
  { allow }: z.output<typeof Query>,
  principal: Principal | null,
) {
  const asked = allow === 'feedback';
  if (asked && !holds(principal, 'review'))
    throw new TriageError('forbidden', 'Feedback needs a token with the role "review".');
  return omitUndefined({
    explainLog,
    feedback: asked && principal !== null ? { decide, openReview, reviewer: principal.name } : undefined,
  });
}

/**
 * Refuses requests that a page of another site makes a browser send, even through a DNS name that it points
 * at this server. Browsers send `Origin`; agents do not.
 */
function refuseForeignPages({ headers: { origin } }: FastifyRequest, publicUrl: string | null): void {
  if (origin === undefined) return;
  const known = publicUrl === null ? [] : [new URL(publicUrl).origin];
  const isHere =
    URL.canParse(origin) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname);
  if (!isHere && !known.includes(origin))
    throw new TriageError('forbidden', 'Requests from other origins are not allowed.');
}

/** Headers that repeat parts of a message, which the protocol has checked against each other. */
const REPEATED = ['mcp-protocol-version', 'mcp-method', 'mcp-name'];

/**
 * Converts a request for the transport. Answers are always JSON, so a client that does not accept streams is
 * answered as well.
 */
function convertWebRequest({ headers: given }: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  });
  for (const name of REPEATED) {
    const value = given[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  return new Request('http://faultline.invalid/mcp', { method: 'POST', headers, signal });
}

function sendBroken(reply: FastifyReply, code: ProtocolErrorCode, message: string): FastifyReply {
  const answer: z.infer<typeof BrokenMessage> = { jsonrpc: '2.0', id: null, error: { code, message } };
  return reply.code(400).header('cache-control', 'no-store').send(answer);
}

async function send(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  reply.code(response.status).header('cache-control', 'no-store');
  const type = response.headers.get('content-type');
  const text = await response.text();
  return text === ''
    ? reply.send()
    : reply
        .type(type ?? 'application/json')
        .serializer((body: unknown) => String(body))
        .send(text);
}
