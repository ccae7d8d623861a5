import type { Cause } from '../../domain/cause.ts';
import type { FailedJobs, Health, Mark, RepositoryHealth } from '../../domain/health.ts';
import { sumNumbers } from '../../lib/collections.ts';
import { computeProportion } from '../../lib/statistics.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import { search } from '../addresses.ts';
import {
  type Chart,
  type ChartTable,
  createLinesChart,
  figure,
  formatPercent,
  sparkline,
} from '../charts/chart.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { dayField, formatDay, formatSpan, tabs } from '../controls.ts';
import { createNumberColumns, dataTable, type Html, html, linkTarget, type Shown } from '../html.ts';
import { unreadLogs } from '../unread-logs.ts';
import { filterForm, type InsightsQuery, type InsightsView } from './insights-frame.ts';

const PATH = '/insights/health';
/** The maximum number of pipelines and branches that are shown, those with the most failed builds first. */
const MOST = 50;
/** The maximum number of causes that are read for the lists of what to do. */
const MAX_CAUSES = 200;
const CHOICES = [7, 30, 90];
const MAX_DAYS = 366;
const DAY_MS = 86_400_000;
/** The relative increase from which a run time counts as changed. */
const CHANGED = 0.1;

/**
 * Two periods of the same length, by their first and last days. `address` adds their fields to the address of
 * a page.
 */
interface Periods {
  readonly days: number;
  readonly now: { readonly from: string; readonly to: string };
  readonly before: { readonly from: string; readonly to: string };
  readonly address: Readonly<Record<string, string | number | undefined>>;
  /** True if the period ends today. */
  readonly isCurrent: boolean;
}

/**
 * Creates the view of `/insights/health`: how often pipelines and branches fail, how long they are red, and
 * how long builds take, compared with another period.
 */
export async function renderHealthView(query: InsightsQuery, deps: ConsoleDeps): Promise<InsightsView> {
  const { stores, clock } = deps;
  const { repo } = query;
  const periods = resolvePeriods(query, clock.now());
  const period = {
    until: `${periods.now.to}T23:59:59.999Z`,
    days: periods.days,
    comparedFrom: periods.before.from,
  };
  const within = repo === '' ? {} : { repository: repo };
  const [pipelines, causes, unread] = await Promise.all([
    stores.health.pipelines({ ...period, ...within }, MOST),
    periods.isCurrent
      ? stores.causes.list({ ...within, list: 'red', assignee: '' }, { limit: MAX_CAUSES, offset: 0 })
      : [],
    periods.isCurrent ? unreadLogs(deps, repo === '' ? undefined : repo) : null,
  ]);
  const selected =
    repo === '' || pipelines.length === 0
      ? null
      : await stores.health.repository({ ...period, repository: repo }, MOST);
  const trend = selected === null ? null : createTrendChart(selected, repo, periods);
  const main = html`<h1 tabindex="-1">${writeHeadline(pipelines, periods)}</h1>
    ${filters(query, periods)}
    <p class="quiet">${formatDay(periods.now.from)} to ${formatDay(periods.now.to)} (UTC); in parentheses,
    ${formatDay(periods.before.from)} to ${formatDay(periods.before.to)}. A branch is red from the end of a
    failed build until the end of the next build that passes.</p>
    ${
      pipelines.length === 0
        ? html`<p>No builds passed or failed in the last ${periods.days} days.</p>`
        : renderTable('pipelines', pipelines, periods, causes)
    }
    ${trend !== null && figure(trend)}
    ${
      selected !== null &&
      html`${
        selected.branches.length > 0 &&
        html`<h2>Branches</h2>${renderTable('branches', selected.branches, periods)}`
      }<h2>Jobs</h2>${renderJobs(selected.jobs, repo, periods)}`
    }
    ${unread}`;
  return {
    title: 'Health',
    main,
    tables: {
      health: createHealthTable('default branch', pipelines),
      ...(selected !== null && {
        branches: createHealthTable('branch', selected.branches),
        jobs: {
          head: ['job', 'failed builds', 'of'],
          rows: selected.jobs.jobs.map(({ job, builds }) => [job, builds, selected.jobs.builds]),
        },
      }),
      ...(trend !== null && { trend: trend.table }),
    },
  };
}

