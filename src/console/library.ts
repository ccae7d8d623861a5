import { z } from 'zod';
import { nameKind } from '../domain/category-words.ts';
import { TriageError } from '../domain/errors.ts';
import { isInUse, type LibraryEntry } from '../domain/library.ts';
import { flagSentence } from '../service/review/learn.ts';
import { requireReviewer } from '../service/review/queue.ts';
import { confirmInUse, restoreEntry, withdrawEntry } from '../service/review/undo.ts';
import {
  buildAddress,
  formatAnalysisAddress,
  formatCauseAddress,
  formatLibraryAddress,
} from './addresses.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { crumbs, pager, postForm, renderTime, renderUndo } from './controls.ts';
import {
  applyTypedFilter,
  BRANCH_ELSEWHERE,
  CATEGORY_FIELD,
  DAYS_FIELD,
  type FilterField,
  type Filtering,
  filterBar,
  REPOSITORY_FIELD,
  unknownFilter,
} from './filters.ts';
import { type Html, html } from './html.ts';
import { misreadBanner } from './http.ts';
import { getListAddress, LibraryQuery, libraryTop, toListFields } from './library-lists.ts';
import { type CsvColumns, readWhole, renderCsvLink, sendCsv, toCsvTable } from './lists-as-csv.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';
import { banner, categoryTile, renderCategory, stateMark } from './parts/marks.ts';
import { prose } from './prose.ts';
import { registerRulePages } from './rules.ts';

const Params = z.object({ id: z.string().min(1).max(100) });
const DONE_MESSAGES = {
  withdrawn: 'The entry was withdrawn and is no longer used.',
  restored: 'The withdrawal was undone.',
  stays: 'The entry was confirmed.',
} as const;
const EntryQuery = z.object({ done: z.enum(['withdrawn', 'restored', 'stays']).optional().catch(undefined) });

/**
 * Registers `/library`, the entries that people added and the actions on them, and `/library/rules`, the
 * rules that people wrote.
 */
export function registerLibraryPages(app: ConsoleApp, deps: ConsoleDeps): void {
  const { library } = deps.stores;
  app.get('/library', route('review', { querystring: LibraryQuery }), async (request, reply) => {
    const { query } = request;
    const filter = {
      ...(query.repo !== '' && { repository: query.repo }),
      ...(query.category !== undefined && { category: query.category }),
      ...(query.show === 'withdrawn' && { withdrawn: true }),
      ...(query.show === 'flagged' && { flagged: true }),
    };
    if (query.csv !== undefined)
      return sendCsv(
        reply,
        'library',
        toCsvTable(CSV_COLUMNS, await readWhole((page) => library.list(page, filter))),
      );
    const [entries, offers] = await Promise.all([
      library.list({ limit: PAGE_ENTRIES + 1, offset: query.offset }, filter),
      library.offers(filter),
    ]);
    const filtering = { path: '/library', query: toListFields(query), fields: FIELDS, offers };
    const filtered = applyTypedFilter(reply, query.filter, filtering);
    if (filtered !== undefined) return filtered;
    const main = html`${misreadBanner(request, LibraryQuery)}${renderList(query, entries, filtering)}`;
    const top = libraryTop(query);
    return answerPage(request, reply, deps, { title: 'Library', part: 'library', top, main, scope: query });
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
        top: crumbs([html`<a href="/library">Library</a>`, entry.repository]),
        main: renderEntry(entry),
        ...(done && { said: DONE_MESSAGES[done] }),
        ...(done === 'withdrawn' && { undo: renderUndo(`${formatLibraryAddress(entry.id)}/restore`) }),
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
      return reply.redirect(`${formatLibraryAddress(id)}?done=withdrawn`, 303);
    },
  );
  app.post('/library/:id/restore', route('review', { params: Params }), async (request, reply) => {
    const { id } = request.params;
    await restoreEntry(deps, { id, by: requireReviewer(request) });
    return reply.redirect(`${formatLibraryAddress(id)}?done=restored`, 303);
  });
  app.post('/library/:id/stay', route('review', { params: Params }), async (request, reply) => {
    const { id } = request.params;
    await confirmInUse(deps, { id, by: requireReviewer(request) });
    return reply.redirect(`${formatLibraryAddress(id)}?done=stays`, 303);
  });
  registerRulePages(app, deps);
}

const PAGE_ENTRIES = 50;

const FIELDS: readonly FilterField[] = [
  REPOSITORY_FIELD,
  CATEGORY_FIELD,
  BRANCH_ELSEWHERE,
  { ...DAYS_FIELD, isElsewhere: true },
];

const CSV_COLUMNS: CsvColumns<LibraryEntry> = {
  title: (entry) => entry.title,
  repository: (entry) => entry.repository,
  category: (entry) => entry.category,
  kind: (entry) => entry.kind,
  decided_by: (entry) => entry.confirmedBy,
  decided_at: (entry) => entry.confirmedAt,
  times_seen: (entry) => entry.timesSeen,
  last_seen: (entry) => entry.lastSeenAt,
  withdrawn_at: (entry) => entry.withdrawn?.at ?? null,
  id: (entry) => entry.id,
};

