import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { registerAnswerPage } from './answer/answer-page.ts';
import { registerPictures } from './answer/pictures.ts';
import { registerAppRegistration } from './app-registration.ts';
import { registerAskPages } from './ask.ts';
import { registerRepositoryAskPages } from './ask-repository.ts';
import { registerAssets } from './assets.ts';
import { registerBuildList } from './build-list.ts';
import { registerBuildPage } from './builds.ts';
import { registerCauses } from './causes/causes-page.ts';
import { registerRerun } from './ci-links.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { registerGo } from './go.ts';
import { type Html, html } from './html.ts';
import { acceptForms, readRefusedForm, sendEvents } from './http.ts';
import { registerInsightsPages } from './insights/insights-pages.ts';
import { registerLibraryPages } from './library.ts';
import { registerLogs } from './logs/log-pages.ts';
import { registerNotifications } from './notifications/notifications.ts';
import { registerOAuthApplication } from './oauth-application.ts';
import { registerOverview } from './overview/overview-page.ts';
import { type ConsoleApp, loadErrorReader, loadReader, route, sendPage } from './page.ts';
import { registerPaste } from './paste.ts';
import { registerBulkDecisions } from './review/bulk-routes.ts';
import { registerDecisions, registerHolding } from './review/decision-routes.ts';
import { registerItem } from './review/item-routes.ts';
import { registerQueue } from './review/queue.ts';
import { registerRunPages } from './runs.ts';
import { registerSearch } from './search.ts';
import { registerMe, registerSettings } from './settings.ts';
import { registerOpenIdSignIn, registerSignIn, renderSignInPage } from './sign-in.ts';

/**
 * Registers the pages for people. Every page works without scripts, and every route is marked by
 * `config.console`.
 */
export async function registerConsole(app: FastifyInstance, deps: ConsoleDeps): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, console: true };
    route.schema = { ...route.schema, hide: true };
  });
  acceptForms(app);
  registerErrorPages(app, deps);
  registerAssets(app);
  const pages: ConsoleApp = app.withTypeProvider<ZodTypeProvider>();
  for (const register of PAGES) register(pages, deps);
}

/** The maximum duration of an event stream, in milliseconds. The page then reconnects. */
const MAX_MS = 30 * 60_000;

const EventsQuery = z.object({
  /** The build whose changes are reported. If absent, all changes are reported. */
  build: z.string().max(300).optional().catch(undefined),
  /** The age of the requesting page in milliseconds. */
  age: z.coerce.number().int().min(0).max(86_400_000).catch(0).default(0),
});

/**
 * Registers `/events`, which reports that something visible to the reader changed, but not what. The page
 * then loads again.
 */
function registerEvents(app: ConsoleApp, { changes, countStream }: ConsoleDeps): void {
  const options = { ...route('read', { querystring: EventsQuery }), exposeHeadRoute: false };
  app.get('/events', options, async (request, reply) => {
    const { build, age } = request.query;
    const followed = { repositories: null, buildId: build ?? null };
    const hasMissed = await changes.since(followed, age);
    const leave = countStream(request);
    return sendEvents(request, reply, async (emit, signal) => {
      const tell = () => emit('change', '');
      const unfollow = changes.follow(followed, tell);
      if (hasMissed) tell();
      await wait(MAX_MS, undefined, { signal: AbortSignal.any([signal, changes.stopping]) }).catch(
        () => undefined,
      );
      unfollow();
      leave();
    });
  });
}

const PAGES: readonly ((app: ConsoleApp, deps: ConsoleDeps) => void)[] = [
  registerSignIn,
  registerOpenIdSignIn,
  registerMe,
  registerOverview,
  registerPaste,
  registerEvents,
  registerSearch,
  registerGo,
  registerCauses,
  registerNotifications,
  registerQueue,
  registerBulkDecisions,
  registerItem,
  registerDecisions,
  registerHolding,
  registerLibraryPages,
  registerAnswerPage,
  registerPictures,
  registerBuildList,
  registerBuildPage,
  registerRerun,
  registerRunPages,
  registerLogs,
  registerInsightsPages,
  registerAskPages,
  registerRepositoryAskPages,
  registerSettings,
  registerAppRegistration,
  registerOAuthApplication,
];

