import { z } from 'zod';
import { isUnread } from '../domain/analysis.ts';
import { type Build, BuildStatus, shortCommit } from '../domain/build.ts';
import type { ExplainedFailures } from '../domain/explained-failures.ts';
import type { Principal } from '../domain/review.ts';
import { counted } from '../lib/text.ts';
import { answerView } from '../notifications/answer-view.ts';
import { type ArrangedAnswer, introduceAnswers, nameTests } from '../notifications/build-answers.ts';
import { formatNumber } from '../notifications/visible-text.ts';
import { findBuild, readBuildAnswers } from '../service/answers/views.ts';
import type { WhoseAnswer } from '../service/answers/whose.ts';
import type { AnalysisHead } from '../stores/failures.ts';
import { analysisAddress, buildAddress, causeAddress, logAddress, runAddress, search } from './addresses.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { crumbs, dayField, formatAge, options, pager, renderTime } from './controls.ts';
import { dataTable, type Html, html, joined, linkTarget, numbers, type Shown } from './html.ts';
import { Day, IdParams, misreadBanner, Offset, Words } from './http.ts';
import { ciName, logPageLink, nameEveryCi, rerunPart } from './outside.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';
import { type Icon, icon } from './parts/icons.ts';
import { categoryTile, renderCategory, stateMark, type Tone } from './parts/marks.ts';
import { inlineProse } from './prose.ts';
import { whosePart } from './whose.ts';

const MARKS: Readonly<Record<Build['status'], { readonly sign: Icon; readonly tone: Tone | null }>> = {
  failed: { sign: 'cross', tone: 'red' },
  passed: { sign: 'check', tone: 'green' },
  cancelled: { sign: 'dots', tone: null },
  unknown: { sign: 'unsure', tone: null },
};

/** Renders a status by sign, word and color, never by color alone. */
function statusWord(status: Build['status']): Html {
  const { sign, tone } = MARKS[status];
  return stateMark(status, tone, sign);
}

/**
 * Renders a line such as `shop/api · ci #812 · PR 1204 fix/tax · a41f9c2 by ada`, with a link to its CI if
 * that is a web address.
 */
export function buildLine(build: Build): Html {
  const name = buildName(build);
  const address = linkTarget(build.url);
  return joined(
    [
      build.repository,
      address === null ? name : html`<a href="${address}" rel="noreferrer">${name}</a>`,
      ...listOriginParts(build),
    ],
    ' · ',
  );
}

/** Returns a name such as "ci #111, attempt 2". */
function buildName({ pipeline, number, attempt }: Build): string {
  return `${pipeline} #${number}${attempt > 1 ? `, attempt ${attempt}` : ''}`;
}

/** Returns what it was made of: its pull request or branch, and its commit. */
function listOriginParts({
  pullRequest,
  branch,
  commit,
  author,
}: Pick<Build, 'pullRequest' | 'branch' | 'commit' | 'author'>): Shown[] {
  return [
    ...(pullRequest === null && branch === null
      ? []
      : [[pullRequest === null ? '' : `PR ${pullRequest} `, branch ?? ''].join('').trim()]),
    ...(commit === null
      ? []
      : [html`<code>${shortCommit(commit)}</code>${author !== null && ` by ${author}`}`]),
  ];
}

function ciLink(build: Build): Shown {
  const address = linkTarget(build.url);
  return (
    address !== null &&
    html`<a class="btn" href="${address}" rel="noreferrer">${icon('out')}<span class="word">Open in
      ${ciName(build)}</span></a>`
  );
}

/**
 * Renders a link to the first later attempt that passed after a failed one. Renders nothing if none is known.
 */
function passedLater({ status, attempt }: Build, attempts: readonly Build[]): Shown {
  const passed = attempts
    .filter((other) => other.attempt > attempt && other.status === 'passed')
    .toSorted((left, right) => left.attempt - right.attempt)[0];
  return (
    status === 'failed' &&
    passed !== undefined &&
    html`<a href="${buildAddress(passed.id)}">Rerun passed (attempt ${passed.attempt})</a>`
  );
}

