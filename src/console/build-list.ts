import { z } from 'zod';
import { type Build, BuildStatus } from '../domain/build.ts';
import { formatNumber } from '../notifications/visible-text.ts';
import type { AnalysisHead } from '../stores/failures.ts';
import { buildAddress, formatAnalysisAddress, formatRepositoryAskAddress, search } from './addresses.ts';
import { getPublishLimit } from './answer/facts.ts';
import { nameSureness } from './answer/sure.ts';
import { buildName, listOriginParts, STATUS_MARKS } from './builds.ts';
import { nameEveryCi } from './ci-links.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { formatAge, pager } from './controls.ts';
import {
  applyTypedFilter,
  DAYS_FIELD,
  type FilterField,
  filterBar,
  REPOSITORY_FIELD,
  unknownFilter,
} from './filters.ts';
import { type Html, html, joinHtml } from './html.ts';
import { Day, misreadBanner, Offset, Words } from './http.ts';
import { type CsvColumns, readWhole, renderCsvLink, sendCsv, toCsvTable } from './lists-as-csv.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';
import { icon } from './parts/icons.ts';
import { liveLine } from './parts/live-line.ts';
import { categoryTile } from './parts/marks.ts';
import { computeScopeStart, ScopeFields } from './scope.ts';

const PAGE = 50;
const Query = z.object({
  ...ScopeFields,
  pipeline: Words,
  number: Words,
  job: Words,
  /** `ended` means passed or failed. */
  status: BuildStatus.or(z.enum(['ended', '']))
    .catch('')
    .default(''),
  /** The first and the last UTC day on which builds were received. */
  from: Day,
  to: Day,
  /** The text that was typed into the field of filters. */
  filter: Words,
  offset: Offset,
  csv: z.literal('1').optional().catch(undefined),
});
type Query = z.infer<typeof Query>;

const FIELDS: readonly FilterField[] = [
  REPOSITORY_FIELD,
  { name: 'branch', label: 'Branch', offered: 'branch' },
  {
    name: 'status',
    label: 'Status',
    offered: 'status',
    values: [...BuildStatus.options, 'ended'],
    format: (value) => (value === 'ended' ? 'passed or failed' : value),
  },
  { name: 'pipeline', label: 'Pipeline', offered: 'pipeline' },
  { name: 'number', label: 'Number', takes: /^#?\d+$/ },
  DAYS_FIELD,
  { name: 'job', label: 'Failed job' },
  { name: 'from', label: 'From' },
  { name: 'to', label: 'To' },
];

function getListAddress(query: Query, more: Readonly<Record<string, string>> = {}): string {
  return `/builds${search({ ...toAddress(query), offset: query.offset || undefined, ...more })}`;
}

function toAddress({ offset: _, filter: __, csv: ___, ...fields }: Query) {
  return fields;
}

/** Registers `/builds`, the list of received builds, newest first, with the causes that were found. */
export function registerBuildList(app: ConsoleApp, deps: ConsoleDeps): void {
  const { builds } = deps.stores;
  app.get('/builds', route('read', { querystring: Query }), async (request, reply) => {
    const { query } = request;
    const filter = toBuildFilter(query, deps.clock.now());
    if (query.csv !== undefined)
      return sendCsv(
        reply,
        'builds',
        toCsvTable(CSV_COLUMNS, await readWhole((page) => builds.list(filter, page))),
      );
    const [found, [newest], offers] = await Promise.all([
      builds.list(filter, { limit: PAGE + 1, offset: query.offset }),
      builds.list({}, { limit: 1, offset: 0 }),
      builds.offers(filter),
    ]);
    const filtering = { path: '/builds', query: toAddress(query), fields: FIELDS, offers };
    const filtered = applyTypedFilter(reply, query.filter, filtering);
    if (filtered !== undefined) return filtered;
    const pageBuilds = found.slice(0, PAGE);
    const heads = await deps.stores.analyses.heads(pageBuilds.map(({ id }) => id));
    const main = html`${misreadBanner(request, Query)}${unknownFilter(query.filter)}${filterBar(
      'Builds',
      filtering,
    )}<div
      id="builds" data-live="build">${renderList(pageBuilds, heads, query, {
        now: deps.clock.now(),
        limit: getPublishLimit(deps.config),
      })}</div>${pager({ offset: query.offset, size: PAGE, more: found.length > PAGE }, (offset) =>
        getListAddress({ ...query, offset }),
      )}${pageBuilds.length > 0 && renderCsvLink(getListAddress({ ...query, offset: 0 }, { csv: '1' }))}`;
    const top = html`<h1 tabindex="-1">Builds</h1><div class="acts">${liveLine(
      newest?.receivedAt,
      deps.clock.now(),
    )}<a class="btn" href="${formatRepositoryAskAddress(query.repo)}">Ask about the code</a><a class="btn"
      href="/paste">Paste a log</a></div>`;
    const page = { title: 'Builds', part: 'builds', top, live: {}, main } as const;
    return answerPage(request, reply, deps, { ...page, scope: query });
  });
}

const CSV_COLUMNS: CsvColumns<Build> = {
  repository: (build) => build.repository,
  pipeline: (build) => build.pipeline,
  number: (build) => build.number,
  attempt: (build) => build.attempt,
  status: (build) => build.status,
  branch: (build) => build.branch,
  pull_request: (build) => build.pullRequest,
  commit: (build) => build.commit,
  author: (build) => build.author,
  received_at: (build) => build.receivedAt,
  url: (build) => build.url,
  id: (build) => build.id,
};

const DAY_MS = 86_400_000;

/** The values of all rows: the time in milliseconds, and the confidence from which answers are published. */
interface Shared {
  readonly now: number;
  readonly limit: number;
}

function toBuildFilter(query: Query, now: number) {
  const { repo, branch, pipeline, number, job, from, to, status, days } = query;
  const texts = { repository: repo, branch, pipeline, number: number.replace(/^#/, ''), job };
  const since = from === undefined ? computeScopeStart(days, now) : `${from}T00:00:00.000Z`;
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== '')),
    ...(status !== '' && { status }),
    ...(since !== undefined && { since }),
    ...(to !== undefined && { until: new Date(Date.parse(to) + DAY_MS).toISOString() }),
  };
}

