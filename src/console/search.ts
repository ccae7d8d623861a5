import { z } from 'zod';
import { shortenCommit } from '../domain/build.ts';
import { CATEGORIES } from '../domain/category.ts';
import { TriageError } from '../domain/errors.ts';
import type { FailureRow } from '../domain/failure.ts';
import {
  MAX_SEARCH,
  parseSearch,
  SEARCH_NAMES,
  SEARCH_STATES,
  type Search,
  type SearchName,
} from '../domain/search.ts';
import { groupNeighbors } from '../lib/collections.ts';
import { formatNumber } from '../notifications/visible-text.ts';
import { buildAddress, formatAnalysisAddress, formatReviewAddress, search } from './addresses.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { formatAge, pager } from './controls.ts';
import { type FoundPlace, findPlaces, placeList } from './go.ts';
import { type Html, html, joinHtml, type Shown } from './html.ts';
import { Offset } from './http.ts';
import { type CsvColumns, readWhole, renderCsvLink, sendCsv, toCsvTable } from './lists-as-csv.ts';
import { type ConsoleApp, listReaderNames, loadReader, route, sendPage } from './page.ts';
import { renderCategory } from './parts/marks.ts';

/**
 * The maximum number of failures that are read for one page. Failures of one cause in one build form one row.
 */
const ROWS = 100;
const MESSAGE = 300;

const Query = z.object({
  q: z.string().trim().catch('').default(''),
  offset: Offset,
  csv: z.literal('1').optional().catch(undefined),
});

type Found = Awaited<ReturnType<typeof find>>;

/**
 * Registers `/search?q=`: failures by their text and properties, newest first. A known id redirects to its
 * own page.
 */
export function registerSearch(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/search', route('read', { querystring: Query }), async (request, reply) => {
    const { q, offset, csv } = request.query;
    if (csv !== undefined) {
      const { filter } = parseSearch(q, deps.clock.now(), listReaderNames(await loadReader(request, deps)));
      const all = await readWhole((page) => deps.stores.failures.search(filter, page));
      return sendCsv(reply, 'failures', toCsvTable(CSV_COLUMNS, all));
    }
    const known = findIdAddress(q);
    if (known !== null) return reply.redirect(known, 303);
    const places = offset > 0 ? [] : await findPlaces(deps, q);
    const [only] = places;
    if (only !== undefined && places.length === 1 && /^https?:/.test(q))
      return reply.redirect(only.address, 303);
    const reader = await loadReader(request, deps);
    const read = readSearch(q, deps.clock.now(), listReaderNames(reader));
    const found =
      read instanceof TriageError || read.terms.length === 0 ? null : await find(deps, read, offset);
    const main = html`${searchForm(
      q,
      read instanceof TriageError ? read.message : null,
    )}${placesPart(places)}${help(found === null && places.length === 0)}${
      read instanceof TriageError
        ? null
        : html`${chips(read, q)}${found !== null && results(found, q, offset, deps.clock.now())}`
    }`;
    const top = html`<h1 tabindex="-1">Search</h1>`;
    const page = { title: q === '' ? 'Search' : `${q} · Search`, top, main, searches: true as const };
    return sendPage(request, reply, page, reader, read instanceof TriageError ? 400 : 200);
  });
}

function readSearch(q: string, now: number, me: readonly string[]): Search | TriageError {
  try {
    return parseSearch(q, now, me);
  } catch (error) {
    if (error instanceof TriageError) return error;
    throw error;
  }
}

/** Renders the pages that match the words, above the failures. */
function placesPart(places: readonly FoundPlace[]): Shown {
  return (
    places.length > 0 &&
    html`<section class="part" aria-labelledby="places"><h2
      id="places">Go to</h2>${placeList(places)}</section>`
  );
}

/** Returns the address for a pasted id, or null if the text is not an id. */
function findIdAddress(q: string): string | null {
  const [, kind] = /^(bld|ana|rev)_[0-9a-z]{10,60}$/.exec(q) ?? [];
  if (kind === undefined) return null;
  return kind === 'bld'
    ? buildAddress(q)
    : kind === 'ana'
      ? formatAnalysisAddress(q)
      : formatReviewAddress(q);
}

