import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Period } from '../../domain/insights.ts';
import { GradeQuestion, OutcomeGrade } from '../../domain/outcome.ts';
import type { Role } from '../../domain/review.ts';
import { search } from '../addresses.ts';
import type { ChartTable } from '../charts/chart.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { renderOptions, tabs } from '../controls.ts';
import {
  applyTypedFilter,
  BRANCH_ELSEWHERE,
  filterBar,
  REPOSITORY_FIELD,
  unknownFilter,
} from '../filters.ts';
import { type Html, html, type Shown } from '../html.ts';
import { Day, misreadBanner, Offset, Words } from '../http.ts';
import { sendCsv } from '../lists-as-csv.ts';
import { type ConsoleApp, loadReader, mayReview, route, sendPage } from '../page.ts';
import { formatScopedAddress, type PageScope, ScopeFields } from '../scope.ts';

/** The query fields of the insights. Invalid values are ignored. */
export const InsightsQuery = z.object({
  ...ScopeFields,
  category: Category.optional().catch(undefined),
  /** `t` is the threshold to inspect. `wrong` is the accepted share of wrong answers in percent. */
  t: z.coerce.number().min(0).max(1).optional().catch(undefined),
  wrong: z.coerce.number().int().min(0).max(50).catch(5).default(5),
  /** The verdict of the decided answers to list. */
  verdict: z.enum(['all', 'right', 'wrong']).catch('all').default('all'),
  /** The question and the grade of the graded answers to list. */
  question: GradeQuestion.catch('category').default('category'),
  grade: OutcomeGrade.optional().catch(undefined),
  /** The first day of the period. If absent, the period ends today. */
  day: Day,
  /**
   * The first and last day of a period. `compare` is the first day of the period with which it is compared.
   */
  from: Day,
  to: Day,
  compare: Day,
  /** The list of tests that is shown. */
  list: z.enum(['flaky', 'failing', 'cost', 'quarantine']).catch('flaky').default('flaky'),
  /** Minutes that a person loses because of a failed build. */
  minutes: z.coerce.number().int().min(0).max(480).catch(10).default(10),
  /** The names of the stored runs to compare. */
  baseline: z.string().trim().max(100).catch('').default(''),
  candidate: z.string().trim().max(100).catch('').default(''),
  offset: Offset,
  /** The text that was typed into the field of filters. */
  filter: Words,
  /** The table that is requested as CSV. */
  csv: z.string().max(50).optional().catch(undefined),
});
export type InsightsQuery = z.infer<typeof InsightsQuery>;

/** One page of the insights. */
export interface InsightsView {
  readonly title: string;
  readonly main: Html;
  /** The tables that can be downloaded as CSV, by name. */
  readonly tables: Readonly<Record<string, ChartTable>>;
}

export interface InsightsRoute {
  readonly path: string;
  readonly role: Role;
  /** Creates the page. `acts` is true if the reader may decide, which adds the actions. */
  view(query: InsightsQuery, deps: ConsoleDeps, acts: boolean): Promise<InsightsView>;
}

const PAGES = [
  { path: '/insights', name: 'Overview', role: 'read' },
  { path: '/insights/trust', name: 'Trust', role: 'read' },
  { path: '/insights/models', name: 'Models', role: 'read' },
  { path: '/insights/health', name: 'Health', role: 'read' },
  { path: '/insights/causes', name: 'Top causes', role: 'read' },
  { path: '/insights/cost', name: 'Cost and time', role: 'read' },
  { path: '/insights/reviewers', name: 'Reviewing', role: 'review' },
] as const;
const DAY_MS = 86_400_000;
/** The maximum number of repositories in the filter. */
const MAX_REPOSITORIES = 50;