/** Builds a chart of the share of failed builds per day, with events that may explain a change. */
function createTrendChart(
  { days, marks }: RepositoryHealth,
  repo: string,
  { days: length, now, address }: Periods,
): Chart {
  const steps = Array.from({ length }, (_, at) => addDays(now.from, at));
  const shares = new Map(days.map((day) => [day.day, day.failed / day.builds]));
  const [builds, failed] = [
    sumNumbers(days.map((day) => day.builds)),
    sumNumbers(days.map((day) => day.failed)),
  ];
  return createLinesChart({
    id: 'trend',
    name: 'Share of builds that failed, per day',
    finding: `${formatPercent(failed / builds)} of ${formatNumber(builds)} builds failed`,
    steps,
    per: 'day',
    series: [{ name: 'Failed', look: 'median', values: steps.map((day) => shares.get(day) ?? null) }],
    say: formatPercent,
    top: 1,
    csv: `${PATH}${search({ repo, ...address, csv: 'trend' })}`,
    events: marks.map(({ at, name }) => ({ step: at.slice(0, 10), name })),
    below: marks.length > 0 && html`<ul class="key" aria-label="Events">${marks.map(markLine)}</ul>`,
    listAddress: (from, count) =>
      `/builds${search({ repo, status: 'failed', from, to: addDays(from, count - 1) })}`,
  });
}

function markLine({ at, name, url }: Mark): Html {
  const address = linkTarget(url);
  return html`<li><i class="event"></i>${formatDay(at)}:
    ${address === null ? name : html`<a href="${address}" rel="noreferrer">${name}</a>`}</li>`;
}

/**
 * Derives missing dates from the given ones: the period ends today and is 7 days long, 30 for one repository;
 * the other period ends before it begins.
 */
function resolvePeriods({ repo, days: wanted, from, to, compare }: InsightsQuery, now: number): Periods {
  const today = toDay(now);
  const length = wanted ?? (repo === '' ? 7 : 30);
  const end = to ?? (from !== undefined && from > today ? from : today);
  const begin = from ?? addDays(end, 1 - length);
  const [first, last] = begin <= end ? [begin, end] : [end, begin];
  const days = Math.min(MAX_DAYS, countDaysBetween(first, last) + 1);
  const start = addDays(last, 1 - days);
  const other = compare ?? addDays(start, -days);
  return {
    days,
    now: { from: start, to: last },
    before: { from: other, to: addDays(other, days - 1) },
    address: { days: wanted, from, to, compare },
    isCurrent: last === today,
  };
}

function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function addDays(day: string, days: number): string {
  return toDay(Date.parse(day) + days * DAY_MS);
}

function countDaysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

function filters(query: InsightsQuery, { days, now, isCurrent }: Periods): Html {
  const links = CHOICES.map((choice) => {
    const address = `${PATH}${search({ repo: query.repo, days: choice })}`;
    return { address, words: `Last ${choice} days`, isHere: isCurrent && choice === days };
  });
  const fields = html`${dayField('from', now.from)}${dayField('to', now.to)}${dayField(
    'compare',
    query.compare,
    'compare with, from',
  )}`;
  return html`${filterForm(PATH, query, fields)}${tabs('Last days', links)}`;
}

function writeHeadline(found: readonly Health[], { days, now, isCurrent }: Periods): string {
  if (!isCurrent) return `Health from ${formatDay(now.from)} to ${formatDay(now.to)}`;
  const red = found.filter(({ isRed }) => isRed);
  const [worst] = red;
  if (worst !== undefined)
    return red.length === 1
      ? `${worst.repository} is red on ${worst.branch} (${worst.pipeline})`
      : `${red.length} pipelines are red on their default branch`;
  return found.length === 0 ? 'Health' : `No default branch is red (last ${days} days)`;
}

type By = 'pipelines' | 'branches';