async function find({ stores }: ConsoleDeps, { filter }: Search, offset: number) {
  const found = await stores.failures.search(filter, { limit: ROWS + 1, offset });
  const rows = found.slice(0, ROWS);
  const heads = await stores.analyses.heads([...new Set(rows.map(({ failure }) => failure.buildId))]);
  return { rows, heads, more: found.length > ROWS };
}

function getSearchAddress(q: string, offset = 0): string {
  return `/search${search({ q, offset: offset || undefined })}`;
}

function searchForm(q: string, wrong: string | null): Html {
  return html`<form class="search" role="search" aria-label="Failures" action="/search"><label
    class="meta" for="search">Words and filters, in the failures of all builds</label>
    <p class="acts"><input id="search" name="q" type="search" value="${q}" data-action="search"
    maxlength="${MAX_SEARCH}"
    placeholder='repo:shop/api is:flaky since:7d "connection refused"'${
      wrong !== null && html` aria-invalid="true" aria-describedby="wrong"`
    }> <button class="main">Search</button></p>
    ${wrong !== null && html`<p class="is-red" id="wrong" role="alert">${wrong}</p>`}</form>`;
}

/**
 * Renders the filters in use, each with a link that removes it, followed by the filters that may be added.
 */
function chips({ terms }: Search, q: string): Html {
  if (terms.length === 0) return html``;
  const without = (at: number) =>
    terms.flatMap(({ typed }, other) => (other === at ? [] : [typed])).join(' ');
  const given = terms.map(
    ({ typed }, at) =>
      html`<li><a class="chip" href="${getSearchAddress(without(at))}" aria-label="Remove ${typed}">${typed}
        <span aria-hidden="true">×</span></a></li>`,
  );
  const has = new Set(terms.map(({ typed }) => typed.toLowerCase()));
  const names = new Set(terms.map(({ name }) => name));
  const times = names.has('since') ? [] : ['since:today', 'since:yesterday', 'since:7d', 'since:30d'];
  const categories = names.has('category') ? [] : CATEGORIES.map((category) => `category:${category}`);
  const flags = names.has('is') ? [] : SEARCH_STATES.map((flag) => `is:${flag}`);
  const more = [...times, ...flags, ...categories].filter((term) => !has.has(term.toLowerCase()));
  return html`<ul class="key" aria-label="Filters in use">${given}</ul>
    <details class="narrow"><summary>Narrow</summary><p>${joinHtml(
      more.map((term) => html`<a class="chip" href="${getSearchAddress(`${q} ${term}`)}">${term}</a>`),
      ' ',
    )}</p></details>`;
}

/** Renders the help next to the search field. It is open if there are no results. */
function help(open: boolean): Html {
  const rows = (Object.entries(SEARCH_NAMES) as [SearchName, string][]).map(
    ([name, example]) => html`<dt><code>${example}</code></dt><dd>${EXPLAINED[name]}</dd>`,
  );
  return html`<details class="narrow"${open && html` open`}><summary>Search filters</summary>
    <p>Words are searched for in messages, tests, files and titles of causes. Quote several words to find them
    together. A commit, a fingerprint or an ID needs no filter name.</p>
    <dl class="kv">${rows}</dl></details>`;
}

const EXPLAINED: Readonly<Record<SearchName, string>> = {
  repo: 'in a repository; shop/* for all repositories of an owner',
  category: 'with this category: the one a reviewer chose, otherwise Faultline’s',
  branch: 'in builds of a branch',
  test: 'of tests whose name contains this',
  file: 'of tests in this file, or with this file in the message',
  is: `in this state: ${SEARCH_STATES.join(', ')}`,
  confidence: 'whose answer is as sure: >0.8, >=0.8, <0.5, or 0.8 for at least',
  since: 'seen since: hours (12h), days (7d), weeks (2w), a date, today or yesterday (UTC)',
  until: 'seen before',
  build: 'in the build with this number',
  commit: 'in builds of a commit; seven characters are enough',
  author: 'in builds of an author',
  owner: 'whose cause is owned by or assigned to a person or team; owner:me for yours',
  fingerprint: 'with this cause',
};

