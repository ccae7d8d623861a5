import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { requireInScope } from '../domain/access.ts';
import type { Finding } from '../ports/examination.ts';
import { type Connectable, connect, providerNamed, webhookAddress } from '../service/connect.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { dataTable, type Html, html } from './html.ts';
import { readerOf, sendPage } from './page.ts';

const access = { role: 'admin' } as const;
/** Of all that one press of a button asks. */
const LIMIT_MS = 60_000;

const Name = z.string().min(1).max(40);
const Query = z.object({ provider: Name.optional() });
const Body = z.object({ provider: Name, repository: z.string().trim().max(300).default(''), act: z.enum(['check', 'create', 'test']) });

/** `/settings`: which CI systems are connected, and how each is. */
export function registerSettings(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const frame = { place: 'page', part: 'settings' } as const;
  const { publicUrl } = deps.config.http;
  typed.get('/settings', { config: { access }, schema: { querystring: Query } }, async (request, reply) => {
    const { provider: name } = request.query;
    const shown = (provider: Connectable) => providerMain({ provider, publicUrl, repository: '', findings: null });
    const main = await (name === undefined ? listMain(deps.providers, publicUrl) : shown(providerNamed(deps.providers, name)));
    return sendPage(request, reply, { ...frame, title: 'Settings', main }, await readerOf(request, deps));
  });
  typed.post('/settings', { config: { access }, schema: { body: Body } }, async (request, reply) => {
    const provider = providerNamed(deps.providers, request.body.provider);
    const { act, repository } = request.body;
    if (repository !== '') requireInScope(request.principal, repository);
    const asked = {
      repository: repository === '' ? null : repository,
      address: publicUrl === null ? null : webhookAddress(provider, publicUrl),
      secret: provider.webhook.secrets[0] ?? null,
      ...{ create: act === 'create', test: act === 'test' },
    };
    deps.logger.info({ provider: provider.name, act, repository, by: request.principal?.name }, 'connection examined');
    const findings: Finding[] = [];
    for await (const finding of connect(provider, asked, AbortSignal.timeout(LIMIT_MS))) findings.push(finding);
    const masked = await deps.masker.maskAll(findings.map(({ says }) => says));
    const shown = findings.map((finding, index) => ({ ...finding, says: masked[index]?.text ?? '' }));
    const main = await providerMain({ provider, publicUrl, repository, findings: shown });
    const said = shown.some(({ state }) => state === 'wrong') ? 'Problems found.' : 'No problems found.';
    return sendPage(request, reply, { ...frame, title: 'Settings', main, said }, await readerOf(request, deps));
  });
}

async function listMain(providers: readonly Connectable[], publicUrl: string | null): Promise<Html> {
  const rows = await Promise.all(
    providers.map(async (provider) => {
      const { label } = await provider.connection();
      const state = provider.webhook.secrets.length > 0 ? 'accepts webhooks' : 'no webhook secret';
      return html`<tr><th scope="row"><a href="/settings?provider=${provider.name}">${label}</a></th><td>${state}</td><td><code>${publicUrl === null ? provider.webhook.path : webhookAddress(provider, publicUrl)}</code></td></tr>`;
    }),
  );
  return html`<h1 tabindex="-1">Settings</h1>
<h2>CI systems</h2>
${publicUrl === null && html`<p class="quiet">The public address of this service is not set. Set <code>FAULTLINE_PUBLIC_URL</code>.</p>`}
${dataTable('CI systems', ['System', 'State', 'Webhook'], rows)}
<p class="quiet">Any other CI uploads its builds to <code>POST /api/builds</code>.</p>`;
}

interface Shown {
  readonly provider: Connectable;
  readonly publicUrl: string | null;
  /** As it was typed. */
  readonly repository: string;
  /** Null: nothing was asked yet. */
  readonly findings: readonly Finding[] | null;
}

async function providerMain({ provider, publicUrl, repository, findings }: Shown): Promise<Html> {
  const { label, page, events, rights, clicks, secretSetting, tokenSetting, hooks } = await provider.connection();
  const { secrets, accepts, path } = provider.webhook;
  const address = publicUrl === null ? `https://YOUR-FAULTLINE${path}` : webhookAddress(provider, publicUrl);
  return html`<h1 tabindex="-1">Connect ${label}</h1>
${findings !== null && findingsPart(findings)}
<h2>Webhook</h2>
<dl class="facts"><dt>Address</dt><dd><code>${address}</code>${publicUrl === null && ' (set FAULTLINE_PUBLIC_URL)'}</dd>
<dt>Secret</dt><dd>${secrets.length > 0 ? html`the value of <code>${secretSetting}</code>` : html`none yet: create one with <code>openssl rand -hex 32</code>, set it as <code>${secretSetting}</code>, and restart the service`}</dd>
<dt>Content type</dt><dd>${accepts[0]}</dd><dt>Events</dt><dd>${events.join(', ')}</dd></dl>
<h2>Setup by hand</h2>
<ol>${clicks.map((click) => html`<li>${click}</li>`)}</ol>
<h2>Token permissions</h2>
<p>The token is set as <code>${tokenSetting}</code>.</p>
<ul>${rights.map(({ right, why }) => html`<li><strong>${right}</strong>: ${why}</li>`)}</ul>
<h2>Test the connection</h2>
<form method="post" action="/settings" data-whole><input type="hidden" name="provider" value="${provider.name}">
${'because' in hooks ? html`<p class="quiet">Permissions and webhooks cannot be checked here: ${hooks.because}.</p>` : html`<p><label>Repository (${hooks.of}) <input name="repository" value="${repository}" maxlength="300"></label></p>`}
<p class="acts"><button class="first" name="act" value="check">Check</button> <button name="act" value="test">Send a test delivery</button>${!('because' in hooks) && html` <button name="act" value="create">Create the webhook</button>`}</p></form>
<p class="quiet">The same in a terminal: <code>faultline connect ${provider.name}</code>. More: <code>${page}</code>.</p>`;
}

const STATES = { ok: 'OK', note: 'Note', wrong: 'Wrong' } as const;

function findingsPart(findings: readonly Finding[]): Html {
  const isWell = findings.every(({ state }) => state !== 'wrong');
  const rows = findings.map(
    ({ state, name, says, mend }) =>
      html`<li><strong>${STATES[state]}</strong> · ${name}: ${says}${mend !== undefined && html`<br><span class="quiet">${mend}</span>`}</li>`,
  );
  return html`<div class="banner ${isWell ? 'good' : 'bad'}"><p><strong>${isWell ? 'No problems found.' : 'Problems found.'}</strong></p><ul>${rows}</ul></div>`;
}
