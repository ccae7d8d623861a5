import { z } from 'zod';
import { EditorTemplate, type Preferences, requireInScope } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import { holds, type Principal } from '../domain/review.ts';
import { formatCount, splitList, startUpper } from '../lib/text.ts';
import type { Finding } from '../ports/health.ts';
import {
  type Connectable,
  connect,
  findProvider,
  getWebhookAddress,
  MADE_SECRETS,
} from '../service/connect.ts';
import { Organization, renderAppForm } from './app-registration.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { crumbs, formatAge, KEYS, renderHiddenFields, renderTime, tabs } from './controls.ts';
import { dataTable, type Html, html } from './html.ts';
import { renderOAuthPart } from './oauth-application.ts';
import { answerPage, type ConsoleApp, loadReader, route, sendPage } from './page.ts';
import { banner, stateMark, type Tone } from './parts/marks.ts';
import { unreadLogs } from './unread-logs.ts';

/** The time limit of all requests of one button press, in milliseconds. */
const LIMIT_MS = 60_000;

const Name = z.string().min(1).max(40);
const SettingsQuery = z.object({
  provider: Name.optional(),
  organization: Organization,
  list: z.enum(['systems', 'service']).catch('systems').default('systems'),
});
const SettingsForm = z.object({
  provider: Name,
  repository: z.string().trim().max(300).default(''),
  act: z.enum(['check', 'create', 'test']),
});

/** Registers `/settings`, the connected CI systems and the state of each. */
export function registerSettings(app: ConsoleApp, deps: ConsoleDeps): void {
  const { publicUrl } = deps.config.http;
  app.get('/settings', route('admin', { querystring: SettingsQuery }), async (request, reply) => {
    const { provider: name, list, organization } = request.query;
    const provider = name === undefined ? null : findProvider(deps.providers, name);
    const app =
      provider === null
        ? null
        : ((await renderAppForm(request, reply, deps, provider, organization)) ??
          (await renderOAuthPart(deps, provider)));
    const main = await (provider === null
      ? readSettings(deps, list)
      : providerMain(provider, publicUrl, app?.part));
    const top =
      provider === null
        ? html`<h1 tabindex="-1">Settings</h1>${settingsTabs(list)}`
        : crumbs([html`<a href="/settings">Settings</a>`, 'CI systems']);
    const forms = app?.formOrigin === undefined ? {} : { formOrigin: app.formOrigin };
    return answerPage(request, reply, deps, { part: 'settings', title: 'Settings', top, main, ...forms });
  });
  app.post('/settings', route('admin', { body: SettingsForm }), async (request, reply) => {
    const provider = findProvider(deps.providers, request.body.provider);
    const { act, repository } = request.body;
    if (repository !== '') requireInScope(request.principal, repository);
    const asked = {
      repository: repository === '' ? null : repository,
      address: publicUrl === null ? null : getWebhookAddress(provider, publicUrl),
      secret: provider.webhook.secrets[0] ?? null,
      create: act === 'create',
      test: act === 'test',
    };
    deps.logger.info(
      { provider: provider.name, act, repository, by: request.principal?.name },
      'connection examined',
    );
    const findings: Finding[] = [];
    for await (const finding of connect(provider, asked, AbortSignal.timeout(LIMIT_MS)))
      findings.push(finding);
    const masked = await deps.masker.maskAll(findings.map(({ says }) => says));
    const withText = findings.map((finding, index) => ({ ...finding, says: masked[index]?.text ?? '' }));
    const main = await providerMain(provider, publicUrl, undefined, repository, withText);
    return answerPage(request, reply, deps, {
      part: 'settings',
      title: 'Settings',
      top: crumbs([html`<a href="/settings">Settings</a>`, 'CI systems']),
      main,
      said: summarizeFindings(withText).said,
    });
  });
}

const TABS = {
  systems: ['/settings', 'CI systems'],
  service: ['/settings?list=service', 'Service'],
  me: ['/me', 'You'],
} as const;

/** Renders the tabs of the settings; what is the reader's own is one of them. */
function settingsTabs(here: keyof typeof TABS): Html {
  const links = Object.entries(TABS).map(([name, [address, words]]) => ({
    address,
    words,
    isHere: name === here,
  }));
  return tabs('Settings', links);
}

async function readSettings(deps: ConsoleDeps, list: 'systems' | 'service'): Promise<Html> {
  if (list === 'systems') return await listMain(deps);
  return html`${await healthPart(deps)}${await unreadLogs(deps)}`;
}

/** Says that a part of the service is ill, on the first tab too. */
async function illBanner({ readiness }: ConsoleDeps): Promise<Html> {
  const ill = Object.entries((await readiness()).backends).filter(([, { state }]) => state !== 'ok');
  if (ill.length === 0) return html``;
  const names = ill.map(([name]) => nameBackend(name)).join(', ');
  return banner(html`<b>Needs a look: ${names}.</b> <a href="/settings?list=service">See why</a>`, {
    tone: 'red',
  });
}

