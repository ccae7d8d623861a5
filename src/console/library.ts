import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { answers, type LibraryEntry } from '../domain/library.ts';
import { flagSentence } from '../service/review/learn.ts';
import { requireReviewer } from '../service/review/queue.ts';
import { confirmStays, withdrawEntry } from '../service/review/undo.ts';
import { analysisAddress, buildAddress, causeAddress, libraryAddress, search } from './addresses.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { hiddenFields, pager, postForm, renderTime } from './controls.ts';
import { type Html, html } from './html.ts';
import { Offset, WordsOrNone } from './http.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';
import { prose } from './prose.ts';
import { registerRulePages } from './rules.ts';

const Params = z.object({ id: z.string().min(1).max(100) });
const SAID = {
  withdrawn: 'Withdrawn. It is no longer used.',
  stays: 'Confirmed. It is used again.',
} as const;
const EntryQuery = z.object({ done: z.enum(['withdrawn', 'stays']).optional().catch(undefined) });

/**
 * Serves `/library`, the entries that people added and the actions on them, and `/library/rules`, the rules
 * that people wrote.
 */
export function registerLibraryPages(app: ConsoleApp, deps: ConsoleDeps): void {
  const { library } = deps.stores;
  app.get('/library', route('review', { querystring: LibraryQuery }), async (request, reply) => {
    const { query } = request;
    const filter = {
      ...(query.repo !== undefined && { repository: query.repo }),
      ...(query.show === 'withdrawn' && { withdrawn: true }),
      ...(query.show === 'flagged' && { flagged: true }),
    };
    const entries = await library.list({ limit: PAGE_ENTRIES + 1, offset: query.offset }, filter);
    const main = libraryMain(query, entries);
    return answerPage(request, reply, deps, { title: 'Library', part: 'library', main });
  });
  app.get(
    '/library/:id',
    route('review', { params: Params, querystring: EntryQuery }),
    async (request, reply) => {
      const entry = await library.find(request.params.id);
      if (entry === null)
        throw new TriageError('not-found', `There is no library entry ${request.params.id}.`);
      const { done } = request.query;
      return answerPage(request, reply, deps, {
        title: entry.title,
        part: 'library',
        main: entryMain(entry),
        ...(done && { said: SAID[done] }),
      });
    },
  );
  const Reason = z.object({
    reason: z.string().trim().min(1, 'Enter a reason for withdrawing it.').max(1000),
  });
  app.post(
    '/library/:id/withdraw',
    route('review', { params: Params, body: Reason }),
    async (request, reply) => {
      const { id } = request.params;
      await withdrawEntry(deps, { id, by: requireReviewer(request), reason: request.body.reason });
      return reply.redirect(`${libraryAddress(id)}?done=withdrawn`, 303);
    },
  );
  app.post('/library/:id/stay', route('review', { params: Params }), async (request, reply) => {
    const { id } = request.params;
    await confirmStays(deps, { id, by: requireReviewer(request) });
    return reply.redirect(`${libraryAddress(id)}?done=stays`, 303);
  });
  registerRulePages(app, deps);
}

const PAGE_ENTRIES = 50;

const LibraryQuery = z.object({
  repo: WordsOrNone,
  show: z.enum(['all', 'flagged', 'withdrawn']).catch('all').default('all'),
  offset: Offset,
});
type LibraryQuery = z.infer<typeof LibraryQuery>;

const SHOWS = {
  all: 'All',
  flagged: 'Contradicted by green builds',
  withdrawn: 'Include withdrawn',
} as const;

function libraryMain(query: LibraryQuery, found: readonly LibraryEntry[]): Html {
  const entries = found.slice(0, PAGE_ENTRIES);
  const tabs = (['all', 'flagged', 'withdrawn'] as const).map(
    (show) =>
      html`<li><a href="${getListAddress({ ...query, show, offset: 0 })}"
        data-swap${query.show === show && html` aria-current="page"`}>${SHOWS[show]}</a></li>`,
  );
  return html`<div class="headline"><h1 tabindex="-1">Library</h1><nav aria-label="Which entries">
    <ul class="tabs">${tabs}<li><a href="/library/rules">Rules</a></li></ul></nav></div>
    <p class="quiet">A decision here answers the next failure with the same fingerprint in the same
    repository, before any analysis runs.</p>
    <form class="filters" action="/library" role="search"
    aria-label="Filter the library">${hiddenFields({ show: query.show })}
    <label>Repository <input name="repo" value="${query.repo}" placeholder="owner/name"
    data-action="search"></label><button>Show</button></form>
    ${entries.length === 0 ? emptyState(query) : html`<ul class="queue entries">${entries.map(row)}</ul>`}
    ${pager(
      { offset: query.offset, size: PAGE_ENTRIES, more: found.length > PAGE_ENTRIES },
      (offset) => getListAddress({ ...query, offset }),
      ['Newer', 'Older'],
      html` class="button"`,
    )}`;
}

