import type { Config } from '../config/schema.ts';
import type { SignInProvider } from '../ports/access.ts';

/** Who signs people in beside tokens; null where nobody is configured. */
export async function openSignIn({ auth }: Pick<Config, 'auth'>): Promise<SignInProvider | null> {
  const { issuer, clientId, ...rest } = auth.openId;
  if (issuer === null || clientId === null) return null;
  return (await import('../adapters/identity/openid.ts')).createOpenIdProvider({ issuer, clientId, ...rest });
}
