import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { DEFAULT_PREFERENCES, type Preferences } from '../domain/access.ts';
import { holds, type Principal, type Role } from '../domain/review.ts';
import type { ScopedStores } from '../stores/stores.ts';
import { search } from './addresses.ts';
import { ASSETS } from './assets.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { listKeys, type Place } from './controls.ts';
import { type Html, html, type Shown } from './html.ts';
import { protect } from './http.ts';

interface Page {
  /** The title of the browser tab; the page's own `h1` is part of `main`. */
  readonly title: string;
  /** The place whose keys work on the page; if absent, only the keys of every page work. */
  readonly place?: Place;
  /** The part of the console that the page belongs to. */
  readonly part?: Part;
  readonly main: Shown;
  /** The bar below: what can be decided here. Absent: there is none. */
  readonly bar?: Shown;
  /** It has the search of all failures itself; absent: the frame has it. */
  readonly searches?: true;
  /** Its parts with `data-live` change while it is open: whatever happens, or what happens to one build. */
  readonly live?: { readonly buildId?: string };
  /** One sentence about what was just done, read aloud to those who cannot see it. */
  readonly said?: string;
}

type Part = 'review' | 'causes' | 'builds' | 'insights' | 'library' | 'notifications' | 'settings';

/** The person who views the page, and their preferences. */
export interface Reader {
  readonly principal: Principal | null;
  readonly preferences: Preferences;
  /** Items of the queue that wait; null where it is not known or not theirs. */
  readonly waiting: number | null;
}

const PARTS: readonly {
  readonly part: Part;
  readonly name: string;
  readonly role: Role;
  readonly action?: string;
}[] = [
  { part: 'review', name: 'Review', role: 'review', action: 'go-review' },
  { part: 'causes', name: 'Causes', role: 'read', action: 'go-causes' },
  { part: 'builds', name: 'Builds', role: 'read', action: 'go-builds' },
  { part: 'insights', name: 'Insights', role: 'read', action: 'go-insights' },
  { part: 'library', name: 'Library', role: 'review' },
  { part: 'notifications', name: 'Notifications', role: 'review' },
  { part: 'settings', name: 'Settings', role: 'admin' },
];

/** Lists the names by which CODEOWNERS, commits and assignments refer to the reader of the page. */
export function listReaderNames({ principal, preferences }: Reader): string[] {
  return principal === null ? [] : [principal.name, ...preferences.handles];
}

/** The console's routes: what their schemas parse has its type. */
export type ConsoleApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Options of a route that holders of this role may use. */
export function route<const Schema extends FastifySchema = Record<never, never>>(
  role: Role,
  schema?: Schema,
) {
  return { config: { access: { role } }, schema: schema ?? ({} as Schema) };
}

/** Sends a page with the preferences of the user who requested it. */
export async function answerPage(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
  page: Page,
  status = 200,
) {
  return sendPage(request, reply, page, await loadReader(request, deps), status);
}

/** Sends a page in its frame. What it shows is of this moment and this reader: it is stored nowhere. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
  reader: Reader,
  status = 200,
): FastifyReply {
  // A form that was refused has no address from which it could be had again.
  const { live, ...still } = page;
  return sendHtml(request, reply, frame(status === 200 && live !== undefined ? page : still, reader), status);
}

/** Sends a part of a page, to be put into one that is open. */
export function sendHtml(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Html,
  status = 200,
): FastifyReply {
  protect(reply);
  reply.status(status).header('content-type', 'text/html; charset=utf-8').header('vary', 'accept-encoding');
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(content.text);
  return reply.header('content-encoding', 'gzip').send(gzipSync(content.text, { level: 5 }));
}

function frame(page: Page, reader: Reader): Html {
  const { keys, theme, wrap, timestamps } = reader.preferences;
  return html`<!doctype html>
    <html lang="en"${theme !== 'system' && html` data-theme="${theme}"`}${!keys && html` data-keys="off"`}${
      !wrap && html` data-wrap="off"`
    }${timestamps && html` data-timestamps="on"`}>
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${page.title} · Faultline</title>
    <link rel="stylesheet" href="${ASSETS.css.address}">
    <link rel="icon" href="${ASSETS.icon.address}">
    <script type="module" src="${ASSETS.js.address}"></script>
    </head>
    <body data-place="${page.place ?? 'page'}">
    <a class="skip" href="#main">Skip to content</a>
    ${header(page, reader)}
    <main id="main" tabindex="-1"${page.live !== undefined && html` data-events="/events${search({ build: page.live.buildId })}"`}>${page.main}</main>
    <p id="news" aria-live="polite"></p>
    <footer id="bar" data-live aria-label="Actions"${
      page.bar === undefined && html` hidden`
    }>${page.bar}</footer>
    <p id="status" role="status">${page.said}</p>
    ${keyList(page.place ?? 'page', keys)}
    </body>
    </html>`;
}

