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
import { brandMark, type Icon, icon } from './parts/icons.ts';
import { formatScopedAddress, type PageScope } from './scope.ts';

interface Page {
  /** The title of the browser tab; the page's own `h1` is part of `main` or of `top`. */
  readonly title: string;
  /** The place whose keys work on the page; if absent, only the keys of every page work. */
  readonly place?: Place;
  /** The part of the console to which the page belongs. */
  readonly part?: Part;
  /** The line above the page: its position, related lists, and actions on the whole page. */
  readonly top?: Shown;
  readonly main: Shown;
  /** True if the page fills the window and has its own layout. */
  readonly fills?: true;
  /** Another origin to which a form of the page is sent. */
  readonly formOrigin?: string;
  /** The bar at the bottom with the possible decisions. If absent, there is none. */
  readonly bar?: Shown;
  /** True if the page itself has the search of all failures. Otherwise the frame has it. */
  readonly searches?: true;
  /**
   * The events that update the parts with `data-live` while the page is open: all events, or those of one
   * build.
   */
  readonly live?: { readonly buildId?: string };
  /** A sentence about the last action, which screen readers read aloud. */
  readonly said?: string;
  /** The form that undoes the last action. */
  readonly undo?: Html | undefined;
  /** The scope of the page, which links to other pages keep. */
  readonly scope?: PageScope;
}

type Part =
  | 'overview'
  | 'review'
  | 'causes'
  | 'builds'
  | 'tests'
  | 'insights'
  | 'library'
  | 'notifications'
  | 'settings';

/** The person who views the page, and their preferences. */
export interface Reader {
  readonly principal: Principal | null;
  readonly preferences: Preferences;
  /** The number of waiting review items. Null if it is unknown or the person is not a reviewer. */
  readonly waiting: number | null;
}

interface Section {
  readonly part: Part;
  readonly name: string;
  readonly role: Role;
  readonly address: string;
  readonly sign: Icon;
  readonly action?: string;
  /** True if phones show it under "More". */
  readonly isRare?: true;
  /** True if its pages have no scope. */
  readonly isWhole?: true;
}

/** The sections for daily work, followed by those for occasional use. */
const DAILY: readonly Section[] = [
  { part: 'overview', name: 'Overview', role: 'read', address: '/', sign: 'overview', action: 'go-overview' },
  { part: 'review', name: 'Review', role: 'review', address: '/review', sign: 'review', action: 'go-review' },
  { part: 'causes', name: 'Causes', role: 'read', address: '/causes', sign: 'causes', action: 'go-causes' },
  {
    part: 'builds',
    name: 'Builds',
    role: 'read',
    address: '/builds',
    sign: 'builds',
    action: 'go-builds',
    isRare: true,
  },
  { part: 'tests', name: 'Tests', role: 'read', address: '/tests', sign: 'tests', action: 'go-tests' },
  {
    part: 'insights',
    name: 'Insights',
    role: 'read',
    address: '/insights',
    sign: 'insights',
    action: 'go-insights',
    isRare: true,
  },
];
const SELDOM: readonly Section[] = [
  { part: 'library', name: 'Library', role: 'review', address: '/library', sign: 'library' },
  {
    part: 'notifications',
    name: 'Notifications',
    role: 'review',
    address: '/notifications',
    sign: 'bell',
    isWhole: true,
  },
  { part: 'settings', name: 'Settings', role: 'admin', address: '/settings', sign: 'gear', isWhole: true },
];

/** Lists the names by which CODEOWNERS, commits and assignments refer to the reader of the page. */
export function listReaderNames({ principal, preferences }: Reader): string[] {
  return principal === null ? [] : [principal.name, ...preferences.handles];
}

/** The Fastify instance of the console. Its routes have the types of their schemas. */
export type ConsoleApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Returns the options of a route that people with this role may use. */
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

/** Sends a page in its frame. It is not cached, because it depends on the time and the reader. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
  reader: Reader,
  status = 200,
): FastifyReply {
  // A refused form has no address from which it could be updated.
  const { live, ...still } = page;
  const content = frame(status === 200 && live !== undefined ? page : still, reader);
  return sendHtml(request, reply, content, status, page.formOrigin);
}

/** Sends a fragment that is inserted into an open page. */
export function sendHtml(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Html,
  status = 200,
  formOrigin?: string,
): FastifyReply {
  protect(reply, formOrigin);
  reply.status(status).header('content-type', 'text/html; charset=utf-8').header('vary', 'accept-encoding');
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(content.text);
  return reply.header('content-encoding', 'gzip').send(gzipSync(content.text, { level: 5 }));
}