function renderList(query: LibraryQuery, found: readonly LibraryEntry[], filtering: Filtering): Html {
  const entries = found.slice(0, PAGE_ENTRIES);
  return html`<p class="quiet">What people decided. The next failure like one of these, in the same
    repository, gets that answer at once.</p>
    ${unknownFilter(query.filter)}${filterBar('Library', filtering)}
    ${
      entries.length === 0
        ? renderEmptyState(query)
        : html`<div class="panel"><ul class="rows">${entries.map(renderRow)}</ul></div>`
    }
    ${pager(
      { offset: query.offset, size: PAGE_ENTRIES, more: found.length > PAGE_ENTRIES },
      (offset) => getListAddress({ ...query, offset }),
      ['Newer', 'Older'],
      html` class="btn"`,
    )}${entries.length > 0 && renderCsvLink(getListAddress({ ...query, offset: 0 }, { csv: '1' }))}`;
}

function renderRow(entry: LibraryEntry): Html {
  const { id, category, title, repository, confirmedBy, confirmedAt, timesSeen } = entry;
  return html`<li data-row>${categoryTile(category)}<div class="grow"><a class="whole"
    href="${formatLibraryAddress(id)}" data-row-link>${title}</a><p class="meta">${repository} · decided by
    ${confirmedBy}${renderStanding(entry)}</p></div><div class="end meta num">seen ${timesSeen}×<br>${renderTime(
      confirmedAt,
    )}</div></li>`;
}

function renderStanding(entry: LibraryEntry): Html {
  if (entry.withdrawn !== null)
    return html` · <strong>withdrawn</strong> by ${entry.withdrawn.by}: ${entry.withdrawn.reason}`;
  if (entry.flag !== null)
    return html` · <strong class="is-amber">also in ${entry.flag.builds} green
      ${entry.flag.builds === 1 ? 'build' : 'builds'}</strong>${
        isInUse(entry) ? ', confirmed' : ', not in use'
      }`;
  return html``;
}

function renderEmptyState(query: LibraryQuery): Html {
  const { repo, category, show } = query;
  if (query.offset > 0)
    return html`<div class="empty"><p>No more entries.</p>
      <p><a class="btn" href="${getListAddress({ ...query, offset: 0 })}">First page</a></p></div>`;
  if (repo !== '' || category !== undefined)
    return html`<div class="empty"><p>No entry fits these filters.</p>
      <p><a class="btn" href="${getListAddress({ show, offset: 0 })}">Remove the filters</a></p></div>`;
  if (show === 'flagged')
    return html`<div class="empty"><p>No entry was found in green builds.</p>
      <p><a class="btn" href="/library">All entries</a></p></div>`;
  return html`<div class="empty"><p>Nothing is decided yet. Accept or correct an answer once, and the
    same failure is answered at once from then on.</p>
    <p><a class="btn" href="/review">Open Review</a></p></div>`;
}

function renderEntry(entry: LibraryEntry): Html {
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
  const inUse = isInUse(entry);
  return html`<div class="headline"><p class="kicker">${renderCategory(category)}<span>${nameKind(
    kind,
  )}</span>${stateMark(inUse ? 'in use' : 'not in use', inUse ? 'green' : null)}</p>
    <h1 tabindex="-1">${title}</h1><p class="meta">${repository} · decided by ${confirmedBy},
    ${renderTime(confirmedAt)} · seen ${timesSeen}×, last ${renderTime(lastSeenAt)}</p></div>
    ${renderBanner(entry)}
    <section class="panel pad flow" aria-label="Cause and fix"><div>${prose(rootCause)}</div><dl
      class="kv"><dt>Fix</dt>
    <dd>${prose(fixRecommendation)}</dd></dl></section>
    <section class="flow" aria-labelledby="known-by"><h2 id="known-by">How it is recognized</h2>
    <p>By <a href="${formatCauseAddress(entry.fingerprint.value)}">its cause</a>, or by a log that is
    similar to this one:</p><pre tabindex="0">${entry.message}</pre>
    ${
      entry.telling.length > 0 &&
      html`<p class="quiet">Green builds are searched for
        ${entry.telling.length === 1 ? 'this line' : 'these lines'}:</p>
        <pre tabindex="0">${entry.telling.join('\n')}</pre>`
    }
    <p><a href="${formatAnalysisAddress(entry.analysisId)}">Source analysis</a></p></section>
    ${entry.withdrawn === null && renderWithdrawForm(entry)}`;
}

function renderBanner(entry: LibraryEntry): Html {
  const { withdrawn, flag, stays, id } = entry;
  if (withdrawn !== null)
    return banner(
      html`<strong>Withdrawn</strong> by ${withdrawn.by}, ${renderTime(withdrawn.at)}: ${withdrawn.reason}`,
      { tone: 'red' },
    );
  if (flag === null) return html``;
  const last = html`<a href="${buildAddress(flag.last)}">newest build</a>`;
  if (stays !== null)
    return banner(html`${flagSentence(flag)} (${last}). ${stays.by} confirmed that the entry stays in use.`, {
      sign: 'check',
    });
  return banner(
    html`<p><strong>${flagSentence(flag)}</strong> (${last}), so the entry is not used: its lines
      also occur when nothing fails.</p>${postForm(
        `${formatLibraryAddress(id)}/stay`,
        {},
        html`<button>Keep it in use</button>`,
      )}`,
    { tone: 'amber' },
  );
}

function renderWithdrawForm({ id }: LibraryEntry): Html {
  return html`<section class="panel pad" aria-labelledby="withdraw"><h2 id="withdraw">Withdraw this entry</h2>
    <form method="post" action="${formatLibraryAddress(id)}/withdraw"><p><label for="reason">Reason</label>
    <input id="reason" name="reason" required maxlength="1000"></p>
    <p><button>Withdraw</button> <span class="quiet">The withdrawal takes effect at once. If this
    entry replaced another one, that one is used again.</span></p></form></section>`;
}