function header(page: Page, { principal, waiting }: Reader): Html {
  const links = PARTS.filter(({ role }) => holds(principal, role)).map(
    ({ part, name, action }) =>
      html`<li><a href="/${part}"${action !== undefined && html` data-action="${action}"`}${
        page.part === part && html` aria-current="page"`
      }>${name}${
        part === 'review' &&
        waiting !== null &&
        html` <span class="count" id="waiting" data-live>${waiting}</span>`
      }</a></li>`,
  );
  return html`<header><a class="brand" href="/">Faultline</a><nav aria-label="Sections">
    <ul>${links}</ul></nav>
    ${holds(principal, 'read') && page.searches !== true && searchField(page)}${
      principal === null ? html`<a href="/sign-in">Sign in</a>` : html`<a href="/me">${principal.name}</a>`
    }</header>`;
}

/** Looks through all failures. Where `/` looks through a log, it stays with that. */
function searchField({ place }: Page): Html {
  return html`<form role="search" aria-label="All failures" action="/search" class="find"><input type="search"
    name="q" aria-label="Search failures"
    placeholder="Search"${place !== 'log' && html` data-action="search"`}>${
      place !== 'log' && html` <kbd aria-hidden="true">/</kbd>`
    }</form>
    `;
}

function keyList(place: Place, keys: boolean): Html {
  const rows = listKeys(place).map(
    (binding) =>
      html`<div data-binding="${binding.action}"
        data-keys="${binding.keys}"${binding.whileTyping && html` data-typing`}>
        <dt>${binding.keys.split(/[ |]/).map((key) => html`<kbd>${key}</kbd> `)}</dt>
        <dd>${binding.does}</dd></div>`,
  );
  return html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2><dl>${rows}</dl>
    <p>${keys ? 'Single-key shortcuts are on.' : 'Single-key shortcuts are off.'}
    <a href="/me">Change this</a></p>
    <form method="dialog"><button>Close</button></form></dialog>`;
}

/** Milliseconds for which a count of waiting items is reused. */
const COUNT_MS = 5_000;
const counted = new WeakMap<
  ScopedStores,
  Map<string, { readonly at: number; readonly count: Promise<number | null> }>
>();

/** Loads the person who requested the page, and their preferences. */
export async function loadReader(
  request: FastifyRequest,
  deps: Pick<ConsoleDeps, 'stores'>,
): Promise<Reader> {
  const { principal } = request;
  if (principal === null) return { principal, preferences: DEFAULT_PREFERENCES, waiting: null };
  const [preferences, waiting] = await Promise.all([
    deps.stores.preferences.of(principal.name),
    waitingFor(principal, deps.stores),
  ]);
  return { principal, preferences, waiting };
}

/** Loads the reader of an error page, which is sent even if the preferences cannot be read now. */
export async function readerOrUsual(
  request: FastifyRequest,
  deps: Pick<ConsoleDeps, 'stores'>,
): Promise<Reader> {
  return await loadReader(request, deps).catch(() => ({
    principal: request.principal,
    preferences: DEFAULT_PREFERENCES,
    waiting: null,
  }));
}

/** Forgets the count of waiting items, so that the next page after a decision counts again. */
export function forgetWaiting(stores: ScopedStores): void {
  counted.delete(stores);
}

/**
 * Counts the items that wait for a reviewer. The count may be a few seconds old. If it cannot be obtained,
 * the page is shown without it.
 */
async function waitingFor(principal: Principal, stores: ScopedStores): Promise<number | null> {
  if (!mayReview(principal)) return null;
  const known = counted.get(stores) ?? new Map();
  counted.set(stores, known);
  const key = (principal.repositories ?? ['*']).join(' ');
  const last = known.get(key);
  if (last !== undefined && Date.now() - last.at < COUNT_MS) return await last.count;
  const count = stores.reviews.counts(principal.name).then(
    ({ waiting }) => waiting,
    () => null,
  );
  if (known.size > 1000) known.clear();
  known.set(key, { at: Date.now(), count });
  return await count;
}

export function mayReview(principal: Principal | null): boolean {
  return holds(principal, 'review');
}