async function listMain(deps: ConsoleDeps): Promise<Html> {
  const { publicUrl } = deps.config.http;
  const systems = await Promise.all(
    deps.providers.map(async (provider) => {
      const [newest] = await deps.stores.builds.list({ provider: provider.name }, { limit: 1, offset: 0 });
      const { label } = await provider.connection();
      return { provider, label, lastAt: newest?.receivedAt ?? null };
    }),
  );
  const isConnected = ({ provider, lastAt }: CiSystem) =>
    lastAt !== null || provider.webhook.secrets.length > 0;
  const connected = systems.filter(isConnected);
  const others = systems.filter((system) => !isConnected(system));
  return html`${await illBanner(deps)}${
    publicUrl === null &&
    banner(html`<b>Links in comments do not work yet.</b> ${SET_ADDRESS}`, { tone: 'amber' })
  }<section class="panel" aria-labelledby="systems"><header><h2 id="systems">CI systems</h2><span
    class="meta">${summarizeSystems(connected)}</span></header>
    <ul class="rows">${connected.map((system) => systemRow(system, publicUrl, deps.clock.now()))}<li><p
    class="acts">${others.length > 0 && html`<span class="meta">Connect another:</span>`}${others.map(
      ({ provider, label }) => html`<a class="btn" href="/settings?provider=${provider.name}">${label}</a>`,
    )}<span class="meta">Any other CI uploads its builds to
    <code>POST /api/builds</code>.</span></p></li></ul></section>`;
}

/** The way to tell Faultline its public address. */
const SET_ADDRESS = html`Faultline does not know its public address. Set <code>FAULTLINE_PUBLIC_URL</code>,
  for example to <code>https://faultline.example.com</code>, and restart it.`;

/** Says how many of the systems that may send builds have sent one. */
function summarizeSystems(systems: readonly CiSystem[]): string {
  const sending = systems.filter(({ lastAt }) => lastAt !== null).length;
  if (systems.length === 0) return 'none is connected';
  return sending === 0 ? 'no build received yet' : `${sending} of ${systems.length} sent builds`;
}

interface CiSystem {
  readonly provider: Connectable;
  readonly label: string;
  /** The time at which its newest build was received. Null if there is none. */
  readonly lastAt: string | null;
}

/** The number of days without a build after which a connected system needs attention. */
const SILENT_DAYS = 3;
const DAY_MS = 86_400_000;

function systemRow({ provider, label, lastAt }: CiSystem, publicUrl: string | null, now: number): Html {
  const silentDays = lastAt === null ? 0 : Math.floor((now - Date.parse(lastAt)) / DAY_MS);
  const isSilent = silentDays >= SILENT_DAYS;
  const address = publicUrl === null ? provider.webhook.path : getWebhookAddress(provider, publicUrl);
  const state =
    provider.webhook.secrets.length === 0
      ? stateMark('No webhook secret')
      : stateMark(lastAt === null ? 'Accepts webhooks' : 'Connected', 'green', 'check');
  return html`<li><div class="grow"><a class="whole" href="/settings?provider=${provider.name}">${label}</a>
    <p class="meta">${
      lastAt === null ? 'No build yet' : `Last build ${formatAge(lastAt, now)} ago`
    }. Webhook: <code>${address}</code></p></div>${
      isSilent ? stateMark(`Nothing for ${silentDays} days`, 'amber', 'warn') : state
    }<span class="btn" aria-hidden="true">Check</span></li>`;
}

const TONES = { ok: 'green', degraded: 'amber', down: 'red' } as const;
const BACKEND_STATES = { ok: 'OK', degraded: 'Degraded', down: 'Down' } as const;
const WORST_FIRST = ['down', 'degraded', 'ok'];

/** Renders the last known state of the backends and the external services, as in `/readyz`. */
async function healthPart({ readiness }: ConsoleDeps): Promise<Html> {
  const backends = Object.entries((await readiness()).backends).toSorted(
    ([, left], [, right]) => WORST_FIRST.indexOf(left.state) - WORST_FIRST.indexOf(right.state),
  );
  const ill = backends.filter(([, { state }]) => state !== 'ok').length;
  const rows = backends.map(
    ([name, { state, says, remedy, since }]) =>
      html`<li><div class="grow"><b>${nameBackend(name)}</b> <span class="quiet">${says}</span>${
        remedy !== undefined && html`<p class="meta">${startUpper(remedy)}.</p>`
      }</div>${
        state !== 'ok' && html`<span class="meta num">since ${renderTime(since)}</span>`
      }${stateMark(BACKEND_STATES[state], TONES[state])}</li>`,
  );
  return html`<section class="panel" aria-labelledby="service"><header><h2 id="service">Service</h2>${
    ill === 0
      ? stateMark('Healthy', 'green', 'check')
      : stateMark(`${ill} of ${backends.length} ${ill === 1 ? 'needs' : 'need'} a look`, 'red', 'warn')
  }</header><ul class="rows">${rows}</ul></section>`;
}

