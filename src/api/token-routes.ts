import { z } from 'zod';
import { AccessToken, checkNewToken, digestOfToken, makeToken, NewToken } from '../domain/access.ts';
import { createListSchema, pageQuery, takePage } from '../ports/database.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { TokenStore } from '../stores/access.ts';
import { readPrincipalName } from './access.ts';
import { type ApiApp, requireFound, route } from './route.ts';

interface TokenRouteDeps {
  readonly tokens: TokenStore;
  /** The names of configured tokens. A new token must not have one of them. */
  readonly configuredNames: readonly string[];
  /** Clears cached lookups, after a token was revoked. */
  readonly onRevoked: () => void;
  readonly logger: Logger;
}

const Params = z.object({ id: z.string().min(1).max(300).describe('ID or name of the token') });
const Made = z.object({ token: z.string().describe('Returned only once.'), made: AccessToken });

/** Registers the routes that create, list, and revoke bearer tokens, for administrators only. */
export function registerTokenRoutes(
  app: ApiApp,
  { tokens, configuredNames, onRevoked, logger }: TokenRouteDeps,
): void {
  app.post(
    '/api/tokens',
    route('admin', 'Tokens', 'createToken', 'Create a token', { body: NewToken, response: { 201: Made } }),
    async ({ body, principal }, reply) => {
      checkNewToken(body, configuredNames);
      const token = makeToken();
      const made = await tokens.keep({
        ...body,
        digest: digestOfToken(token),
        createdBy: readPrincipalName(principal),
      });
      logger.info(
        { tokenId: made.id, name: made.name, roles: made.roles, by: made.createdBy },
        'token created',
      );
      return reply.code(201).send({ token, made });
    },
  );
  app.get(
    '/api/tokens',
    route('admin', 'Tokens', 'listTokens', 'List the newest 200 tokens', {
      querystring: z.strictObject(pageQuery),
      response: { 200: createListSchema(AccessToken) },
    }),
    async ({ query }) => takePage(await tokens.list(), query),
  );
  app.delete(
    '/api/tokens/:id',
    route('admin', 'Tokens', 'revokeToken', 'Revoke a token', {
      params: Params,
      response: { 200: AccessToken },
    }),
    async ({ params: { id }, principal }) => {
      const revoked = requireFound(
        await tokens.revoke(id, readPrincipalName(principal)),
        `active token ${id}`,
      );
      onRevoked();
      logger.info(
        { tokenId: revoked.id, name: revoked.name, by: readPrincipalName(principal) },
        'token revoked',
      );
      return revoked;
    },
  );
}
