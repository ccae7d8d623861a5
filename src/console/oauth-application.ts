import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requireInScope } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import type { Finding } from '../ports/health.ts';
import { type Connectable, connect, createOAuthApplication, findProvider } from '../service/connect.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { crumbs, renderHiddenFields } from './controls.ts';
import { type Html, html } from './html.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';
import { banner } from './parts/marks.ts';

const CREATE_PATH = '/settings/oauth';
const GRANT_PATH = '/settings/grant';
/** The page to which a host sends people back who granted the right to create a webhook. */
const RETURN_PATH = '/settings/granted';
const SIGN_IN_PATH = '/sign-in/openid/callback';
/** The time limit of all requests to the host after one press of a button, in milliseconds. */
const LIMIT_MS = 60_000;

/** The choices of what the members of a group may do, as FAULTLINE_OIDC_ROLES has them. */
const GRANTED_ROLES = { read: 'read', 'read+review': 'read and review', admin: 'administer' } as const;

const Provider = z.string().min(1).max(40);
const Credential = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{0,500}$/)
  .default('');
const ApplicationForm = z
  .object({
    provider: Provider,
    act: z.enum(['create', 'use']),
    group: z
      .string()
      .trim()
      .regex(/^[^\s=,]{1,200}$/, 'must be the name of one group, without spaces, or * for everybody'),
    role: z.enum(['read', 'read+review', 'admin']),
    clientId: Credential,
    clientSecret: Credential,
  })
  .refine(({ group, role }) => group !== '*' || role === 'read', {
    error: 'may be * (everybody) for the role read only; name a group for other roles',
    path: ['group'],
  });
const GrantForm = z.object({ provider: Provider, repository: z.string().trim().min(1).max(300) });

/** The query of the host. The sign-in provider checks all of it. */
const ReturnQuery = z.object({ state: z.string().max(500) });

/** A webhook that a person is about to grant, and who that is. */
const PendingGrant = z.object({
  kind: z.literal('webhook'),
  provider: z.string(),
  repository: z.string(),
  secrets: z.string(),
  by: z.string(),
});

/** The part of the page about the OAuth application of a provider. */
interface OAuthPart {
  readonly part: Html;
  /** The origin to which a form leads. Absent if none leads elsewhere. */
  readonly formOrigin?: string;
}

/**
 * Renders the form that creates an OAuth application at a provider's host; or, once people sign in with that
 * host, the form that creates a webhook with the reader's own account. Returns null if the provider has
 * no sign-in.
 */
export async function renderOAuthPart(deps: ConsoleDeps, provider: Connectable): Promise<OAuthPart | null> {
  const { oauth, label } = await provider.connection();
  if (oauth === undefined) return null;
  const { publicUrl } = deps.config.http;
  const heading = html`<h2>OAuth application</h2>`;
  if (publicUrl === null)
    return {
      part: html`${heading}<p class="quiet">People then sign in with their account at ${label}. It needs the
        public address.</p>`,
    };
  if (deps.signIn != null && isSameIssuer(deps.signIn.issuer, oauth.issuer))
    return { part: html`${heading}${grantForm(provider, label)}`, formOrigin: new URL(oauth.issuer).origin };
  if (deps.signIn != null)
    return {
      part: html`${heading}<p class="quiet">People sign in with ${deps.signIn.name} already. To let ${label}
        sign them in instead, unset <code>FAULTLINE_OIDC_ISSUER</code> first.</p>`,
    };
  const groups = html`<p class="acts"><label>Group <input name="group" required maxlength="200"
    placeholder="${oauth.groupExample}"></label> <label>may <select name="role">${Object.entries(
      GRANTED_ROLES,
    ).map(([value, words]) => html`<option value="${value}">${words}</option>`)}</select></label></p>
    <p class="quiet">Groups are named as in ${label}: ${oauth.groupExample}. <code>*</code> is everybody who
    has an account there, and may only read. Add more later in <code>FAULTLINE_OIDC_ROLES</code>.</p>`;
  const hidden = renderHiddenFields({ provider: provider.name });
  return {
    part: html`${heading}<p>With it, people sign in to Faultline with their account at ${label}, and create
      webhooks with it. Choose who may sign in.</p>
      ${
        oauth.create === null
          ? html`<p class="quiet">Without a token of ${label}, create it by hand.</p>`
          : html`<form method="post" action="${CREATE_PATH}" data-whole>${hidden}${groups}
            <p class="acts"><button class="main" name="act" value="create">Create the application</button>
            </p><p class="quiet">This needs a token with ${oauth.right}.</p></form>`
      }
      <details><summary>Create it by hand</summary><p>Open one of these pages and enter what follows.</p>
      <ul>${oauth.pages.map(
        ({ words, address }) => html`<li>Applications ${words}: <code>${address}</code></li>`,
      )}</ul>
      <dl class="kv"><dt>Name</dt><dd>${nameApplication(publicUrl)}</dd><dt>Redirect URIs</dt>
      <dd>${listReturns(publicUrl).map((address) => html`<code>${address}</code><br>`)}</dd>
      <dt>Confidential</dt><dd>yes</dd>${
        oauth.scopes.length > 0 && html`<dt>Scopes</dt><dd>${oauth.scopes.join(', ')}</dd>`
      }</dl><form method="post" action="${CREATE_PATH}" data-whole>${hidden}
      <p class="acts"><label>Client ID <input name="clientId" required maxlength="500" autocomplete="off">
      </label> <label>Client secret <input name="clientSecret" type="password" required maxlength="500"
      autocomplete="off"></label></p>${groups}
      <p class="acts"><button name="act" value="use">Use it</button></p></form></details>`,
  };
}

