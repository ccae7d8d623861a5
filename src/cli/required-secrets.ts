import type { Config } from '../config/schema.ts';
import { TriageError } from '../domain/errors.ts';
import type { TokenStore } from '../ports/access.ts';

/** Nothing without a secret: for a database that several processes share, each of which would make other secrets. Throws `invalid-config`. */
export function requireWebhookSecrets({
  database,
  webhooks,
}: Pick<Config, 'webhooks'> & { readonly database: Pick<Config['database'], 'driver'> }): void {
  if (database.driver === 'pglite' || webhooks.githubSecrets.length + webhooks.jenkinsSecrets.length > 0) return;
  throw new TriageError(
    'invalid-config',
    'No webhook secret is configured, so no build can be received. Set FAULTLINE_GITHUB_WEBHOOK_SECRET or FAULTLINE_JENKINS_WEBHOOK_SECRET, to the same value in every process. Create one with: openssl rand -hex 32',
  );
}

/** Throws `invalid-config` where no token opens the API: none is configured, and the database knows no administrator's. */
export async function requireToken(
  { auth }: { readonly auth: Pick<Config['auth'], 'tokens'> },
  tokens: Pick<TokenStore, 'countAdmins'>,
): Promise<void> {
  if (auth.tokens.length > 0 || (await tokens.countAdmins()) > 0) return;
  throw new TriageError(
    'invalid-config',
    'No token gives access to the API: none is configured, and the database has no admin token. Create one with: faultline token make --name ann --role admin; or set FAULTLINE_TOKENS',
  );
}
