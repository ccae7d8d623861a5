import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';
import type { Logger } from '../ports/logger.ts';
import { allTools } from './all-tools.ts';
import type { Decide, ExplainLog, InstallationDeps, OpenReview } from './deps.ts';
import { createMcpServer } from './server.ts';

export interface McpRouteDeps extends InstallationDeps {
  /** Absent: pasted logs are not explained here. */
  readonly explainLog?: ExplainLog | undefined;
  /** Decides on a review as `POST /api/reviews/:id/decision` does. */
  readonly decide: Decide;
  readonly openReview: OpenReview;
  /** The address that browsers know this installation by; pages of others may not ask. */
  readonly publicUrl: string | null;
  readonly logger: Logger;
}

/** A pasted log of half a million characters, escaped, and what is around it. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const tags = ['Agents'];
const access = { access: { role: 'read' } } as const;
const Query = z.strictObject({
  allow: z.literal('feedback').optional().describe('Also offers submit_feedback; needs a token with the role review'),
});
const Message = z.looseObject({ jsonrpc: z.literal('2.0') });

/**
 * The Model Context Protocol over HTTP: each message is answered for itself with JSON, nothing is kept between two. Whoever asks
 * sees what the token's stores show.
 */
export function registerMcpRoutes(app: FastifyInstance, deps: McpRouteDeps): void {
  app.withTypeProvider<ZodTypeProvider>().post(
    '/mcp',
    {
      config: access,
      bodyLimit: MAX_BODY_BYTES,
      schema: {
        tags,
        summary: 'Model Context Protocol (Streamable HTTP, stateless) for agents',
        description: 'One JSON-RPC message in, one out. Read-only unless `?allow=feedback` is given with a token that may review.',
        querystring: Query,
        body: Message,
      },
    },
    async (request, reply) => {
      refuseForeignPages(request, deps.publicUrl);
      const tools = allTools({ installation: deps, ...offered(deps, request.query, request.principal), logger: deps.logger });
      const server = createMcpServer(tools, deps.logger);
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      reply.raw.once('close', () => void server.close().catch(() => undefined));
      await server.connect(transport);
      return await send(reply, await transport.handleRequest(webRequest(request), { parsedBody: request.body }));
    },
  );
  // Nothing is told without being asked: the protocol wants 405 for that.
  for (const method of ['GET', 'DELETE'] as const) {
    app.route({
      method,
      url: '/mcp',
      exposeHeadRoute: false,
      config: access,
      schema: { tags, summary: 'Not offered: every message is a POST', hide: true },
      handler: async (_request, reply) => {
        const message = 'This address answers POST only; it keeps no session and tells nothing unasked.';
        return await reply
          .code(405)
          .header('allow', 'POST')
          .send({ error: { code: 'invalid-input', message } });
      },
    });
  }
}

function offered({ explainLog, decide, openReview }: McpRouteDeps, { allow }: z.output<typeof Query>, principal: Principal | null) {
  const asked = allow === 'feedback';
  if (asked && !mayReview(principal)) throw new TriageError('forbidden', 'Feedback needs a token with the role "review".');
  return {
    ...(explainLog === undefined ? {} : { explainLog }),
    ...(asked && principal !== null ? { feedback: { decide, openReview, reviewer: principal.name } } : {}),
  };
}

function mayReview(principal: Principal | null): boolean {
  return principal !== null && (principal.roles.includes('review') || principal.roles.includes('admin'));
}

/** Agents send no `Origin`; a browser does, and a page of somebody else's must not ask, also not by a name that it made point here. */
function refuseForeignPages({ headers: { origin } }: FastifyRequest, publicUrl: string | null): void {
  if (origin === undefined) return;
  const known = publicUrl === null ? [] : [new URL(publicUrl).origin];
  const isHere = URL.canParse(origin) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname);
  if (!isHere && !known.includes(origin)) throw new TriageError('forbidden', 'Pages of other origins may not ask here.');
}

/** As the transport reads it: only the headers that it looks at. */
function webRequest({ headers }: FastifyRequest): Request {
  const kept = ['accept', 'content-type', 'mcp-protocol-version'] as const;
  const given = kept.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]] as [string, string]] : []));
  return new Request('http://faultline.invalid/mcp', { method: 'POST', headers: given });
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