function frame(page: Page, reader: Reader): Html {
  const { keys, theme, wrap, timestamps } = reader.preferences;
  const { live, place = 'page' } = page;
  const events = live !== undefined && html` data-events="/events${search({ build: live.buildId })}"`;
  return html`<!doctype html>
    <html lang="en"${theme !== 'system' && html` data-theme="${theme}"`}${!keys && html` data-keys="off"`}${
      !wrap && html` data-wrap="off"`
    }${timestamps && html` data-timestamps="on"`}>
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${page.title} · Faultline</title>
    <link rel="preload" href="${ASSETS.font.address}" as="font" type="font/woff2" crossorigin>
    <link rel="stylesheet" href="${ASSETS.css.address}">
    <link rel="icon" href="${ASSETS.icon.address}">
    <script type="module" src="${ASSETS.js.address}"></script>
    </head>
    <body data-place="${place}"${bodyLook(page, reader)}>
    <a class="skip" href="#main">Skip to content</a>
    ${header(page, reader)}
    <main id="main"
      tabindex="-1"${events}>${page.top !== undefined && html`<header class="top">${page.top}</header>`}<p
    id="news" class="fresh" aria-live="polite"></p>${
      page.fills === true ? page.main : html`<div class="page">${page.main}</div>`
    }</main>
    <footer id="bar" class="bar" data-live aria-label="Actions"${page.bar === undefined && html` hidden`}>${
      page.bar
    }</footer>
    <div id="status" class="toast" role="status">${
      page.said !== undefined && html`<span>${page.said}</span>${page.undo}`
    }</div>
    ${keyList(place, keys)}
    </body>
    </html>`;
}

/**
 * Returns the attributes of the body. Signed-out users see no sections, and on phones the bar replaces them.
 */
function bodyLook(page: Page, { principal }: Reader): Shown {
  if (principal === null) return html` class="door"`;
  return page.bar !== undefined && page.place === 'item' && html` class="has-bar"`;
}

function header(page: Page, reader: Reader): Html {
  const { principal } = reader;
  const brand = html`<a class="brand" href="/">${brandMark()}<span class="only-wide">Faultline</span><span
    class="seen-not">, overview</span></a>`;
  if (principal === null) return html`<header class="head">${brand}</header><nav class="nav" hidden></nav>`;
  return html`<header class="head">${brand}${
    holds(principal, 'read') && page.searches !== true && searchField(page)
  }</header>${navigation(page, reader)}`;
}

function navigation(page: Page, reader: Reader): Html {
  const { principal } = reader;
  const [daily, seldom] = [DAILY, SELDOM].map((sections) =>
    sections.filter(({ role }) => holds(principal, role)),
  );
  const link = (section: Section) => sectionLink(section, page, reader);
  const more = [...(daily ?? []).filter(({ isRare }) => isRare), ...(seldom ?? [])].map(
    (section) => html`<li>${link(section)}</li>`,
  );
  return html`<nav class="nav" aria-label="Sections">
    <ul>${daily?.map((item) => html`<li${item.isRare && html` class="rare"`}>${link(item)}</li>`)}</ul>
    ${
      seldom !== undefined &&
      seldom.length > 0 &&
      html`<ul>${seldom.map((item) => html`<li>${link(item)}</li>`)}
      </ul>`
    }
    <details class="more"><summary>${icon('dots')}More</summary><ul>${more}<li><a href="/me">${icon(
      'me',
    )}${principal?.name}</a></li></ul></details>
    <ul class="foot"><li><a href="/me">${icon('theme')}Light or dark</a></li>
    <li><a href="/me"><span class="face"
      aria-hidden="true">${principal?.name.slice(0, 1).toUpperCase()}</span>${
        principal?.name
      }</a></li></ul></nav>`;
}

function sectionLink(section: Section, page: Page, { waiting }: Reader): Html {
  const { part, name, sign, action } = section;
  const address = section.isWhole ? section.address : formatScopedAddress(section.address, page.scope);
  const count =
    part === 'review' &&
    waiting !== null &&
    html`<span class="count" id="waiting"
      data-live${waiting === 0 && html` hidden`}>${waiting}<span class="seen-not"> waiting</span></span>`;
  return html`<a href="${address}"${action !== undefined && html` data-action="${action}"`}${
    page.part === part && html` aria-current="page"`
  }>${icon(sign)}${name}${count}</a>`;
}

/** Renders the search of all failures. On pages where the key `/` searches a log, this field has no key. */
function searchField({ place }: Page): Html {
  return html`<form role="search" aria-label="All failures" action="/search"
    class="jump combo">${icon('search')}<input
    type="search" name="q" aria-label="Search failures, or go to a page, build, test or cause" autocomplete="off"
    placeholder="Search or go to…" data-offers="/go"${
      place !== 'log' && html` data-action="search"`
    }>${place !== 'log' && html`<kbd aria-hidden="true">/</kbd>`}</form>
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
  return html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title" class="page-title">Keys</h2>
    <dl class="keys">${rows}</dl>
    <p class="meta">${keys ? 'Single-key shortcuts are on.' : 'Single-key shortcuts are off.'}
    <a href="/me">Change this</a></p>
    <form method="dialog" class="acts"><button>Close</button></form></dialog>`;
}

/** The time in milliseconds for which a count of waiting items is reused. */
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
    countWaiting(principal, deps.stores),
  ]);
  return { principal, preferences, waiting };
}

/** Loads the reader of an error page. The page is sent even if the preferences cannot be read. */
export async function loadErrorReader(
  request: FastifyRequest,
  deps: Pick<ConsoleDeps, 'stores'>,
): Promise<Reader> {
  return await loadReader(request, deps).catch(() => ({
    principal: request.principal,
    preferences: DEFAULT_PREFERENCES,
    waiting: null,
  }));
}

/** Discards the count of waiting items, so that the next page after a decision counts again. */
export function forgetWaiting(stores: ScopedStores): void {
  counted.delete(stores);
}

/**
 * Counts the items that wait for a reviewer. The count may be a few seconds old. If it cannot be obtained,
 * the page is shown without it.
 */
async function countWaiting(principal: Principal, stores: ScopedStores): Promise<number | null> {
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