/** Registers a page of the insights, or one of its tables as CSV. */
export function registerInsightsRoute(
  app: ConsoleApp,
  deps: ConsoleDeps,
  { path, role, view }: InsightsRoute,
): void {
  app.get(path, route(role, { querystring: InsightsQuery }), async (request, reply) => {
    const [shown, repositories] = await Promise.all([
      view(request.query, deps, mayReview(request.principal)),
      deps.stores.builds.repositories({ words: '' }, MAX_REPOSITORIES),
    ]);
    const filtered = applyTypedFilter(reply, request.query.filter, {
      path,
      query: listGiven(request.url),
      fields: FIELDS,
      offers: repositories.map((value) => ({ field: 'repository', value, count: 0 })),
    });
    if (filtered !== undefined) return filtered;
    if (request.query.csv !== undefined) return sendTable(reply, shown.tables, request.query.csv);
    const reader = await loadReader(request, deps);
    const notices = html`${misreadBanner(request, InsightsQuery)}${unknownFilter(request.query.filter)}`;
    const main = html`${notices}<div id="figures" class="flow" data-live
      data-say="The figures changed.">${shown.main}</div><datalist id="repositories">${repositories.map(
        (name) => html`<option value="Repository: ${name}"></option>`,
      )}</datalist>`;
    const isTests = path === TESTS_PATH;
    const top = isTests
      ? testsTabs(request.query)
      : insightsTabs(path, mayReview(reader.principal), request.query);
    const part = isTests ? 'tests' : 'insights';
    const page = { title: shown.title, part, top, main, scope: request.query } as const;
    return sendPage(request, reply, { ...page, ...(path === '/insights' && { live: {} }) }, reader);
  });
}

/** Sends a table of a page as CSV. Throws `not-found` for a name that the page does not have. */
export function sendTable(reply: FastifyReply, tables: InsightsView['tables'], name: string): FastifyReply {
  const table = Object.hasOwn(tables, name) ? tables[name] : undefined;
  if (table === undefined) throw new TriageError('not-found', `This page has no table named "${name}".`);
  return sendCsv(reply, name, table);
}

/** Renders links to the other pages of the insights. With `review`, also links to the pages for reviewers. */
function insightsTabs(path: string, review: boolean, scope: PageScope): Html {
  const pages = PAGES.filter(({ role }) => role === 'read' || review);
  const links = pages.map((page) => ({
    address: formatScopedAddress(page.path, scope),
    words: page.name,
    isHere: page.path === path,
  }));
  return html`<p class="page-title">Insights</p>${tabs('Insights', links)}`;
}

/** The address of the lists of tests. */
export const TESTS_PATH = '/tests';

/** The names of the lists of tests. */
const TEST_LISTS = {
  flaky: 'Flaky',
  failing: 'Failing',
  cost: 'Costliest',
  quarantine: 'Quarantine',
} as const;

/** Renders links to the lists of tests. */
function testsTabs({ repo, branch, days, list }: InsightsQuery): Html {
  const links = (['flaky', 'failing', 'cost', 'quarantine'] as const).map((name) => ({
    address: `${TESTS_PATH}${search({ repo, branch, days, list: name === 'flaky' ? undefined : name })}`,
    words: TEST_LISTS[name],
    isHere: name === list,
  }));
  return html`<p class="page-title">Tests</p>${tabs('Lists of tests', links)}`;
}

/** Returns a period of whole UTC days that ends today, or that begins on `day`. */
export function toPeriod(
  { repo, day }: Pick<InsightsQuery, 'repo' | 'day'>,
  days: number,
  now: number,
): Period {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const last = day === undefined ? today : Date.parse(day) + (days - 1) * DAY_MS;
  return { ...(repo !== '' && { repository: repo }), until: new Date(last + DAY_MS - 1).toISOString(), days };
}

const FIELDS = [REPOSITORY_FIELD, BRANCH_ELSEWHERE];

/** Lists the fields in the address of a page, except the typed filter and the offset. */
function listGiven(url: string): Record<string, string> {
  const { filter: _, offset: __, ...given } = Object.fromEntries(new URL(url, 'http://page').searchParams);
  return given;
}

/** Renders the filters of a page: the repository, the branch, and `more`. */
export function filterForm(path: string, { repo, branch }: InsightsQuery, more: Shown = null): Html {
  const filtering = { path, query: { repo, branch }, fields: FIELDS, offers: [] };
  return filterBar('Insights', filtering, { more, list: 'repositories' });
}

/** Renders a choice of the number of days to look back. */
export function daysField(days: number, choices: readonly number[]): Html {
  return html`<label>Days <select name="days">${renderOptions(choices, days)}</select></label>`;
}
