import { z } from 'zod';
import { answers, type LibraryEntry } from '../../domain/library.ts';
import { libraryAddress } from '../addresses.ts';
import { timeOf } from '../controls.ts';
import { type Html, html } from '../html.ts';

export const PAGE_ENTRIES = 50;

export const LibraryQuery = z.object({
  repo: z
    .string()
    .trim()
    .max(300)
    .catch('')
    .default('')
    .transform((text) => (text === '' ? undefined : text)),
  show: z.enum(['all', 'flagged', 'withdrawn']).catch('all').default('all'),
  offset: z.coerce.number().int().min(0).max(1_000_000).catch(0).default(0),
});
export type LibraryQuery = z.infer<typeof LibraryQuery>;

interface LibraryView {
  readonly query: LibraryQuery;
  readonly entries: readonly LibraryEntry[];
  readonly more: boolean;
}

const SHOWS = { all: 'All', flagged: 'Contradicted by green builds', withdrawn: 'Include withdrawn' } as const;

/** What people taught, the newest first. */
export function libraryMain({ query, entries, more }: LibraryView): Html {
  const tabs = (['all', 'flagged', 'withdrawn'] as const).map(
    (show) =>
      html`<li><a href="/library${search({ ...query, show, offset: 0 })}" data-swap${query.show === show && html` aria-current="page"`}>${SHOWS[show]}</a></li>`,
  );
  return html`<div class="headline"><h1 tabindex="-1">Library</h1><nav aria-label="Which entries"><ul class="tabs">${tabs}<li><a href="/library/rules">Rules</a></li></ul></nav></div>
<p class="quiet">A decision here answers the next failure with the same fingerprint in the same repository, before any analysis runs.</p>
<form class="filters" action="/library" role="search" aria-label="Filter the library"><input type="hidden" name="show" value="${query.show}">
<label>Repository <input name="repo" value="${query.repo}" placeholder="owner/name" data-action="search"></label><button>Show</button></form>
${entries.length === 0 ? emptyState(query) : html`<ul class="queue entries">${entries.map(row)}</ul>`}
${pages(query, more)}`;
}

function row(entry: LibraryEntry): Html {
  const { id, category, title, repository, confirmedBy, confirmedAt, timesSeen } = entry;
  return html`<li data-row><span class="sureness">${timesSeen}×</span> <span class="category">${category}</span>
<span class="what"><a class="title" href="${libraryAddress(id)}" data-row-link>${title}</a></span>
<span class="from">${repository} · ${timeOf(confirmedAt)}</span><span class="why">decided by ${confirmedBy}${standing(entry)}</span></li>`;
}

function standing(entry: LibraryEntry): Html {
  if (entry.withdrawn !== null) return html` · <strong>withdrawn</strong> by ${entry.withdrawn.by}: ${entry.withdrawn.reason}`;
  if (entry.flag !== null)
    return html` · <strong class="warn">⚠ also in ${entry.flag.builds} green ${entry.flag.builds === 1 ? 'build' : 'builds'}</strong>${answers(entry) ? ', confirmed' : ', not in use'}`;
  return html``;
}

function emptyState({ repo, show }: LibraryQuery): Html {
  if (repo !== undefined)
    return html`<p class="empty">No entries for repo:${repo}. <a class="button" href="/library">Clear filters</a></p>`;
  if (show === 'flagged') return html`<p class="empty">No entry is contradicted by a green build.</p>`;
  return html`<p class="empty">No entries yet. Accept or correct an answer in <a href="/review">Review</a> to add one.</p>`;
}

function pages(query: LibraryQuery, more: boolean): Html {
  const at = (offset: number) => `/library${search({ ...query, offset })}`;
  const earlier = query.offset > 0 && html`<a class="button" href="${at(Math.max(0, query.offset - PAGE_ENTRIES))}">Newer</a>`;
  return html`${(more || query.offset > 0) && html`<p class="pages">${earlier}${more && html`<a class="button" href="${at(query.offset + PAGE_ENTRIES)}">Older</a>`}</p>`}`;
}

function search({ repo, show, offset }: LibraryQuery): string {
  const given = new URLSearchParams();
  if (repo !== undefined) given.set('repo', repo);
  if (show !== 'all') given.set('show', show);
  if (offset > 0) given.set('offset', String(offset));
  return given.size === 0 ? '' : `?${given}`;
}