function renderTable(
  by: By,
  found: readonly Health[],
  periods: Periods,
  causes: readonly Cause[] = [],
): Html {
  const known = findKnown(found);
  const figures = [
    createNumberColumns('Builds', 'Failed'),
    known.queue ? createNumberColumns('Median queue time') : [],
    known.run ? createNumberColumns('Median run time') : [],
  ].flat();
  const branch = by === 'pipelines' ? ['Default branch'] : [];
  const head = [
    by === 'pipelines' ? 'Pipeline' : 'Branch',
    ...figures,
    ...branch,
    ...createNumberColumns('Red time', 'Time to green'),
    ...(isNarrow(periods) ? ['Failed per day'] : []),
  ];
  const label = `${by === 'pipelines' ? 'Pipelines' : 'Branches'}, most failed builds first`;
  const repo = by === 'branches' ? found[0]?.repository : undefined;
  const table = by === 'pipelines' ? 'health' : by;
  const csv = `${PATH}${search({ repo, ...periods.address, csv: table })}`;
  return html`${dataTable(
    label,
    head,
    found.map((health) => row(by, health, periods, { known, acts: whoActs(health, causes) })),
  )}<p class="quiet">${found.length === MOST && `The ${MOST} with the most failed builds. `}<a
    href="${csv}">Download CSV</a></p>`;
}

/**
 * Renders who should fix a red default branch: the assignees of its causes, else their owners. Renders
 * nothing if no cause is known.
 */
function whoActs({ repository, pipeline }: Health, causes: readonly Cause[]): Shown {
  const pipelineCauses = causes.filter(
    (cause) => cause.repository === repository && cause.redPipelines.includes(pipeline),
  );
  if (pipelineCauses.length === 0) return null;
  const assignees = new Set(pipelineCauses.flatMap(({ assignee }) => assignee ?? []));
  const owners = new Set(
    pipelineCauses.flatMap(({ assignee, owner }) => (assignee === null ? (owner?.names ?? []) : [])),
  );
  const parts = [
    ...(assignees.size > 0 ? [`assigned to ${[...assignees].join(', ')}`] : []),
    ...(owners.size > 0 ? [`owner: ${[...owners].join(', ')}`] : []),
  ];
  const words = parts.length === 0 ? 'no known owner' : parts.join('; ');
  return html`<br><a href="/causes${search({ list: 'red', repo: repository })}">${words}</a>`;
}

/** The figures that are known for at least one pipeline. Other columns are omitted. */
interface Known {
  readonly queue: boolean;
  readonly run: boolean;
  readonly before: boolean;
}

function findKnown(found: readonly Health[]): Known {
  return {
    queue: found.some(({ queueMinutes }) => queueMinutes !== null),
    run: found.some(({ minutes }) => minutes !== null),
    before: found.some(({ buildsBefore }) => buildsBefore > 0),
  };
}

/** Renders a row of figures, each a link to its builds. */
function row(
  by: By,
  health: Health,
  periods: Periods,
  { known, acts }: { readonly known: Known; readonly acts: Shown },
): Html {
  const { repository, pipeline, branch } = health;
  const filters = { repo: repository, pipeline, ...(by === 'branches' && branch !== null && { branch }) };
  const builds = (which: 'now' | 'before', status: string, words: Shown, more: object = {}) =>
    html`<a href="/builds${search({ ...filters, ...more, status, ...periods[which] })}">${words}</a>`;
  const before = (status: string, words: string | null) =>
    html` ${
      words === null
        ? known.before && html`<span class="quiet">(none)</span>`
        : builds('before', status, `(${words})`)
    }`;
  const share = (failed: number, all: number) => formatPercent(computeProportion(failed, all).share);
  const onBranch = (status: string, words: string) => builds('now', status, words, { branch });
  const red = health.isRed && html` <strong class="is-red">red</strong>`;
  const { builds: all, failed, buildsBefore, failedBefore } = health;
  const time = (minutes: number | null, was: number | null) => {
    if (minutes === null) return UNKNOWN;
    const rose = was !== null && was > 0 && minutes / was > 1 + CHANGED;
    return html`${builds('now', 'ended', formatDuration(minutes))}${before(
      'ended',
      was === null ? null : formatDuration(was),
    )}${rose && html` <span class="is-amber">slower</span>`}`;
  };
  return html`<tr><th scope="row">${
    by === 'branches'
      ? builds('now', 'ended', branch)
      : html`<a href="${PATH}${search({ repo: repository, ...periods.address, days: periods.days })}">${repository}</a>`
  }<br><span class="quiet">${pipeline}</span></th>
    <td class="number">${builds('now', 'ended', formatNumber(all))}${before(
      'ended',
      buildsBefore === 0 ? null : formatNumber(buildsBefore),
    )}</td>
    <td class="number">${builds('now', 'failed', share(failed, all))}${before(
      'failed',
      buildsBefore === 0 ? null : share(failedBefore, buildsBefore),
    )}</td>
    ${known.queue && html`<td class="number">${time(health.queueMinutes, health.queueMinutesBefore)}</td>`}
    ${known.run && html`<td class="number">${time(health.minutes, health.minutesBefore)}</td>`}
    ${
      by === 'pipelines' &&
      html`<td>${branch === null ? UNKNOWN : html`${onBranch('failed', branch)}${red}${acts}`}</td>`
    }
    <td class="number">${branch !== null && onBranch('failed', formatHours(health.redHours))}${
      by === 'branches' && red
    }</td>
    <td class="number">${
      health.hoursToGreen === null
        ? html`<span class="quiet">–</span>`
        : html`${onBranch('ended', formatHours(health.hoursToGreen))} <span
            class="quiet">(${health.recoveries}
          ${health.recoveries === 1 ? 'time' : 'times'})</span>`
    }</td>
    ${isNarrow(periods) && html`<td>${sparkline('failed builds', health.perDay)}</td>`}</tr>`;
}