function grantForm(provider: Connectable, label: string): Html {
  return html`<p>People sign in with ${label}. You can also create a webhook with your own account there:
    Faultline uses that access once and does not store it.</p>
    <form method="post" action="${GRANT_PATH}" data-whole>${renderHiddenFields({ provider: provider.name })}
    <p class="acts"><label>Repository <input name="repository" required maxlength="300"></label>
    <button>Create the webhook with my account</button></p></form>`;
}

/** Registers the routes of OAuth applications: create one, and create a webhook with one's own account. */
export function registerOAuthApplication(app: ConsoleApp, deps: ConsoleDeps): void {
  const { publicUrl } = deps.config.http;
  app.post(CREATE_PATH, route('admin', { body: ApplicationForm }), async (request, reply) => {
    const { act, group, role, clientId, clientSecret } = request.body;
    const provider = findProvider(deps.providers, request.body.provider);
    const { oauth, label } = await provider.connection();
    if (oauth === undefined || publicUrl === null)
      throw new TriageError('invalid-input', `${label} has no OAuth application to create here.`);
    if (deps.signIn != null)
      throw new TriageError('conflict', `People sign in with ${deps.signIn.name} already.`);
    if (act === 'use' && (clientId === '' || clientSecret === ''))
      throw new TriageError('invalid-input', 'Enter the client ID and the client secret.');
    const application = { name: nameApplication(publicUrl), returnTo: listReturns(publicUrl) };
    const made =
      act === 'use'
        ? { clientId, clientSecret }
        : await createOAuthApplication(provider, application, AbortSignal.timeout(LIMIT_MS));
    const settings = {
      FAULTLINE_OIDC_ISSUER: oauth.issuer,
      FAULTLINE_OIDC_CLIENT_ID: made.clientId,
      FAULTLINE_OIDC_CLIENT_SECRET: made.clientSecret,
      FAULTLINE_OIDC_GROUPS_CLAIM: oauth.groupsClaim,
      FAULTLINE_OIDC_ROLES: `${group}=${role}`,
    };
    await deps.keepSettings?.(settings);
    deps.logger.info(
      { provider: provider.name, act, group, role, by: request.principal?.name },
      'an OAuth application was set up',
    );
    return answerPage(request, reply.header('cache-control', 'no-store'), deps, {
      part: 'settings',
      title: 'OAuth application',
      top: crumbs([html`<a href="/settings">Settings</a>`, 'OAuth application']),
      main: createdMain(settings, label, deps.keepSettings !== undefined),
    });
  });
  app.post(GRANT_PATH, route('admin', { body: GrantForm }), async (request, reply) => {
    const provider = findProvider(deps.providers, request.body.provider);
    const { repository } = request.body;
    requireInScope(request.principal, repository);
    const { signIn, webhookScope } = await requireGrants(deps, provider);
    const { address, secrets } = await signIn.begin(
      new URL(RETURN_PATH, publicUrl ?? undefined).href,
      AbortSignal.timeout(LIMIT_MS),
      webhookScope,
    );
    const by = request.principal?.name ?? '';
    const pending = { kind: 'webhook', provider: provider.name, repository, secrets, by } as const;
    reply.header('set-cookie', await deps.sessions.keepPending(request, pending));
    return reply.redirect(address, 303);
  });
  app.get(RETURN_PATH, route('admin', { querystring: ReturnQuery }), async (request, reply) => {
    const { provider: name, repository, secrets } = await takeGrant(request, deps);
    const provider = findProvider(deps.providers, name);
    const { signIn } = await requireGrants(deps, provider);
    const signal = AbortSignal.timeout(LIMIT_MS);
    const query = new URL(request.url, 'http://localhost').search;
    const callback = new URL(RETURN_PATH, publicUrl ?? undefined).href;
    const grant = await signIn.redeem(callback, query, secrets, signal).catch(toForbidden);
    const asked = {
      repository,
      address: publicUrl === null ? null : `${publicUrl.replace(/\/$/, '')}${provider.webhook.path}`,
      secret: provider.webhook.secrets[0] ?? null,
      create: true,
      test: false,
      grantedToken: grant.token,
    };
    const findings: Finding[] = [];
    try {
      for await (const finding of connect(provider, asked, signal)) findings.push(finding);
    } finally {
      await grant.end();
    }
    const states = findings.map(({ state }) => state);
    deps.logger.info({ provider: name, repository, by: request.principal?.name, states }, 'a grant was used');
    const masked = await deps.masker.maskAll(findings.map(({ says }) => says));
    return answerPage(request, reply.header('cache-control', 'no-store'), deps, {
      part: 'settings',
      title: 'Webhook',
      top: crumbs([html`<a href="/settings">Settings</a>`, 'Webhook']),
      main: html`<h1 tabindex="-1">Webhook of ${repository}</h1><ul>${findings.map(
        ({ name: what, state, remedy }, index) =>
          html`<li><strong>${WORDS[state]}</strong> · ${what}: ${masked[index]?.text ?? ''}${
            remedy !== undefined && html`<br><span class="quiet">${remedy}</span>`
          }</li>`,
      )}</ul>`,
    });
  });
}