const PAGE = 50;
const Query = z.object({
  repository: Words,
  pipeline: Words,
  branch: Words,
  number: Words,
  job: Words,
  /** `ended`: passed or failed. */
  status: BuildStatus.or(z.enum(['ended', '']))
    .catch('')
    .default(''),
  /** The first and last UTC day of receipt. */
  from: Day,
  to: Day,
  offset: Offset,
});
type Query = z.infer<typeof Query>;

/** Serves `/builds`, the list of received builds, newest first, with the causes that were found. */
export function registerBuildList(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/builds', route('read', { querystring: Query }), async (request, reply) => {
    const { query } = request;
    const found = await deps.stores.builds.list(toBuildFilter(query), {
      limit: PAGE + 1,
      offset: query.offset,
    });
    const builds = found.slice(0, PAGE);
    const heads = await deps.stores.analyses.heads(builds.map(({ id }) => id));
    const main = html`${misreadBanner(request, Query)}${filters(query)}<div
      id="builds" data-live="build">${renderList(builds, heads, query, deps.clock.now())}</div>${pager(
        { offset: query.offset, size: PAGE, more: found.length > PAGE },
        (offset) => `/builds${search({ ...query, offset: offset || undefined })}`,
      )}`;
    const top = html`<h1 tabindex="-1">Builds</h1>`;
    return answerPage(request, reply, deps, { title: 'Builds', part: 'builds', top, live: {}, main });
  });
}

const DAY_MS = 86_400_000;

function toBuildFilter({ offset: _, from, to, status, ...texts }: Query) {
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== '')),
    ...(status !== '' && { status }),
    ...(from !== undefined && { since: `${from}T00:00:00.000Z` }),
    ...(to !== undefined && { until: new Date(Date.parse(to) + DAY_MS).toISOString() }),
  };
}

const STATUSES = [['', 'any'], ...BuildStatus.options, ['ended', 'passed or failed']] as const;

function filters({ repository, pipeline, branch, number, job, status, from, to }: Query): Html {
  return html`<form class="filters" role="search" aria-label="Builds"><label>repository
    <input name="repository" value="${repository}"></label>
    ${
      pipeline !== '' && html`<label>pipeline <input name="pipeline" value="${pipeline}"></label>`
    }<label>branch <input name="branch" value="${branch}"></label>
    <label>number <input name="number" value="${number}" size="8"></label>${
      job !== '' && html`<label>failed job <input name="job" value="${job}"></label>`
    }
    <label>status <select name="status">${options(STATUSES, status)}</select></label>${dayField('from', from)}${dayField('to', to)}<button>Filter</button></form>`;
}

function renderList(
  builds: readonly Build[],
  heads: readonly AnalysisHead[],
  query: Query,
  now: number,
): Html {
  if (builds.length === 0) return nothing(query);
  const rows = builds.map((build) =>
    buildRow(
      build,
      heads.filter(({ buildId }) => buildId === build.id),
      now,
    ),
  );
  return html`<section class="panel" aria-label="Builds, newest first"><ul class="rows">${rows}</ul></section>`;
}

function buildRow(build: Build, causes: readonly AnalysisHead[], now: number): Html {
  const { id, repository, status, receivedAt, author } = build;
  const { sign, tone } = MARKS[status];
  const origin = listOriginParts({ ...build, author: null });
  const found =
    causes.length === 0
      ? html`<p class="grow quiet">${status === 'failed' && 'No analysis yet'}</p>`
      : renderCauses(build, causes);
  return html`<li id="${id}" data-row>${icon(sign, tone !== null && `is-${tone}`)}<span class="seen-not">${status}:
    </span><div class="grow"><a class="whole" href="${buildAddress(id)}">${repository}
    <span class="quiet">${buildName(build)}</span></a><p class="meta">${joined(origin, ', ')}${
      author !== null && ` by ${author}`
    }</p></div>${found}<span class="end meta num"><time datetime="${receivedAt}"
    title="${receivedAt}">${formatAge(receivedAt, now)}</time></span></li>`;
}

