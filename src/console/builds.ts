import { isJudged, isUnread } from '../domain/analysis.ts';
import { type Build, shortenCommit } from '../domain/build.ts';
import type { ExplainedFailures } from '../domain/explained-failures.ts';
import type { Principal } from '../domain/review.ts';
import { formatCount } from '../lib/text.ts';
import { answerView } from '../notifications/answer-view.ts';
import { type ArrangedAnswer, introduceAnswers, nameTests } from '../notifications/build-answers.ts';
import { formatNumber } from '../notifications/visible-text.ts';
import { findBuild, readBuildAnswers } from '../service/answers/views.ts';
import type { WhoseAnswer } from '../service/answers/whose.ts';
import {
  buildAddress,
  formatAnalysisAddress,
  formatCauseAddress,
  formatLogAddress,
  runAddress,
  search,
} from './addresses.ts';
import { getPublishLimit } from './answer/facts.ts';
import { nameSureness, readJudged } from './answer/sure.ts';
import { getCiName, logPageLink, rerunPart } from './ci-links.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { crumbs, renderTime } from './controls.ts';
import { createNumberColumns, dataTable, type Html, html, joinHtml, linkTarget, type Shown } from './html.ts';
import { IdParams } from './http.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';
import { type Icon, icon } from './parts/icons.ts';
import { renderCategory, stateMark, type Tone } from './parts/marks.ts';
import { inlineProse } from './prose.ts';
import { nameNode } from './run-words.ts';
import { whosePart } from './whose.ts';

/** The icon and color of each status. */
export const STATUS_MARKS: Readonly<
  Record<Build['status'], { readonly sign: Icon; readonly tone: Tone | null }>
> = {
  failed: { sign: 'cross', tone: 'red' },
  passed: { sign: 'check', tone: 'green' },
  cancelled: { sign: 'dots', tone: null },
  unknown: { sign: 'unsure', tone: null },
};

/** Renders a status by icon, word and color. Color alone would not be accessible. */
function statusWord(status: Build['status']): Html {
  const { sign, tone } = STATUS_MARKS[status];
  return stateMark(status, tone, sign);
}

/**
 * Renders a line such as `shop/api · ci #812 · PR 1204 fix/tax · a41f9c2 by ada`, with a link to its CI if
 * that is a web address.
 */
export function buildLine(build: Build): Html {
  const name = buildName(build);
  const address = linkTarget(build.url);
  return joinHtml(
    [
      build.repository,
      address === null ? name : html`<a href="${address}" rel="noreferrer">${name}</a>`,
      ...listOriginParts(build),
    ],
    ' · ',
  );
}

/** Returns a name such as "ci #111, attempt 2". */
export function buildName({ pipeline, number, attempt }: Build): string {
  return `${pipeline} #${number}${attempt > 1 ? `, attempt ${attempt}` : ''}`;
}

/** Returns the origin of a build: its pull request or branch, and its commit. */
export function listOriginParts({
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
      : [html`<code>${shortenCommit(commit)}</code>${author !== null && ` by ${author}`}`]),
  ];
}