function renderList(
  builds: readonly Build[],
  heads: readonly AnalysisHead[],
  query: Query,
  shared: Shared,
): Html {
  if (builds.length === 0) return emptyBuilds(query);
  const rows = groupPassed(builds, query).map((group) => {
    const [build] = group;
    if (build === undefined) return null;
    const causes = heads.filter(({ buildId }) => buildId === build.id);
    return group.length > 1 ? foldedRow(group, shared) : buildRow(build, causes, shared);
  });
  return html`<section class="panel" aria-label="Builds, newest first"><ul
    class="rows">${rows}</ul></section>`;
}

/**
 * Groups consecutive passed builds. A list that is filtered by status or number is not grouped, because
 * single builds were requested.
 */
function groupPassed(builds: readonly Build[], { status, number }: Query): Build[][] {
  const groups: Build[][] = [];
  for (const build of builds) {
    const group = groups.at(-1);
    const isFolded = status === '' && number === '' && build.status === 'passed';
    if (isFolded && group?.at(-1)?.status === 'passed') group.push(build);
    else groups.push([build]);
  }
  return groups;
}

/** The maximum number of repositories that a row of passed builds names. */
const NAMED_REPOSITORIES = 3;

function foldedRow(builds: readonly Build[], shared: Shared): Html {
  const names = [...new Set(builds.map(({ repository }) => repository))];
  const more = names.length - NAMED_REPOSITORIES;
  const oldest = builds.at(-1);
  return html`<li id="passed-${oldest?.id}" data-row>${icon('check', 'is-green')}<details
    class="grow"><summary><b>${builds.length} passed</b> <span
    class="quiet">${names.slice(0, NAMED_REPOSITORIES).join(', ')}${
      more > 0 && ` and ${more} more`
    }</span></summary><ul class="rows flush">${builds.map((build) =>
      buildRow(build, [], shared),
    )}</ul></details></li>`;
}

function buildRow(build: Build, causes: readonly AnalysisHead[], { now, limit }: Shared): Html {
  const { id, repository, status, receivedAt, author } = build;
  const { sign, tone } = STATUS_MARKS[status];
  const origin = listOriginParts({ ...build, author: null });
  const found =
    causes.length === 0
      ? html`<p class="grow quiet">${status === 'failed' && 'No analysis yet'}</p>`
      : renderCauses(build, causes, limit);
  return html`<li id="${id}" data-row>${icon(sign, tone !== null && `is-${tone}`)}<span
    class="seen-not">${status}:
    </span><div class="grow"><a class="whole" href="${buildAddress(id)}">${repository}
    <span class="quiet">${buildName(build)}</span></a><p class="meta">${joinHtml(origin, ', ')}${
      author !== null && ` by ${author}`
    }</p></div>${found}<span class="end meta num"><time datetime="${receivedAt}"
    title="${receivedAt}">${formatAge(receivedAt, now)}</time></span></li>`;
}

/**
 * The maximum number of causes that the row of a build names. The others are counted, and shown on the page
 * of the build.
 */
const NAMED = 2;

function renderCauses({ id }: Build, causes: readonly AnalysisHead[], limit: number): Html {
  // One more would take as much room as the line that counts it.
  const listed = causes.length === NAMED + 1 ? causes : causes.slice(0, NAMED);
  const more = causes.length - listed.length;
  return html`<ul class="grow">${listed.map((head) => causeLine(head, limit))}${
    more > 0 && html`<li><a class="above" href="${buildAddress(id)}">${formatNumber(more)} more</a></li>`
  }</ul>`;
}

function causeLine(head: AnalysisHead, limit: number): Html {
  const { id, category, title } = head;
  const standing = describeStanding(head, limit);
  return html`<li class="row">${categoryTile(category)}<span class="grow"><a class="above"
    href="${formatAnalysisAddress(id)}">${title}</a> <span class="meta">${standing}</span></span></li>`;
}

function describeStanding(head: AnalysisHead, limit: number): string {
  if (head.fromLibrary || head.decided) return 'confirmed';
  if (head.category === null) return 'no answer';
  const waits = head.action === 'auto_notify' ? '' : ', waits for review';
  return `${nameSureness(head, limit).toLowerCase()}${waits}`;
}

function emptyBuilds(query: Query): Html {
  const given = Object.values(toAddress(query)).some((value) => value !== '' && value !== undefined);
  if (given)
    return html`<div class="empty"><p>No build fits these filters.</p>
      <p><a class="btn" href="/builds">Remove the filters</a></p></div>`;
  return html`<div class="empty"><p>No builds yet. Send webhooks from ${nameEveryCi()}, or upload a log.</p>
    <p><a class="btn" href="/">How to begin</a></p></div>`;
}
