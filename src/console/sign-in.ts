import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { SignInProvider } from '../ports/access.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { renderHiddenFields } from './controls.ts';
import { type Html, html } from './html.ts';
import { MAX_HELD_BYTES, parseFields } from './http.ts';
import { answerPage, type ConsoleApp } from './page.ts';
import { banner } from './parts/marks.ts';

const TOKEN_ACCESS = { open: 'people who sign in have no session yet; invalid tokens are rate limited' };
const SIGN_OUT_ACCESS = {
  open: 'it ends only the session of this browser, and works if that has already ended',
};

/** The local path to open next. Anything else, such as `//example.com` or `/\example.com`, becomes `/`. */
const Next = z
  .string()
  .max(2000)
  .regex(/^\/(?![/\\])[\x21-\x7e]*$/)
  .catch('/')
  .default('/');

/**
 * The URL-encoded body of a form that was submitted without a session. It is sent to `next` after sign-in. A
 * longer one is dropped.
 */
const Held = z.string().max(MAX_HELD_BYTES).catch('').default('');
/** The maximum size of the sign-in form in bytes. Each byte of the kept form may be encoded as three. */
const MAX_SIGN_IN_BYTES = 3 * MAX_HELD_BYTES + 16 * 1024;

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
    { config: { access: TOKEN_ACCESS }, schema: { querystring: z.object({ next: Next }) } },
    async (request, reply) => {
      const main = renderSignInPage({
        next: request.query.next,
        failure: null,
        signedOut: false,
        provider: deps.signIn?.name ?? null,
      });
      return answerPage(request, reply, deps, { title: 'Sign in', main });
    },
  );
  const body = z.object({ token: z.string().max(1000), next: Next, held: Held });
  const options = { config: { access: TOKEN_ACCESS }, schema: { body }, bodyLimit: MAX_SIGN_IN_BYTES };
  app.post('/sign-in', options, async (request, reply) => {
    const { token, next, held } = request.body;
    try {
      const { cookie, principal } = await deps.sessions.exchange(request, token.trim());
      deps.logger.info({ principal: principal.name, address: request.ip, by: 'token' }, 'signed in');
      reply.header('set-cookie', cookie);
    } catch (error) {
      if (!(error instanceof TriageError) || error.code !== 'unauthenticated') throw error;
      deps.logger.warn({ address: request.ip, reason: error.message }, 'sign-in refused');
      const waitMs = await deps.countGuess(request, token.trim());
      const failure =
        waitMs === null
          ? error.message
          : `Too many invalid tokens. Try again in ${Math.max(1, Math.ceil(waitMs / 1000))} s.`;
      const main = renderSignInPage({
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
    const main = renderResubmitPage(next, parseFields(held));
    return answerPage(request, reply, deps, { title: 'Signed in', main });
  });
  app.post('/sign-out', { config: { access: SIGN_OUT_ACCESS } }, async (request, reply) => {
    reply
      .header('set-cookie', await deps.sessions.end(request))
      .header('clear-site-data', '"cache", "storage"');
    return reply.redirect('/sign-in', 303);
  });
}

/** Renders the sign-in page: the form for a token, and the link to the OpenID provider if there is one. */
export function renderSignInPage({ next, failure, signedOut, provider, held = '' }: SignInForm): Html {
  return html`<div class="stack"><h1 tabindex="-1" class="page-title">Sign in</h1>
    ${
      signedOut &&
      banner(
        held === ''
          ? 'You were signed out. Sign in, then enter your input again.'
          : 'You were signed out. Your input is kept: sign in, then send it again.',
      )
    }
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
    <p class="meta">Faultline shows what failed in your builds, why, and whether your change caused it. An
    embedded installation prints a token when it starts. To create one, run
    <code>faultline token make</code>.</p></div>`;
}

/**
 * Renders the fields of a form that was submitted without a session, with a button that sends them to `next`.
 */
function renderResubmitPage(
  next: string,
  fields: Readonly<Record<string, string | readonly string[]>>,
): Html {
  const inputs = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => renderHiddenFields({ [name]: value })),
  );
  return html`<div class="notice"><h1 tabindex="-1">You are signed in</h1>
    <p>What you typed before is still here.</p>
    <form method="post" action="${next}" data-whole>${inputs}<button autofocus>Send it again</button></form>
    <p><a href="/">Discard it</a></p></div>`;
}

const OPENID_ACCESS = {
  open: 'people who sign in have no session yet; state, nonce and PKCE bind the callback to their browser',
};
const CALLBACK = '/sign-in/openid/callback';
const PROVIDER_TIMEOUT_MS = 20_000;

const PendingSignIn = z.object({ secrets: z.string(), next: Next });

/** Registers sign-in by OpenID Connect: the redirect and the callback. */
export function registerOpenIdSignIn(app: ConsoleApp, deps: ConsoleDeps): void {
  const buildCallbackAddress = ({ protocol, host }: FastifyRequest) =>
    new URL(CALLBACK, deps.config.http.publicUrl ?? `${protocol}://${host}`).href;
  app.get(
    '/sign-in/openid',
    { config: { access: OPENID_ACCESS }, schema: { querystring: z.object({ next: Next }) } },
    async (request, reply) => {
      const { address, secrets } = await requireProvider(deps).begin(
        buildCallbackAddress(request),
        AbortSignal.timeout(PROVIDER_TIMEOUT_MS),
      );
      const { next } = request.query;
      reply.header('set-cookie', await deps.sessions.keepPending(request, { secrets, next }));
      return reply.redirect(address, 303);
    },
  );
  app.get(CALLBACK, { config: { access: OPENID_ACCESS } }, async (request, reply) => {
    const { secrets, next } = parsePendingSignIn(await deps.sessions.takePending(request));
    const query = new URL(request.url, 'http://localhost').search;
    const principal = await requireProvider(deps).finish(
      buildCallbackAddress(request),
      query,
      secrets,
      AbortSignal.timeout(PROVIDER_TIMEOUT_MS),
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

function parsePendingSignIn(pending: unknown): z.infer<typeof PendingSignIn> {
  const parsed = PendingSignIn.safeParse(pending).data;
  if (parsed !== undefined) return parsed;
  throw new TriageError(
    'invalid-input',
    'This sign-in was started in another browser, has expired, or is finished. ' +
      'Open /sign-in and start again.',
  );
}
