import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Preferences } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { KEYS } from './controls.ts';
import { dataTable, type Html, html } from './html.ts';
import { readerOf, sendPage } from './page.ts';

const access = { role: 'read' } as const;

const ticked = z.literal('on').optional();
const handles = z
  .string()
  .max(2_000)
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((one) => one.trim().slice(0, 200))
      .filter((one) => one !== '')
      .slice(0, 20),
  );
const Body = z.object({ handles, keys: ticked, theme: z.enum(['system', 'light', 'dark']), wrap: ticked, timestamps: ticked });
const Query = z.object({ saved: z.literal('1').optional() });

/** `/me`: how the pages behave for whoever is signed in. */
export function registerMe(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/me', { config: { access }, schema: { querystring: Query } }, async (request, reply) => {
    const reader = await readerOf(request, deps);
    const said = request.query.saved === undefined ? {} : { said: 'Saved.' };
    const main = mePage(holderOf(request.principal), reader.preferences);
    return sendPage(request, reply, { title: 'Your settings', place: 'page', main, ...said }, reader);
  });
  typed.post('/me', { config: { access }, schema: { body: Body } }, async (request, reply) => {
    const { handles, keys, theme, wrap, timestamps } = request.body;
    const preferences = { handles, keys: keys === 'on', theme, wrap: wrap === 'on', timestamps: timestamps === 'on' };
    await deps.stores.preferences.set(holderOf(request.principal).name, preferences);
    return reply.redirect('/me?saved=1', 303);
  });
}

function holderOf(principal: Principal | null): Principal {
  if (principal === null) throw new TriageError('unauthenticated', 'You are not signed in.');
  return principal;
}

function mePage({ name, roles, repositories }: Principal, preferences: Preferences): Html {
  const { theme, wrap, timestamps } = preferences;
  const box = (field: string, on: boolean, words: string) =>
    html`<p><label><input type="checkbox" name="${field}" value="on"${on && html` checked`}> ${words}</label></p>`;
  const themes = ['system', 'light', 'dark'].map(
    (one) => html`<label><input type="radio" name="theme" value="${one}"${one === theme && html` checked`}> ${one}</label> `,
  );
  const keys = KEYS.map(
    (binding) =>
      html`<tr><td>${binding.keys.split(/[ |]/).map((key) => html`<kbd>${key}</kbd> `)}</td><td>${binding.does}</td><td>${binding.places.length === 4 ? 'everywhere' : binding.places.join(', ')}</td></tr>`,
  );
  return html`<h1 tabindex="-1">Your settings</h1>
<p>Signed in as <strong>${name}</strong> with the ${roles.length === 1 ? 'role' : 'roles'} ${roles.join(', ')}${repositories && html`, for ${repositories.join(', ')}`}.</p>
<form method="post" action="/me" data-whole>
${box('keys', preferences.keys, 'Single-key shortcuts (a accepts, j moves on …)')}
<p><label>Your handles and teams, separated by commas <input name="handles" value="${preferences.handles.join(', ')}" maxlength="2000" placeholder="@ada, @shop/payments"></label><br><span class="quiet">As in CODEOWNERS and commits. Unassigned causes that these own are listed as yours.</span></p>
<fieldset><legend>Colors</legend>${themes}</fieldset>
${box('wrap', wrap, 'Wrap long lines of logs')}
${box('timestamps', timestamps, 'Show timestamps in logs')}
<p><button>Save</button></p></form>
<form method="post" action="/sign-out" data-whole><button>Sign out</button></form>
<h2 id="keys-here">Keyboard shortcuts</h2>
${dataTable('Keyboard shortcuts', ['Key', 'What it does', 'Where'], keys)}
<p class="quiet">Enter, Space, Backspace, Delete and the arrow keys never decide anything. Shortcuts are off while you type.</p>`;
}
