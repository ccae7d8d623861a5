import type { ListedGrade } from '../../domain/graded.ts';
import { TOO_FEW } from '../../domain/insights.ts';
import { type GradeQuestion, QUESTION_WORDS } from '../../domain/outcome.ts';
import { ROUTE_WORDS } from '../../domain/publish-bound.ts';
import { computeProportion } from '../../lib/statistics.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import { type Outcomes, readOutcomes, toYear } from '../../service/answers/outcomes.ts';
import { buildAddress, formatAnalysisAddress, search } from '../addresses.ts';
import { type ChartTable, formatPercent } from '../charts/chart.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { pager, renderTime } from '../controls.ts';
import { createNumberColumns, dataTable, type Html, html, type Shown } from '../html.ts';
import { renderCategory } from '../parts/marks.ts';
import type { InsightsQuery, InsightsView } from './insights-frame.ts';

const PATH = '/insights/trust/outcomes';
const PAGE = 50;
const MAX_REPOSITORIES = 20;

/** The part of the page Trust about how often answers were right, and its table for download. */
export interface OutcomesPart {
  readonly main: Html;
  readonly table: ChartTable;
}

/** Renders the accuracy of answers according to later builds: by question, route and repository. */
export async function renderOutcomes({ repo }: InsightsQuery, deps: ConsoleDeps): Promise<OutcomesPart> {
  const outcomes = await readOutcomes(deps, repo === '' ? {} : { repository: repo });
  const table = {
    head: ['by', 'name', 'right', 'wrong', 'doubtful', 'by_person', 'low', 'high'],
    rows: toRows(outcomes),
  };
  const isEmpty = outcomes.questions.every(({ right, wrong, doubtful }) => right + wrong + doubtful === 0);
  if (isEmpty)
    return {
      table,
      main: html`<p>No answer is graded yet: no failed build is followed by one that passed.</p>`,
    };
  const { questions, routes, repositories } = outcomes;
  const asked = questions.filter(({ right, wrong, doubtful }) => right + wrong + doubtful > 0);
  const byQuestion = asked.map((row) =>
    renderOutcomeRow(QUESTION_WORDS[row.question], row, { repo, question: row.question }),
  );
  const byRoute = routes.map((row) =>
    renderOutcomeRow(row.route === null ? 'others' : ROUTE_WORDS[row.route], row),
  );
  const byRepository = repositories
    .slice(0, MAX_REPOSITORIES)
    .map((row) => renderOutcomeRow(row.repository, row, { repo: row.repository, question: 'category' }));
  const ofRepositories = dataTable('Category right, by repository', createHead('Repository'), byRepository);
  const main = html`<p>Each answer is graded by the build that passed next: by the change between the two, or
    because the same commit passed. A person's decision on the category wins over it. What does not tell is
    doubtful and counts for nothing. An interval is shown from ${TOO_FEW} graded answers on.</p>
    ${dataTable('What happened next', createHead('Question'), byQuestion)}
    <details class="flow"><summary>The category, by what the answer rested on${
      repo === '' && ', and by repository'
    }</summary>${dataTable('Category right, by route', createHead('Answers'), byRoute)}${
      repo === '' && ofRepositories
    }</details>
    <p class="quiet"><a href="/insights/trust${search({ repo, csv: 'outcomes' })}">Download CSV</a></p>`;
  return { main, table };
}

function createHead(first: string) {
  return [first, ...createNumberColumns('Right (95 % interval)', 'Wrong', 'Doubtful', 'Decided by a person')];
}

type Shares = Outcomes['questions'][number] | Outcomes['routes'][number] | Outcomes['repositories'][number];

function renderOutcomeRow(
  name: string,
  { right, wrong, doubtful, byPerson, low }: Shares,
  lists?: { readonly repo: string; readonly question: GradeQuestion },
): Html {
  const link = (grade: string, count: number, words: string): Shown =>
    lists === undefined || count === 0
      ? words
      : html`<a href="${PATH}${search({ ...lists, grade })}">${words}</a>`;
  const { share, low: from, high: to } = computeProportion(right, right + wrong);
  const of = `${formatNumber(right)} of ${formatNumber(right + wrong)}`;
  const words =
    low === null ? of : `${of} (${formatPercent(share)}; ${formatPercent(from)} to ${formatPercent(to)})`;
  return html`<tr><th scope="row">${name}</th>
    <td class="number">${link('right', right, words)}</td>
    <td class="number">${link('wrong', wrong, formatNumber(wrong))}</td>
    <td class="number">${link('doubtful', doubtful, formatNumber(doubtful))}</td>
    <td class="number">${formatNumber(byPerson)}</td></tr>`;
}

function toRows({ questions, routes, repositories }: Outcomes): ChartTable['rows'] {
  const row = (by: string, name: string, { right, wrong, doubtful, byPerson, low, high }: Shares) =>
    [
      [by, name],
      [right, wrong, doubtful, byPerson],
      [low, high],
    ].flat();
  return [
    ...questions.map((entry) => row('question', entry.question, entry)),
    ...routes.map((entry) => row('route', entry.route ?? '', entry)),
    ...repositories.map((entry) => row('repository', entry.repository, entry)),
  ];
}

/** Renders `/insights/trust/outcomes`: the graded answers that a count includes. */
export async function renderGraded(
  query: InsightsQuery,
  { stores, clock }: ConsoleDeps,
): Promise<InsightsView> {
  const { repo, question, grade, offset } = query;
  const period = toYear(clock, repo === '' ? {} : { repository: repo });
  const found = await stores.grades.list(
    period,
    { question, grade: grade ?? null },
    { limit: PAGE + 1, offset },
  );
  const listed = found.slice(0, PAGE);
  const title = `${QUESTION_WORDS[question]}: ${grade ?? 'all grades'}`;
  const findPage = (at: number) =>
    `${PATH}${search({ repo, question, grade, offset: at === 0 ? undefined : at })}`;
  const main = html`<h1 tabindex="-1">${title}</h1>
    <p>Graded by what happened next, newest first.
    <a href="/insights/trust${search({ repo })}#outcomes">Back to Trust</a></p>
    ${
      listed.length === 0
        ? html`<p>${offset > 0 ? 'No more answers.' : 'There are none.'}</p>`
        : dataTable(title, LISTED, listed.map(renderGradedRow), { className: 'wide' })
    }
    ${pager({ offset, size: PAGE, more: found.length > PAGE }, findPage)}`;
  const rows = listed.map((entry) => [
    entry.at,
    entry.title,
    entry.repository,
    entry.category,
    entry.grade,
    entry.because,
    entry.analysisId,
  ]);
  const columns = ['failed', 'title', 'repository', 'category', 'grade', 'because', 'analysis'];
  return { title, main, tables: { grades: { head: columns, rows } } };
}

const LISTED = ['Failed', 'Failure', 'Faultline said', 'What happened next'];
const LOOKS = { right: 'is-green', wrong: 'is-red', doubtful: 'quiet' } as const;

function renderGradedRow(entry: ListedGrade): Html {
  return html`<tr><td>${renderTime(entry.at)}</td>
    <td><a href="${formatAnalysisAddress(entry.analysisId)}">${entry.title}</a><br>
    <span class="quiet">${entry.repository}</span></td>
    <td>${renderCategory(entry.category)}</td>
    <td><span class="${LOOKS[entry.grade]}">${entry.grade}</span>: ${entry.because}
    (<a href="${buildAddress(entry.greenBuildId)}">the build that passed</a>)</td></tr>`;
}