/** Converts the name of a backend for people: "jobQueue" → "Job queue". */
function nameBackend(name: string): string {
  return startUpper(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
}

/**
 * Renders the page of a provider. `app` is the form that creates an App. `repository` is the typed text.
 * `findings` is null before the first check.
 */
async function providerMain(
  provider: Connectable,
  publicUrl: string | null,
  app: Html | undefined,
  repository = '',
  findings: readonly Finding[] | null = null,
): Promise<Html> {
  const { label, page, events, rights, steps, secretSetting, tokenSetting, hooks } =
    await provider.connection();
  const { secrets, accepts, path } = provider.webhook;
  const setting = html`the value of <code>${secretSetting}</code>`;
  const keptAt = MADE_SECRETS.includes(provider.name)
    ? html`${setting}; if an embedded installation sets none, <code>${provider.name}WebhookSecret</code> in
      <code>secrets.json</code> of its data directory`
    : setting;
  const address =
    publicUrl === null ? `https://YOUR-FAULTLINE${path}` : getWebhookAddress(provider, publicUrl);
  const noAddress = html`<p><b>${label} cannot send webhooks here yet.</b> ${SET_ADDRESS} Meanwhile
    <a href="/paste">paste a log</a>, or upload builds to <code>POST /api/builds</code>.</p>`;
  return html`<h1 tabindex="-1">Connect ${label}</h1>
    ${findings !== null && findingsPart(findings)}${
      publicUrl === null && banner(noAddress, { tone: 'amber' })
    }
    ${app}
    <h2>${app === undefined ? 'Webhook' : 'Or a webhook by hand'}</h2>
    <dl class="kv"><dt>Address</dt>
    <dd><code>${address}</code></dd>
    <dt>Secret</dt><dd>${
      secrets.length > 0
        ? keptAt
        : html`none yet: create one with <code>openssl rand -hex 32</code>, set it as
          <code>${secretSetting}</code>, and restart the service`
    }</dd>
    <dt>Content type</dt><dd>${accepts[0]}</dd><dt>Events</dt><dd>${events.join(', ')}</dd></dl>
    <h2>Steps at ${label}</h2>
    <ol>${steps.map((step) => html`<li>${step}</li>`)}</ol>
    <h2>Token permissions</h2>
    <p>Put the token in <code>${tokenSetting}</code>.</p>
    <ul>${rights.map(({ right, why }) => html`<li><strong>${right}</strong>: ${why}</li>`)}</ul>
    <h2>Test the connection</h2>
    <form method="post" action="/settings" data-whole class="flow">${renderHiddenFields({
      provider: provider.name,
    })}
    ${
      'because' in hooks
        ? html`<p class="quiet">Permissions and webhooks cannot be checked here: ${hooks.because}.</p>`
        : html`<p><label>Repository (${hooks.nameFormat})
          <input name="repository" value="${repository}" maxlength="300"></label></p>`
    }
    <p class="acts"><button class="main" name="act" value="check">Check</button>
    <button name="act" value="test">Send a test delivery</button>${
      !('because' in hooks) && html` <button name="act" value="create">Create the webhook</button>`
    }</p></form>
    <p class="quiet">The same in a terminal: <code>faultline connect ${provider.name}</code>. More:
    <code>${page}</code>.</p>`;
}

const STATES = { ok: 'OK', note: 'Note', wrong: 'Wrong' } as const;

function findingsPart(findings: readonly Finding[]): Html {
  const { said, look } = summarizeFindings(findings);
  const rows = findings.map(
    ({ state, name, says, remedy }) =>
      html`<li><strong>${STATES[state]}</strong>
        · ${name}: ${says}${remedy !== undefined && html`<br><span class="quiet">${remedy}</span>`}</li>`,
  );
  return banner(html`<p><strong>${said}</strong></p><ul>${rows}</ul>`, look === null ? {} : { tone: look });
}

/** Summarizes the findings of a check. Only a complete check without a problem counts as good. */
function summarizeFindings(findings: readonly Finding[]): {
  readonly said: string;
  readonly look: Tone | null;
} {
  if (findings.some(({ state }) => state === 'wrong')) return { said: 'Problems found.', look: 'red' };
  const notes = findings.filter(({ state }) => state === 'note').length;
  if (notes === 0) return { said: 'No problems found.', look: 'green' };
  return {
    said:
      `Not complete: ${notes} ` +
      `of ${formatCount(findings.length, 'check')} ${notes === 1 ? 'needs' : 'need'} attention.`,
    look: null,
  };
}

const ticked = z.literal('on').optional();
const handles = z
  .string()
  .max(2_000)
  .default('')
  .transform((text) =>
    splitList(text)
      .map((line) => line.slice(0, 200))
      .slice(0, 20),
  );
const MeForm = z.object({
  handles,
  editor: EditorTemplate.default(''),
  keys: ticked,
  theme: z.enum(['system', 'light', 'dark']),
  wrap: ticked,
  timestamps: ticked,
});
const MeQuery = z.object({ saved: z.literal('1').optional() });

/** Registers `/me`, the preferences of the signed-in user. */
export function registerMe(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/me', route('read', { querystring: MeQuery }), async (request, reply) => {
    const reader = await loadReader(request, deps);
    const notice = request.query.saved === undefined ? {} : { said: 'Saved.' };
    const main = mePage(requirePrincipal(request.principal), reader.preferences);
    const isAdmin = holds(request.principal, 'admin');
    const top = isAdmin
      ? html`<p class="page-title">Settings</p>${settingsTabs('me')}<h1 class="seen-not" tabindex="-1">Your
          settings</h1>`
      : html`<h1 tabindex="-1">Your settings</h1>`;
    return sendPage(
      request,
      reply,
      { title: 'Your settings', ...(isAdmin && { part: 'settings' as const }), top, main, ...notice },
      reader,
    );
  });
  app.post('/me', route('read', { body: MeForm }), async (request, reply) => {
    const { handles, editor, keys, theme, wrap, timestamps } = request.body;
    const preferences = {
      handles,
      editor,
      keys: keys === 'on',
      theme,
      wrap: wrap === 'on',
      timestamps: timestamps === 'on',
    };
    await deps.stores.preferences.set(requirePrincipal(request.principal).name, preferences);
    return reply.redirect('/me?saved=1', 303);
  });
}