const UNKNOWN = html`<span class="quiet" title="unknown">–</span>`;

/** Checks whether one bar per day fits into a row. */
function isNarrow({ days }: Periods): boolean {
  return days <= 92;
}

function formatDuration(minutes: number): string {
  if (minutes < 1) return `${Math.round(minutes * 60)} s`;
  return minutes < 90 ? `${Math.round(minutes)} min` : formatHours(minutes / 60);
}

function formatHours(value: number): string {
  return value === 0 ? '0 h' : formatSpan(value * 3_600_000);
}

/** Renders the jobs in which builds failed. A build counts for each of its failed jobs. */
function renderJobs({ jobs, builds, unknown }: FailedJobs, repo: string, { now, address }: Periods): Html {
  if (builds === 0) return html`<p>No build failed.</p>`;
  const rows = jobs.map(
    ({ job, builds: failed }) =>
      html`<tr><th scope="row">${job}</th>
        <td class="number"><a href="/builds${search({
          repo,
          job,
          status: 'failed',
          ...now,
        })}">${formatNumber(failed)}</a></td><td class="number">${formatPercent(failed / builds)}</td></tr>`,
  );
  if (jobs.length === 0)
    return html`<p>No job is known of ${
      builds === 1 ? 'the failed build' : html`the ${formatNumber(builds)} failed builds`
    }.</p>`;
  return html`${dataTable(
    'Jobs, most failed builds first',
    ['Job', ...createNumberColumns('Failed builds', 'Share')],
    rows,
  )}
    <p class="quiet">Of the newest ${formatNumber(builds)}
    failed builds${
      unknown > 0 && html`, of which ${formatNumber(unknown)} ${unknown === 1 ? 'names' : 'name'} no job`
    }. A build in which several jobs failed counts for each.
    <a href="${PATH}${search({ repo, ...address, csv: 'jobs' })}">Download CSV</a></p>`;
}

function createHealthTable(branch: string, found: readonly Health[]): ChartTable {
  const short = (value: number | null) => (value === null ? null : Number(value.toFixed(2)));
  const head = [
    'repository',
    'pipeline',
    'builds',
    'failed',
    'builds before',
    'failed before',
    'median minutes',
    'median minutes before',
    branch,
    'red now',
    'red hours',
    'recoveries',
    'median hours to green',
    'median queue minutes',
    'median queue minutes before',
  ];
  const rows = found.map((health) => [
    health.repository,
    health.pipeline,
    health.builds,
    health.failed,
    health.buildsBefore,
    health.failedBefore,
    short(health.minutes),
    short(health.minutesBefore),
    health.branch,
    String(health.isRed),
    short(health.redHours),
    health.recoveries,
    short(health.hoursToGreen),
    short(health.queueMinutes),
    short(health.queueMinutesBefore),
  ]);
  return { head, rows };
}