/** Causes of a build that its row names; the rest is counted, and is on the build's page. */
const NAMED = 2;

function renderCauses({ id }: Build, causes: readonly AnalysisHead[]): Html {
  // One more would take as much room as the line that counts it.
  const shown = causes.length === NAMED + 1 ? causes : causes.slice(0, NAMED);
  const more = causes.length - shown.length;
  return html`<ul class="grow">${shown.map(causeLine)}${
    more > 0 && html`<li><a class="above" href="${buildAddress(id)}">${formatNumber(more)} more</a></li>`
  }</ul>`;
}

function causeLine({ id, category, title, action, decided, fromLibrary }: AnalysisHead): Html {
  const judged = action === 'auto_notify' ? 'very likely' : 'likely, waits for a reviewer';
  const standing = fromLibrary
    ? 'answered from the library'
    : decided
      ? 'decided by a reviewer'
      : category === null
        ? 'no answer'
        : judged;
  return html`<li class="row">${categoryTile(category)}<span class="grow"><a class="above"
    href="${analysisAddress(id)}">${title}</a> <span class="meta">${standing}</span></span></li>`;
}

function nothing({ offset: _, ...query }: Query): Html {
  const given = Object.entries(query).filter(([, value]) => value !== '' && value !== undefined);
  if (given.length > 0)
    return html`<p>No build matches ${given.map(([name, value]) => `${name}:${value}`).join(' ')}.
      <a class="btn" href="/builds">Clear filters</a></p>`;
  return html`<p>No builds yet. Send webhooks from ${nameEveryCi()}, or upload a log with
    <code>POST /api/builds</code>.</p>`;
}

/** Tests of one cause that are named; the rest is counted. */
const MAX_TESTS = 20;

type BuildFacts = Awaited<ReturnType<typeof readFacts>>;

/** Serves `/builds/:id`, one build with its causes, its tests and its logs, in this order. */
export function registerBuildPage(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/builds/:id', route('read', { params: IdParams }), async (request, reply) => {
    const build = await findBuild(deps.stores.builds, request.params.id, {});
    const facts = await readFacts(build, request.principal, deps);
    const title = buildName(build);
    const { repository } = build;
    const top = html`${crumbs([
      html`<a href="/builds${search({ repository })}">${repository}</a>`,
      build.pullRequest === null ? build.branch : `Pull request ${build.pullRequest}`,
      title,
    ])}<div class="acts">${ciLink(build)}</div>`;
    const page = {
      title,
      part: 'builds',
      top,
      live: { buildId: build.id },
      main: renderPage(facts),
    } as const;
    return answerPage(request, reply, deps, page);
  });
}

/**
 * Reads what the page of a build shows. `attempts`: the newest attempts; `step`: the last finished step while
 * the build is analyzed; `pages`: pages of the logs at the build's CI, by the names of the logs.
 */
async function readFacts(build: Build, principal: Principal | null, deps: ConsoleDeps) {
  const { stores, archive, currentStep } = deps;
  const { provider, repository, pipeline, number } = build;
  const [attempts, job, answers, sources, pages, reruns] = await Promise.all([
    stores.builds.list({ provider, repository, pipeline, number }, { limit: PAGE, offset: 0 }),
    stores.triages.findByBuild(build.id),
    readBuildAnswers(stores, build.id),
    archive.list(build.id),
    stores.outside.logPages(build.id),
    stores.outside.reruns(build.id),
  ]);
  const step = job?.state === 'running' ? ((await currentStep?.(build.id)) ?? null) : null;
  return {
    build,
    attempts,
    job,
    step,
    answers,
    sources,
    pages,
    rerun: rerunPart(build, reruns, principal, deps),
  };
}

