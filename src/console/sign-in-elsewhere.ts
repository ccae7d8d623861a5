import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { SignInProvider } from '../ports/access.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { Next } from './sign-in.ts';

const OPEN = { open: 'whoever signs in is not signed in yet; state, nonce and PKCE tie both halves to one browser' };
const CALLBACK = '/sign-in/openid/callback';
const LONGEST_MS = 20_000;

const Begun = z.object({ secrets: z.string(), next: Next });

/** Signing in by OpenID Connect: there and back. */
export function registerSignInElsewhere(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const callbackOf = ({ protocol, host }: FastifyRequest) => new URL(CALLBACK, deps.config.http.publicUrl ?? `${protocol}://${host}`).href;
  typed.get('/sign-in/openid', { config: { access: OPEN }, schema: { querystring: z.object({ next: Next }) } }, async (request, reply) => {
    const { address, secrets } = await providerOf(deps).begin(callbackOf(request), AbortSignal.timeout(LONGEST_MS));
    reply.header('set-cookie', deps.sessions.remember(request, JSON.stringify({ secrets, next: request.query.next })));
    return reply.redirect(address, 303);
  });
  typed.get(CALLBACK, { config: { access: OPEN } }, async (request, reply) => {
    const { secrets, next } = begunIn(deps.sessions.remembered(request));
    const query = new URL(request.url, 'http://localhost').search;
    const principal = await providerOf(deps).finish(callbackOf(request), query, secrets, AbortSignal.timeout(LONGEST_MS));
    deps.logger.info({ principal: principal.name, address: request.ip, by: 'openid' }, 'signed in');
    reply.header('set-cookie', [await deps.sessions.begin(request, principal), deps.sessions.remember(request, '')]);
    return reply.redirect(next, 303);
  });
}

function providerOf({ signIn }: ConsoleDeps): SignInProvider {
  if (signIn === null || signIn === undefined)
    throw new TriageError('invalid-config', 'No OpenID Connect issuer is configured. Sign in with a token.');
  return signIn;
}

function begunIn(remembered: string | null): z.infer<typeof Begun> {
  try {
    return Begun.parse(JSON.parse(remembered ?? ''));
  } catch {
    throw new TriageError('invalid-input', 'This sign-in was started in another browser or has expired. Open /sign-in and start again.');
  }
}