function ciLink(build: Build): Shown {
  const address = linkTarget(build.url);
  return (
    address !== null &&
    html`<a class="btn" href="${address}" rel="noreferrer">${icon('out')}<span class="word">Open in
      ${getCiName(build)}</span></a>`
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

/** The maximum number of attempts of a build that are read. */
const MAX_ATTEMPTS = 50;
/** The maximum number of tests of one cause that are named; the rest is counted. */
const MAX_TESTS = 20;

type BuildFacts = Awaited<ReturnType<typeof readFacts>>;

/** Registers `/builds/:id`, one build with its causes, its tests and its logs, in this order. */
export function registerBuildPage(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/builds/:id', route('read', { params: IdParams }), async (request, reply) => {
    const build = await findBuild(deps.stores.builds, request.params.id, {});
    const facts = await readFacts(build, request.principal, deps);
    const title = buildName(build);
    const { repository } = build;
    const top = html`${crumbs([
      html`<a href="/builds${search({ repo: repository })}">${repository}</a>`,
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
 * Reads the facts for the page of a build. `attempts` are the newest attempts; `step` is the last finished
 * step while the build is analyzed; `pages` are the pages of the logs at the build's CI, by the names of the
 * logs.
 */
async function readFacts(build: Build, principal: Principal | null, deps: ConsoleDeps) {
  const { stores, archive, currentStep } = deps;
  const { provider, repository, pipeline, number } = build;
  const [attempts, job, answers, sources, pages, reruns] = await Promise.all([
    stores.builds.list({ provider, repository, pipeline, number }, { limit: MAX_ATTEMPTS, offset: 0 }),
    stores.triages.findByBuild(build.id),
    readBuildAnswers(stores, build.id),
    archive.list(build.id),
    stores.ciLinks.logPages(build.id),
    stores.ciLinks.reruns(build.id),
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
    limit: getPublishLimit(deps.config),
    rerun: rerunPart(build, reruns, principal, deps),
  };
}

function renderPage(facts: BuildFacts): Html {
  const { build, attempts, answers } = facts;
  return html`<div class="headline"><p class="kicker" id="build"
    data-live>${statusWord(build.status)}${passedLater(build, attempts)}<span>${joinHtml(
      [...listOriginParts(build), html`received ${renderTime(build.receivedAt)}`],
      ' · ',
    )}</span></p><h1 tabindex="-1">${build.repository} · ${buildName(build)}</h1>
    <p class="quiet" id="progress" role="note" data-live data-say>${triageStatus(facts)}</p></div>
    ${facts.rerun}
    <div class="stack tight" id="causes" data-live>${
      answers.length > 0 &&
      html`<h2>${
        introduceAnswers(answers) ?? `1 cause, ${formatCount(answers[0]?.failures ?? 1, 'failure')}`
      }</h2>`
    }
    ${answers.map((answer, index) =>
      causeCard(answer, answers.length === 1 ? '' : `${index + 1}. `, facts.limit),
    )}</div>
    <div id="logs" data-live>${renderLogs(facts)}</div>`;
}

/** Describes the state of the build's triage in one sentence. There is always a sentence. */
function triageStatus({ build, job, step, answers }: BuildFacts): Html {
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
  if (job.state === 'running')
    return html`Analyzing${step !== null && `: ${nameNode(step).toLowerCase()}`}.${watch}`;
  if (job.state === 'failed')
    return html`<span class="is-red">The analysis failed: ${job.error ?? 'see the server log'}.</span>`;
  return html`${answers.length === 0 && 'Analyzed. No failure was found in its logs.'}`;
}

function causeCard(
  { analysis, explains, whose }: WhoseAnswer<ArrangedAnswer>,
  number: string,
  limit: number,
): Html {
  const { title, standing, facts, form } = answerView(analysis, undefined, explains);
  const isConfirmed = form === 'known' || !isJudged(analysis);
  const sure = isConfirmed ? standing : nameSureness(readJudged(analysis), limit).toLowerCase();
  const visible = facts.filter(({ kind, reach }) => reach === 'everywhere' && kind !== 'lines');
  const isComplete = visible.some((fact) => fact.kind === 'tests' && fact.more === 0);
  const isSentForReview = analysis.verdict.action !== 'auto_notify' && !isUnread(analysis);
  return html`<article class="panel pad" id="${analysis.id}">
    <h3>${number}<a href="${formatAnalysisAddress(analysis.id)}">${title}</a></h3>
    ${whosePart(whose)}<p class="kicker">${renderCategory(
      isJudged(analysis) ? analysis.category : null,
    )}<span>${sure}${isSentForReview && ', waits for review'}</span></p>
    ${visible.map(
      ({ name, label, values }) =>
        html`<p>${
          name !== 'Cause' && html`<strong>${label}:</strong> `
        }${inlineProse(values.join(' · '))}</p>`,
    )}
    ${isComplete ? null : testList(explains)}
    <p><a href="${formatCauseAddress(analysis.fingerprint)}">All occurrences</a> ·
    <a href="${runAddress(analysis.id)}">All steps</a></p></article>`;
}

function testList(explains: ExplainedFailures): Shown {
  const { named, more } = nameTests(explains, MAX_TESTS);
  if (named.length === 0) return false;
  return html`<details><summary>${formatCount(named.length + more, 'test')}</summary>
    <ul>${named.map((name) => html`<li>${name}</li>`)}</ul>${
      more > 0 && html`<p>and ${formatNumber(more)} more</p>`
    }</details>`;
}

function renderLogs({ build, sources, pages }: BuildFacts): Html {
  if (sources.length === 0)
    return html`<h2>Logs</h2><p>No log is stored: none was received, or retention deleted it.</p>`;
  const rows = sources.map(
    ({ name, kind, lines, bytes, notes }) =>
      html`<tr><td><a href="${formatLogAddress(build.id, name)}">${name}</a></td><td>${kind}</td>
        <td class="number">${formatNumber(lines)}</td><td class="number">${formatNumber(bytes)}</td>
        <td class="quiet">${joinHtml(
          [logPageLink(build, pages.get(name)), ...notes].filter((part) => part !== null),
          '; ',
        )}</td></tr>`,
  );
  return html`<h2>Logs</h2>${dataTable(
    'Logs and reports',
    ['Name', 'Kind', ...createNumberColumns('Lines', 'Bytes'), 'Notes'],
    rows,
  )}`;
}