function results({ rows, heads, more }: Found, q: string, offset: number, now: number): Html {
  if (rows.length === 0) {
    const words =
      offset > 0 ? 'No more failures match.' : 'No failure matches. Remove a filter, or look further back.';
    return html`<p role="note">${words}</p>`;
  }
  const groups = groupNeighbors(rows, ({ failure }) => `${failure.buildId} ${failure.fingerprint.value}`);
  const titles = new Map(heads.map((head) => [head.id, head.title]));
  const count =
    offset === 0 && !more
      ? `${formatNumber(rows.length)} ${rows.length === 1 ? 'failure' : 'failures'}`
      : `Failures ${formatNumber(offset + 1)}–${formatNumber(offset + rows.length)}`;
  return html`<p role="status">${count}, newest first.</p>
    <ol class="found">${groups.map((group) => renderResult(group, titles, q, now))}</ol>
    ${pager({ offset, size: ROWS, more }, (at) => getSearchAddress(q, at))}
    ${renderCsvLink(`/search${search({ q, csv: 1 })}`)}`;
}

const CSV_COLUMNS: CsvColumns<FailureRow> = {
  seen_at: (row) => row.seenAt,
  repository: (row) => row.repository,
  pipeline: (row) => row.pipeline,
  number: (row) => row.number,
  branch: (row) => row.branch,
  commit: (row) => row.commit,
  category: (row) => row.category ?? null,
  decided_by: (row) => row.decidedBy ?? null,
  test: (row) => row.failure.test?.name ?? null,
  message: (row) => row.failure.message.slice(0, MESSAGE),
  fingerprint: (row) => row.failure.fingerprint.value,
  build_id: (row) => row.failure.buildId,
};

/** Renders consecutive failures with the same cause in the same build as one row. */
function renderResult(
  group: readonly [FailureRow, ...FailureRow[]],
  titles: ReadonlyMap<string, string>,
  q: string,
  now: number,
): Shown {
  const [row] = group;
  const { failure, repository, pipeline, number, branch, commit, category, analysisId, decidedBy, seenAt } =
    row;
  const [line = ''] = failure.message.split('\n');
  const title = (analysisId === null ? undefined : titles.get(analysisId)) ?? failure.test?.name ?? line;
  const tests = [...new Set(group.flatMap(({ failure: { test } }) => (test === null ? [] : [test.name])))];
  const narrowed = (part: string, words: string) =>
    q.includes(part)
      ? html`${words}`
      : html`<a href="${getSearchAddress(`${q} ${part}`.slice(0, MAX_SEARCH))}">${words}</a>`;
  const place: Shown[] = [
    narrowed(`repo:${repository}`, repository),
    html`<a href="${buildAddress(failure.buildId)}">${pipeline} #${number}</a>`,
    branch !== null && narrowed(`branch:${branch}`, branch),
    commit !== null && html`<code>${shortenCommit(commit)}</code>`,
    formatAge(seenAt, now),
  ].filter((part) => part !== false);
  const address = analysisId === null ? buildAddress(failure.buildId) : formatAnalysisAddress(analysisId);
  return html`<li><a class="title"
    href="${address}">${title}</a><br>${renderCategory(category)}${
      decidedBy !== null && html` <span class="quiet">decided by ${decidedBy}</span>`
    }${group.length > 1 && html` <span class="quiet">${group.length} failures</span>`}
    ${
      tests.length > 0 &&
      html`<br><span class="quiet">${joinHtml(tests.slice(0, 3), ', ')}${
        tests.length > 3 && ` and ${tests.length - 3} more`
      }</span>`
    }
    <pre>${line.slice(0, MESSAGE)}</pre><span class="quiet">${joinHtml(place, ' · ')}</span></li>`;
}