function requirePrincipal(principal: Principal | null): Principal {
  if (principal === null) throw new TriageError('unauthenticated', 'You are not signed in.');
  return principal;
}

function mePage({ name, roles, repositories }: Principal, preferences: Preferences): Html {
  const { theme, wrap, timestamps } = preferences;
  const box = (field: string, on: boolean, words: string) =>
    html`<p><label><input type="checkbox" name="${field}" value="on"${on && html` checked`}>
      ${words}</label></p>`;
  const themes = ['system', 'light', 'dark'].map(
    (role) =>
      html`<label><input type="radio" name="theme" value="${role}"${role === theme && html` checked`}>
        ${role}</label> `,
  );
  const keys = KEYS.map(
    (binding) =>
      html`<tr><td>${binding.keys.split(/[ |]/).map((key) => html`<kbd>${key}</kbd> `)}</td>
        <td>${binding.does}</td><td>${
          binding.places.length === 4 ? 'everywhere' : binding.places.join(', ')
        }</td></tr>`,
  );
  return html`<p>Signed in as <strong>${name}</strong> with the ${roles.length === 1 ? 'role' : 'roles'}
    ${roles.join(', ')}${repositories && html`, for ${repositories.join(', ')}`}.</p>
    <form method="post" action="/me" data-whole class="stack tight own">
    <label class="field"><span>Your handles and teams, separated by commas</span>
    <input name="handles" value="${preferences.handles.join(', ')}" maxlength="2000"
    placeholder="@ada, @shop/payments" aria-describedby="handles-help"></label><p class="meta"
    id="handles-help">As in CODEOWNERS and commits. Unassigned causes that these own are listed as yours.</p>
    <label class="field"><span>Address that opens a file in your editor</span>
    <input name="editor" class="long" value="${preferences.editor}" maxlength="300"
    placeholder="vscode://file/home/ada/{name}/{path}:{line}" aria-describedby="editor-help"></label><p
    class="meta" id="editor-help">With <code>{path}</code> and, if you like, <code>{line}</code>,
    <code>{repository}</code> (owner/name) and <code>{name}</code>. Empty: no such links.</p>
    <fieldset><legend>Colors</legend><p class="choices">${themes}</p></fieldset>
    ${box('wrap', wrap, 'Wrap long lines of logs')}
    ${box('timestamps', timestamps, 'Show timestamps in logs')}
    ${box('keys', preferences.keys, 'Shortcuts of a single key, such as a to accept and j for the next item')}
    <p class="acts"><button class="main">Save</button></p></form>
    <form method="post" action="/sign-out" data-whole><p class="acts"><button>Sign out</button></p></form>
    <h2 id="keys-here">Keyboard shortcuts</h2>
    ${dataTable('Keyboard shortcuts', ['Key', 'What it does', 'Where'], keys)}
    <p class="quiet">Enter, Space, Backspace, Delete and the arrow keys never decide anything. Shortcuts are
    off while you type.</p>`;
}
