import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { SignInProvider } from '../ports/access.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { renderHiddenFields } from './controls.ts';
import { type Html, html } from './html.ts';
import { parseFields } from './http.ts';
import { answerPage, type ConsoleApp } from './page.ts';
import { banner } from './parts/marks.ts';

const OPEN = { open: 'people who sign in have no session yet; invalid tokens are rate limited' };

/**
 * The local path to open next. Addresses of other hosts, such as `//elsewhere` or `/\elsewhere`, are
 * rejected.
 */
const Next = z
  .string()
  .max(2000)
  .regex(/^\/(?![/\\])[\x21-\x7e]*$/)
  .catch('/')
  .default('/');

/** The fields of a form that was sent after the session had ended. They are sent again to `next`. */
const Held = z.string().max(200_000).catch('').default('');

interface SignInForm {
  readonly next: string;
  /** The reason why the last attempt failed; null on the first. */
  readonly failure: string | null;
  /** True if a form was sent without a session. Then `next` is the target of the form. */
  readonly signedOut: boolean;
  /** The name of an OpenID provider, if there is one. */
  readonly provider: string | null;
  readonly held?: string;
}

/** Registers sign-in, which exchanges a token for a session, and sign-out. */
export function registerSignIn(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get(
    '/sign-in',
    { config: { access: OPEN }, schema: { querystring: z.object({ next: Next }) } },
    async (request, reply) => {
      const main = signInPage({
        next: request.query.next,
        failure: null,
        signedOut: false,
        provider: deps.signIn?.name ?? null,
      });
      return answerPage(request, reply, deps, { title: 'Sign in', main });
    },
  );
  const body = z.object({ token: z.string().max(1000), next: Next, held: Held });
  app.post('/sign-in', { config: { access: OPEN }, schema: { body } }, async (request, reply) => {
    const { token, next, held } = request.body;
    try {
      const { cookie, principal } = await deps.sessions.exchange(request, token.trim());
      deps.logger.info({ principal: principal.name, address: request.ip, by: 'token' }, 'signed in');
      reply.header('set-cookie', cookie);
    } catch (error) {
      if (!(error instanceof TriageError) || error.code !== 'unauthenticated') throw error;
      deps.logger.warn({ address: request.ip, reason: error.message }, 'sign-in refused');
      const waitMs = await deps.countGuess(request);
      const failure =
        waitMs === null
          ? error.message
          : `Too many invalid tokens. Try again in ${Math.max(1, Math.ceil(waitMs / 1000))} s.`;
      const main = signInPage({
        next,
        failure,
        signedOut: held !== '',
        provider: deps.signIn?.name ?? null,
        held,
      });
      const status = waitMs === null ? 401 : 429;
      return answerPage(request, reply, deps, { title: 'Sign in', main }, status);
    }
    if (held === '') return reply.redirect(next, 303);
    const main = sendAgainPage(next, parseFields(held));
    return answerPage(request, reply, deps, { title: 'Signed in', main });
  });
  app.post('/sign-out', { config: { access: OPEN } }, async (request, reply) => {
    reply
      .header('set-cookie', await deps.sessions.end(request))
      .header('clear-site-data', '"cache", "storage"');
    return reply.redirect('/sign-in', 303);
  });
}

export function signInPage({ next, failure, signedOut, provider, held = '' }: SignInForm): Html {
  return html`<div class="stack"><h1 tabindex="-1" class="page-title">Sign in</h1>
    ${signedOut && banner('You were signed out. Nothing you typed is lost: sign in, then send it again.')}
    ${failure !== null && banner(failure, { tone: 'red', id: 'failure' })}
    ${
      provider !== null &&
      html`<p><a class="btn main wide" href="/sign-in/openid?next=${encodeURIComponent(next)}">Sign in with
        ${provider}</a></p>`
    }
    <form method="post" action="/sign-in" data-whole class="stack tight">${renderHiddenFields({ next, held })}
    <label class="field" for="token"><span>Access token</span>
    <input id="token" name="token" type="password" autocomplete="current-password" required
    autofocus${failure !== null && html` aria-describedby="failure" aria-invalid="true"`}></label>
    <button class="wide${provider === null && ' main'}">Sign in</button></form>
    <p class="meta">Behind it: what failed in your builds, why, and whose it is. Faultline prints a token when it
    first starts. To create more, run <code>faultline token make</code>.</p></div>`;
}

/** Renders a form with everything that was typed into a form that could not be accepted. */
function sendAgainPage(next: string, fields: Readonly<Record<string, string | readonly string[]>>): Html {
  const inputs = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => renderHiddenFields({ [name]: value })),
  );
  return html`<div class="notice"><h1 tabindex="-1">You are signed in</h1>
    <p>What you typed before is still here.</p>
    <form method="post" action="${next}" data-whole>${inputs}<button autofocus>Send it again</button></form>
    <p><a href="/">Discard it</a></p></div>`;
}

const OPEN_ELSEWHERE = {
  open: 'people who sign in have no session yet; state, nonce and PKCE tie both halves to one browser',
};
const CALLBACK = '/sign-in/openid/callback';
const MAX_MS = 20_000;

const Begun = z.object({ secrets: z.string(), next: Next });

/** Registers sign-in by OpenID Connect: the redirect and the callback. */
export function registerSignInElsewhere(app: ConsoleApp, deps: ConsoleDeps): void {
  const buildCallbackAddress = ({ protocol, host }: FastifyRequest) =>
    new URL(CALLBACK, deps.config.http.publicUrl ?? `${protocol}://${host}`).href;
  app.get(
    '/sign-in/openid',
    { config: { access: OPEN_ELSEWHERE }, schema: { querystring: z.object({ next: Next }) } },
    async (request, reply) => {
      const { address, secrets } = await requireProvider(deps).begin(
        buildCallbackAddress(request),
        AbortSignal.timeout(MAX_MS),
      );
      const { next } = request.query;
      reply.header('set-cookie', await deps.sessions.keepPending(request, { secrets, next }));
      return reply.redirect(address, 303);
    },
  );
  app.get(CALLBACK, { config: { access: OPEN_ELSEWHERE } }, async (request, reply) => {
    const { secrets, next } = parseBegun(await deps.sessions.takePending(request));
    const query = new URL(request.url, 'http://localhost').search;
    const principal = await requireProvider(deps).finish(
      buildCallbackAddress(request),
      query,
      secrets,
      AbortSignal.timeout(MAX_MS),
    );
    deps.logger.info({ principal: principal.name, address: request.ip, by: 'openid' }, 'signed in');
    reply.header('set-cookie', await deps.sessions.begin(request, principal));
    return reply.redirect(next, 303);
  });
}

function requireProvider({ signIn }: ConsoleDeps): SignInProvider {
  if (signIn === null || signIn === undefined)
    throw new TriageError('invalid-config', 'No OpenID Connect issuer is configured. Sign in with a token.');
  return signIn;
}

function parseBegun(pending: unknown): z.infer<typeof Begun> {
  const begun = Begun.safeParse(pending).data;
  if (begun !== undefined) return begun;
  throw new TriageError(
    'invalid-input',
    'This sign-in was started in another browser, has expired, or is finished. ' +
      'Open /sign-in and start again.',
  );
}