function renderPage(facts: BuildFacts): Html {
  const { build, attempts, answers } = facts;
  return html`<div class="headline"><p class="kicker" id="build"
    data-live>${statusWord(build.status)}${passedLater(build, attempts)}<span>${joined(
      [...listOriginParts(build), html`received ${renderTime(build.receivedAt)}`],
      ' · ',
    )}</span></p><h1 tabindex="-1">${build.repository} · ${buildName(build)}</h1>
    <p class="quiet" id="progress" role="note" data-live data-say>${howFar(facts)}</p></div>
    ${facts.rerun}
    <div class="stack tight" id="causes" data-live>${
      answers.length > 0 &&
      html`<h2>${
        introduceAnswers(answers) ?? `One cause, ${counted(answers[0]?.failures ?? 1, 'failure')}`
      }</h2>`
    }
    ${answers.map((answer, index) => causeCard(answer, answers.length === 1 ? '' : `${index + 1}. `))}</div>
    <div id="logs" data-live>${renderLogs(facts)}</div>`;
}

/** Says in one sentence where its triage stands, and is never silent. */
function howFar({ build, job, step, answers }: BuildFacts): Html {
  if (job === null)
    return html`${
      build.status === 'failed'
        ? 'This build needs no analysis.'
        : 'Nothing failed, so there is nothing to analyze.'
    }`;
  const watch = html` <a href="${runAddress(build.id)}">Watch</a>`;
  if (job.state === 'queued')
    return html`Waiting for a worker.${
      job.error !== null && ` The last attempt failed: ${job.error}`
    }${watch}`;
  if (job.state === 'running') return html`Analyzing${step !== null && `: ${step} is done`}.${watch}`;
  if (job.state === 'failed')
    return html`<span class="is-red">The analysis failed: ${job.error ?? 'see the server log'}.</span>`;
  return html`${answers.length === 0 ? 'Analyzed. No failure was found in its logs.' : 'Analyzed.'}`;
}

function causeCard({ analysis, explains, whose }: WhoseAnswer<ArrangedAnswer>, number: string): Html {
  const { title, category, standing, facts } = answerView(analysis, undefined, explains);
  const shown = facts.filter(({ kind, reach }) => reach === 'everywhere' && kind !== 'lines');
  const isComplete = shown.some((fact) => fact.kind === 'tests' && fact.more === 0);
  const isSentForReview = analysis.verdict.action !== 'auto_notify' && !isUnread(analysis);
  return html`<article class="panel pad" id="${analysis.id}">
    <h3>${number}<a href="${analysisAddress(analysis.id)}">${title}</a></h3>
    ${whosePart(whose)}<p>${renderCategory(category)} · ${standing}${isSentForReview && ' · sent for review'}</p>
    ${shown.map(
      ({ name, label, values }) =>
        html`<p>${
          name !== 'Cause' && html`<strong>${label}:</strong> `
        }${inlineProse(values.join(' · '))}</p>`,
    )}
    ${isComplete ? null : testList(explains)}
    <p><a href="${causeAddress(analysis.fingerprint)}">All occurrences</a> ·
    <a href="${runAddress(analysis.id)}">Analysis steps</a></p></article>`;
}

function testList(explains: ExplainedFailures): Shown {
  const { named, more } = nameTests(explains, MAX_TESTS);
  if (named.length === 0) return false;
  return html`<details><summary>${counted(named.length + more, 'test')}</summary>
    <ul>${named.map((name) => html`<li>${name}</li>`)}</ul>${
      more > 0 && html`<p>and ${formatNumber(more)} more</p>`
    }</details>`;
}

function renderLogs({ build, sources, pages }: BuildFacts): Html {
  if (sources.length === 0)
    return html`<h2>Logs</h2><p>No log is stored: none was received, or retention deleted it.</p>`;
  const rows = sources.map(
    ({ name, kind, lines, bytes, notes }) =>
      html`<tr><td><a href="${logAddress(build.id, name)}">${name}</a></td><td>${kind}</td>
        <td class="number">${formatNumber(lines)}</td><td class="number">${formatNumber(bytes)}</td>
        <td class="quiet">${joined(
          [logPageLink(build, pages.get(name)), ...notes].filter((part) => part !== null),
          '; ',
        )}</td></tr>`,
  );
  return html`<h2>Logs</h2>${dataTable(
    'Logs and reports',
    ['Name', 'Kind', ...numbers('Lines', 'Bytes'), 'Notes'],
    rows,
  )}`;
}