const TITLES: Readonly<Record<number, string>> = {
  400: 'Invalid address or form',
  401: 'Sign in first',
  403: 'You do not have permission to do this',
  404: 'Page not found',
  409: 'Someone else changed this first',
  413: 'Request too large',
  415: 'Unsupported content',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
  504: 'Request timed out',
};

/** Renders errors as pages that state the problem, its cause, and the next step. */
function registerErrorPages(app: FastifyInstance, deps: ConsoleDeps): void {
  app.setErrorHandler(async (thrown, request, reply) => {
    const error = await limitWrongTokens(thrown, request, deps);
    const { status, message } = deps.refused(error, request, reply);
    if (status === 401) return await askToSignIn(message, request, reply, deps);
    const title = TITLES[status] ?? 'Something went wrong';
    const main = errorBody(title, message, status, request.id);
    return sendPage(request, reply, { title, main }, await loadErrorReader(request, deps), status);
  });
}

/**
 * Sends the page for an unknown address. No route has checked the user, so an existing session is used, and
 * none is required.
 */
export async function sendUnknownPage(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
): Promise<FastifyReply> {
  const principal = await deps.sessions.find(request).catch(() => null);
  const seen: FastifyRequest = Object.assign(Object.create(request), { principal: null });
  const path = (request.url.split('?')[0] ?? '').slice(0, 200);
  const ways =
    principal === null
      ? html`<a class="btn" href="/sign-in">Sign in</a>`
      : html`<a class="btn" href="/builds">Builds</a>`;
  const main = html`<div class="notice"><h1 tabindex="-1">Page not found</h1>
    <p>There is no page ${path}. It may have moved, or the address is mistyped.</p>
    <p class="acts"><a class="btn" href="/">Start page</a> ${ways}
    <a class="btn" href="/docs">API</a></p></div>`;
  const reader = { ...(await loadReader(seen, deps)), principal };
  return sendPage(request, reply, { title: 'Page not found', main }, reader, 404);
}

/** Replaces the error with one that asks the user to wait, if there were too many wrong tokens. */
async function limitWrongTokens(
  thrown: unknown,
  request: FastifyRequest,
  deps: ConsoleDeps,
): Promise<unknown> {
  if (!(thrown instanceof TriageError) || thrown.code !== 'unauthenticated') return thrown;
  const showsToken = request.headers.authorization !== undefined;
  const waitMs = showsToken ? await deps.countGuess(request) : null;
  if (waitMs === null) return thrown;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const message = `Too many invalid tokens from this address. Try again in ${seconds} s.`;
  return new TriageError('rate-limited', message, { retryable: true, retryAfterMs: waitMs });
}

/**
 * Sends the sign-in page. After signing in, the requested page is opened again, or the submitted form is sent
 * again.
 */
async function askToSignIn(
  message: string,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
): Promise<FastifyReply> {
  const signingIn = request.url.startsWith('/sign-in');
  // Clients that send a token are not browsers, so they get an error about the token.
  if (request.method === 'GET' && !signingIn && request.headers.authorization === undefined) {
    return reply
      .removeHeader('www-authenticate')
      .redirect(`/sign-in?next=${encodeURIComponent(request.url)}`, 303);
  }
  const body = await readRefusedForm(request);
  const hasToken = request.headers.authorization !== undefined;
  const [next, failure] = signingIn ? ['/', message] : [request.url, hasToken ? message : null];
  const main = renderSignInPage({
    next,
    failure,
    signedOut: !signingIn && !hasToken,
    provider: deps.signIn?.name ?? null,
    held: body,
  });
  return sendPage(request, reply, { title: 'Sign in', main }, await loadErrorReader(request, deps), 401);
}

function errorBody(title: string, message: string, status: number, requestId: string): Html {
  const retry = status >= 500 || status === 429;
  return html`<div class="notice"><h1 tabindex="-1">${title}</h1><p>${message}</p>
    ${retry && html`<p>Your decisions are saved. <a class="btn" href="">Try again</a></p>`}
    <p class="quiet">Request ${requestId}. <a href="/">Start page</a></p></div>`;
}
