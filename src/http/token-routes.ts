import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { AccessToken, checkNewToken, digestOfToken, makeToken, NewToken } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';
import type { TokenStore } from '../ports/access.ts';
import type { Logger } from '../ports/telemetry.ts';

export interface TokenRouteDeps {
  readonly tokens: TokenStore;
  /** Names of configured tokens, which a new one must not bear. */
  readonly configuredNames: readonly string[];
  /** Called when one was revoked. */
  readonly onRevoked: () => void;
  readonly logger: Logger;
}

const access = { access: { role: 'admin' } } as const;
const tags = ['Tokens'];
const Params = z.object({ id: z.string().min(1).max(300).describe('ID or name of the token') });
const Made = z.object({ token: z.string().describe('Returned only once.'), made: AccessToken });

/** Bearer tokens: made, listed and revoked, by administrators only. */
export function registerTokenRoutes(app: FastifyInstance, { tokens, configuredNames, onRevoked, logger }: TokenRouteDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    '/api/tokens',
    { config: access, schema: { tags, operationId: 'createToken', summary: 'Create a token', body: NewToken, response: { 201: Made } } },
    async ({ body, principal }, reply) => {
      checkNewToken(body, configuredNames);
      const token = makeToken();
      const made = await tokens.keep({ ...body, digest: digestOfToken(token), createdBy: nameOf(principal) });
      logger.info({ tokenId: made.id, name: made.name, roles: made.roles, by: made.createdBy }, 'token made');
      return reply.code(201).send({ token, made });
    },
  );
  typed.get(
    '/api/tokens',
    {
      config: access,
      schema: {
        tags,
        operationId: 'listTokens',
        summary: 'List the newest 200 tokens',
        response: { 200: z.object({ items: z.array(AccessToken) }) },
      },
    },
    async () => ({ items: await tokens.list() }),
  );
  typed.delete(
    '/api/tokens/:id',
    {
      config: access,
      schema: { tags, operationId: 'revokeToken', summary: 'Revoke a token', params: Params, response: { 200: AccessToken } },
    },
    async ({ params: { id }, principal }) => {
      const revoked = await tokens.revoke(id, nameOf(principal));
      if (revoked === null) throw new TriageError('not-found', `There is no active token ${id}.`);
      onRevoked();
      logger.info({ tokenId: revoked.id, name: revoked.name, by: nameOf(principal) }, 'token revoked');
      return revoked;
    },
  );
}

function nameOf(principal: Principal | null): string {
  return principal?.name ?? 'unknown';
}