function row(entry: LibraryEntry): Html {
  const { id, category, title, repository, confirmedBy, confirmedAt, timesSeen } = entry;
  return html`<li data-row><span class="sureness">${timesSeen}×</span>
    <span class="category">${category}</span>
    <span class="what"><a class="title" href="${libraryAddress(id)}" data-row-link>${title}</a></span>
    <span class="from">${repository} · ${renderTime(confirmedAt)}</span><span class="why">decided by
    ${confirmedBy}${standing(entry)}</span></li>`;
}

function standing(entry: LibraryEntry): Html {
  if (entry.withdrawn !== null)
    return html` · <strong>withdrawn</strong> by ${entry.withdrawn.by}: ${entry.withdrawn.reason}`;
  if (entry.flag !== null)
    return html` · <strong class="warn">⚠ also in ${entry.flag.builds} green
      ${entry.flag.builds === 1 ? 'build' : 'builds'}</strong>${
        answers(entry) ? ', confirmed' : ', not in use'
      }`;
  return html``;
}

function emptyState({ repo, show }: LibraryQuery): Html {
  if (repo !== undefined)
    return html`<p class="empty">No entries for repo:${repo}.
      <a class="button" href="/library">Clear filters</a></p>`;
  if (show === 'flagged') return html`<p class="empty">No entry is contradicted by a green build.</p>`;
  return html`<p class="empty">No entries yet. Accept or correct an answer in <a href="/review">Review</a>
    to add one.</p>`;
}

function getListAddress({ repo, show, offset }: LibraryQuery): string {
  return `/library${search({ repo, show: show === 'all' ? undefined : show, offset: offset || undefined })}`;
}

function entryMain(entry: LibraryEntry): Html {
  const {
    title,
    category,
    kind,
    repository,
    confirmedBy,
    confirmedAt,
    timesSeen,
    lastSeenAt,
    rootCause,
    fixRecommendation,
  } = entry;
  return html`<div class="item"><h1 tabindex="-1">${title}</h1>
    <p class="place">${repository} · decided by ${confirmedBy}, ${renderTime(confirmedAt)} · seen
    ${timesSeen}×, last ${renderTime(lastSeenAt)}</p>
    ${banners(entry)}
    <section class="card verdict" aria-label="What it says">
    <p class="sure"><span class="category">${category}</span> · ${kind.replaceAll('_', ' ')} ·
    <strong>${answers(entry) ? 'in use' : 'not in use'}</strong></p>
    <div class="cause">${prose(rootCause)}</div><dl class="points"><div><dt>Fix</dt>
    <dd>${prose(fixRecommendation)}</dd></div></dl></section>
    <section aria-labelledby="known-by"><h2 id="known-by">How it is recognized</h2>
    <p>Fingerprint <a href="${causeAddress(entry.fingerprint.value)}"><code>${entry.fingerprint.value}</code></a>, or a log similar to this:</p><pre tabindex="0">${entry.message}</pre>
    ${
      entry.telling.length > 0 &&
      html`<p class="quiet">Green builds are searched for
        ${entry.telling.length === 1 ? 'this line' : 'these lines'}:</p>
        <pre tabindex="0">${entry.telling.join('\n')}</pre>`
    }
    <p><a href="${analysisAddress(entry.analysisId)}">The analysis it is based on</a></p></section>
    ${entry.withdrawn === null && withdrawForm(entry)}</div>`;
}

function banners(entry: LibraryEntry): Html {
  const { withdrawn, flag, stays, id } = entry;
  if (withdrawn !== null)
    return html`<div class="banner bad"><p><strong>Withdrawn</strong>
      by ${withdrawn.by}, ${renderTime(withdrawn.at)}: ${withdrawn.reason}</p></div>`;
  if (flag === null) return html``;
  const last = html`<a href="${buildAddress(flag.last)}">the newest</a>`;
  if (stays !== null)
    return html`<div class="banner"><p>${flagSentence(flag)} (${last}). ${stays.by} confirmed it.</p></div>`;
  return html`<div class="banner"><p><strong>⚠ ${flagSentence(flag)}</strong>
    (${last}), so it is not used: a line from a passed build is no sign of failure.</p>
    ${postForm(`${libraryAddress(id)}/stay`, {}, html`<button>Keep it in use</button>`)}</div>`;
}

function withdrawForm({ id }: LibraryEntry): Html {
  return html`<section class="card" aria-labelledby="withdraw"><h2 id="withdraw">Withdraw this entry</h2>
    <form method="post" action="${libraryAddress(id)}/withdraw"><p><label for="reason">Reason</label>
    <input id="reason" name="reason" required maxlength="1000"></p>
    <p><button>Withdraw</button> <span class="quiet">It takes effect at once. The entry it replaced is used
    again.</span></p></form></section>`;
}