/** Converts the error of a person who is signed in here, but was refused by the host. */
function toForbidden(cause: unknown): never {
  if (!(cause instanceof TriageError) || cause.code !== 'unauthenticated') throw cause;
  throw new TriageError('forbidden', cause.message, { cause });
}

const WORDS = { ok: 'OK', note: 'Note', wrong: 'Wrong' } as const;

/** Returns what this browser and person began here, once. Throws `forbidden` for anything else. */
async function takeGrant(request: FastifyRequest, deps: ConsoleDeps): Promise<z.infer<typeof PendingGrant>> {
  const pending = PendingGrant.safeParse(await deps.sessions.takePending(request)).data;
  if (pending !== undefined && pending.by === request.principal?.name) return pending;
  throw new TriageError(
    'forbidden',
    'This was started in another browser or more than ten minutes ago, or it is finished. ' +
      'Open Settings and start again.',
  );
}

async function requireGrants({ signIn, config }: ConsoleDeps, provider: Connectable) {
  const { oauth, label } = await provider.connection();
  if (signIn == null || oauth === undefined || !isSameIssuer(signIn.issuer, oauth.issuer))
    throw new TriageError('invalid-config', `Nobody signs in with ${label}: set up the application first.`);
  if (config.http.publicUrl === null)
    throw new TriageError('invalid-config', 'The public address is not set. Set FAULTLINE_PUBLIC_URL.');
  return { signIn, webhookScope: oauth.webhookScope };
}

function createdMain(settings: Readonly<Record<string, string>>, label: string, isKept: boolean): Html {
  const lines = Object.entries(settings).map(([setting, value]) => `${setting}="${value}"`);
  return html`<h1 tabindex="-1">The OAuth application is set up</h1>${
    isKept
      ? banner('Its settings are in secrets.json of the data directory.', { tone: 'green' })
      : html`${banner('The secret is shown this once. Add these to the other settings of the service.', {
          tone: 'amber',
        })}<pre>${lines.join('\n')}</pre>`
  }<ol><li>Restart Faultline, so that it uses the application.</li>
    <li>Open <code>/sign-in</code>: “Sign in with” leads to ${label}.</li>
    <li>Settings then creates webhooks with your account, too.</li></ol>`;
}

function nameApplication(publicUrl: string): string {
  return `Faultline ${new URL(publicUrl).hostname}`;
}

function listReturns(publicUrl: string): string[] {
  return [SIGN_IN_PATH, RETURN_PATH].map((path) => new URL(path, publicUrl).href);
}

function isSameIssuer(left: string, right: string): boolean {
  return left.replace(/\/$/, '') === right.replace(/\/$/, '');
}
