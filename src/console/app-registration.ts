import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { type Connectable, findProvider, getWebhookAddress, requestNewApp } from '../service/connect.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { crumbs, renderHiddenFields } from './controls.ts';
import { type Html, html } from './html.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';
import { banner } from './parts/marks.ts';

/** The page to which a code host sends people back. */
const RETURN_PATH = '/settings/app';
/** The time limit of asking for the credentials, in milliseconds. */
const LIMIT_MS = 30_000;

/** The login of an organization, or undefined if the text is not a valid one. */
export const Organization = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}$/)
  .optional()
  .catch(undefined);

/** A registration that a person has yet to confirm, and who began it. */
const PendingRegistration = z.object({ provider: z.string(), state: z.string().min(32), by: z.string() });
type PendingRegistration = z.infer<typeof PendingRegistration>;

/** The part of the page about the App of a provider: a form that creates one, or a notice. */
interface AppForm {
  readonly part: Html;
  /** The origin to which the form is sent. Absent if there is only a notice. */
  readonly formOrigin?: string;
}

/**
 * Renders the form that creates an App for a provider, or a notice if an App is configured or the public
 * address is not set. The state of the form is valid once, for this browser and person. Returns null if the
 * provider has no Apps.
 */
export async function renderAppForm(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
  provider: Connectable,
  organization: string | undefined,
): Promise<AppForm | null> {
  const { app } = await provider.connection();
  if (app === undefined) return null;
  const { publicUrl } = deps.config.http;
  if (app.isConfigured)
    return {
      part: section(html`<p class="quiet">An App is configured. It takes precedence over a token.</p>`),
    };
  if (publicUrl === null)
    return {
      part: section(html`<p class="quiet">An App brings its own webhook and permissions, and is created here
        with one press. It needs the public address.</p>`),
    };
  const by = request.principal?.name ?? '';
  const begun = PendingRegistration.safeParse(await deps.sessions.findPending(request)).data;
  const isBegun = begun?.provider === provider.name && begun.by === by;
  const state = isBegun ? begun.state : randomBytes(32).toString('base64url');
  if (!isBegun) {
    const pending: PendingRegistration = { provider: provider.name, state, by };
    reply.header('set-cookie', await deps.sessions.keepPending(request, pending));
  }
  const { address, manifest } = app.describe({
    publicUrl,
    webhook: getWebhookAddress(provider, publicUrl),
    returnTo: new URL(RETURN_PATH, publicUrl).href,
    organization: organization ?? null,
  });
  return {
    formOrigin: new URL(address).origin,
    part: section(html`<p>The button opens the page on which you confirm the new App. Its webhook, its
      events and these permissions are filled in: ${app.permissions.join(', ')}. Faultline then receives
      its key and its webhook secret.</p>
      <form method="post" action="${address}?state=${state}" data-whole>
      ${renderHiddenFields({ manifest: JSON.stringify(manifest) })}
      <p class="acts"><button class="main">Create the App ${
        organization === undefined ? 'in your account' : html`in ${organization}`
      }</button></p></form>
      <form method="get" action="/settings" data-whole>${renderHiddenFields({ provider: provider.name })}
      <p class="acts"><label>Or in an organization <input name="organization" maxlength="39"
      value="${organization ?? ''}"></label> <button>Choose</button></p></form>`),
  };
}

function section(content: Html): Html {
  return html`<h2>With an App</h2>${content}`;
}

const ReturnQuery = z.object({ code: z.string().regex(/^[\w-]{1,200}$/), state: z.string().max(200) });

/** Registers the page to which the code host sends people back with a code for the App's credentials. */
export function registerAppRegistration(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get(RETURN_PATH, route('admin', { querystring: ReturnQuery }), async (request, reply) => {
    const { code, state } = request.query;
    const begun = PendingRegistration.safeParse(await deps.sessions.findPending(request)).data;
    const isOurs = begun !== undefined && isEqual(begun.state, state) && begun.by === request.principal?.name;
    const pending = isOurs ? await deps.sessions.takePending(request) : null;
    if (begun === undefined || pending === null)
      throw new TriageError(
        'forbidden',
        'This setup was started in another browser or more than ten minutes ago, or it is finished. ' +
          'Look at Settings. If no App is configured there, delete the new App at its host and start again.',
      );
    const provider = findProvider(deps.providers, begun.provider);
    const made = await requestNewApp(provider, code, AbortSignal.timeout(LIMIT_MS));
    await deps.keepSettings?.(made.settings);
    deps.logger.info(
      { provider: begun.provider, app: made.name, by: request.principal?.name },
      'an App was created',
    );
    return answerPage(request, reply.header('cache-control', 'no-store'), deps, {
      part: 'settings',
      title: 'App created',
      top: crumbs([html`<a href="/settings">Settings</a>`, 'App created']),
      main: createdMain(made, deps.keepSettings !== undefined),
    });
  });
}

type NewApp = Awaited<ReturnType<typeof requestNewApp>>;

function createdMain({ name, installAt, settings }: NewApp, isKept: boolean): Html {
  const lines = Object.entries(settings).map(
    ([setting, value]) => `${setting}="${value.trim().replaceAll('\n', '\\n')}"`,
  );
  return html`<h1 tabindex="-1">${name} was created</h1>${
    isKept
      ? banner('Its key and its webhook secret are in secrets.json of the data directory.', { tone: 'green' })
      : html`${banner('These secrets are shown this once. Add them to the other settings of the service.', {
          tone: 'amber',
        })}<pre>${lines.join('\n')}</pre>`
  }<ol><li><a href="${installAt}" rel="noreferrer">Install the App</a> on your repositories.</li>
    <li>Restart Faultline, so that it uses the App.</li>
    <li>Check it with <code>faultline doctor</code>.</li></ol>`;
}

function isEqual(left: string, right: string): boolean {
  const [first, second] = [Buffer.from(left), Buffer.from(right)];
  return first.length === second.length && timingSafeEqual(first, second);
}
