import { type Analysis, type Claim, isUnread, type Suspect } from '../domain/analysis.ts';
import { type Build, shortCommit } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import type { Evidence } from '../domain/evidence.ts';
import { flakeProbability } from '../domain/flakiness.ts';
import { TOO_FEW, type TrackRecord } from '../domain/insights.ts';
import { answers } from '../domain/library.ts';
import { findTouchedSuspects, type Review } from '../domain/review.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import {
  type AnswerView,
  answerView,
  failureCount,
  formatDollars,
  formatDuration,
  formatPlace,
} from '../notifications/answer-view.ts';
import { pairWithFailures } from '../notifications/build-answers.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import { findAnalysis } from '../service/answers/views.ts';
import { addWhose } from '../service/answers/whose.ts';
import { openReviewFor } from '../service/review/queue.ts';
import type { ShownStores } from '../stores/stores.ts';
import {
  askAddress,
  buildAddress,
  causeAddress,
  libraryAddress,
  reviewAddress,
  runAddress,
} from './addresses.ts';
import { formatPercent, runStrip } from './charts/chart.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { actionLink, postForm, renderTime } from './controls.ts';
import { type Html, html, joined, linkTarget, type Shown } from './html.ts';
import { IdParams } from './http.ts';
import { evidenceWindows } from './logs/evidence-windows.ts';
import { ciName, editorAddress } from './outside.ts';
import { type ConsoleApp, loadReader, mayReview, route, sendPage } from './page.ts';
import { evidenceChip, inlineProse, prose } from './prose.ts';
import { whosePart } from './whose.ts';

/**
 * Serves `/analyses/:id`, the permanent page of one answer. Pull requests, Slack and the terminal link to it.
 */
export function registerAnalysisPage(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/analyses/:id', route('read', { params: IdParams }), async (request, reply) => {
    const analysis = await findAnalysis(deps.stores.analyses, request.params.id);
    const reader = await loadReader(request, deps);
    const facts = await readAnalysisFacts(deps, analysis);
    if (facts === null)
      throw new TriageError('not-found', `The build of analysis ${analysis.id} is no longer stored.`);
    const review = await deps.stores.reviews.findByAnalysis(analysis.id);
    const reviews = mayReview(request.principal);
    const links = html`<p>${actionLink('full-log', runAddress(analysis.id), 'Analysis steps')}
      <a class="button" href="${causeAddress(analysis.fingerprint)}">All occurrences</a></p>`;
    const between = html`${standing(analysis, review, reviews)}${links}`;
    const main = html`<h1 tabindex="-1">${analysis.answer.title}</h1>${placeLine(facts)}${analysisParts(
      facts,
      { between, editor: reader.preferences.editor },
    )}`;
    return sendPage(
      request,
      reply,
      { title: analysis.answer.title, place: 'item', part: 'builds', main },
      reader,
    );
  });
  app.post('/analyses/:id/review', route('review', { params: IdParams }), async (request, reply) => {
    const review = await openReviewFor(deps, {
      analysisId: request.params.id,
      by: request.principal?.name ?? '',
    });
    return reply.redirect(reviewAddress(review.id), 303);
  });
}

/**
 * Renders the notice of an answer that was not sent for review. A confident answer may be wrong too, so a
 * reviewer can open an item for it.
 */
function notAsked(analysis: Analysis, reviews: boolean): Html {
  if (isUnread(analysis))
    return html`<p class="quiet">Not sent for review: there is no log to judge it by.</p>`;
  const open =
    reviews &&
    postForm(`/analyses/${encodeURIComponent(analysis.id)}/review`, {}, html`<button>Give feedback</button>`);
  return html`<p class="quiet">Published automatically.</p>${open}`;
}

/**
 * Renders the decision of a person about the answer, or says that the answer waits for review or was not sent
 * for one.
 */
function standing(analysis: Analysis, review: Review | null, reviews: boolean): Html {
  if (review === null) return notAsked(analysis, reviews);
  const link = reviews && html` <a href="${reviewAddress(review.id)}">View review</a>`;
  const { decision } = review;
  if (decision === null) return html`<p>Waiting for review since ${renderTime(review.openedAt)}.${link}</p>`;
  const said = {
    accept: 'Confirmed',
    correct: `Corrected to ${decision.category ?? review.category}`,
    reject: 'Rejected',
  }[decision.type];
  return html`<p><strong>${said}</strong> by ${decision.reviewer} at
    ${renderTime(decision.decidedAt)}.${link}</p>`;
}

/** Everything that the parts of an analysis show. */
export type AnalysisFacts = NonNullable<Awaited<ReturnType<typeof readAnalysisFacts>>>;

interface AnalysisDeps {
  readonly stores: Pick<
    ShownStores,
    | 'analyses'
    | 'builds'
    | 'failures'
    | 'history'
    | 'library'
    | 'flakiness'
    | 'insights'
    | 'outside'
    | 'notices'
  >;
  readonly archive: Pick<BuildArchive, 'list' | 'lines'>;
  readonly clock: { now(): number };
}

const PAST = 5;
/** The maximum number of builds of one commit that are searched for a passed one. */
const SIBLINGS = 20;

/**
 * Reads everything that the parts show. `stamps` adds the timestamps of log lines, and `back` is the address
 * that its logs link back to. Returns null if the build is not stored.
 */
export async function readAnalysisFacts(
  deps: AnalysisDeps,
  analysis: Analysis,
  stamps = false,
  back?: string,
) {
  const { stores, clock } = deps;
  const build = await stores.builds.find(analysis.buildId);
  if (build === null) return null;
  const ids = new Set(analysis.failureIds);
  const failures = (await stores.failures.listByBuild(build.id)).filter(({ id }) => ids.has(id));
  const test = failures.find((failure) => failure.test !== null)?.test ?? null;
  const { repository } = build;
  const [answer] = pairWithFailures([analysis], await stores.failures.groupsOfBuild(build.id));
  const [track, taught, past, flakiness, green, windows, posted, whose] = await Promise.all([
    stores.insights.trackRecord(analysis.verdict.confidence),
    stores.library.list({ limit: PAST, offset: 0 }, { repository, fingerprint: analysis.fingerprint }),
    stores.history.failureHistory({
      repository,
      fingerprint: analysis.fingerprint,
      test: test?.name ?? null,
      beforeBuildId: build.id,
      limit: PAST,
    }),
    test === null ? null : stores.flakiness.ofTest({ repository, name: test.name, suite: test.suite }),
    findPassedBuild(stores, build),
    evidenceWindows(deps, analysis, { stamps, build, back }),
    stores.notices.pages(build),
    addWhose(stores, build, answer === undefined ? [] : [answer]),
  ]);
  return {
    analysis,
    build,
    failures,
    windows,
    overlap: findTouchedSuspects(build, analysis),
    now: clock.now(),
    /** The track record of answers with similar confidence, according to people's decisions. */
    track,
    /** Lessons that people taught about this fingerprint in the repository, newest first. */
    taught: taught.filter(answers),
    /** The same failure, or the same test, in earlier builds of the repository, newest first. */
    past,
    /**
     * The flakiness of the first failing test, from earlier runs. Null if the test never failed before or if
     * there is no test.
     */
    flakiness,
    green,
    whose: whose[0]?.whose ?? null,
    /** Addresses of posts about the build, such as a comment on its pull request. */
    posted,
  };
}

/** Finds a build of the same commit and pipeline that came later and passed. */
async function findPassedBuild(stores: Pick<ShownStores, 'builds'>, build: Build): Promise<Build | null> {
  if (build.commit === null) return null;
  const { provider, repository, pipeline, branch } = build;
  const filter = {
    provider,
    repository,
    pipeline,
    status: 'passed' as const,
    ...(branch !== null && { branch }),
  };
  const passed = await stores.builds.list(filter, { limit: SIBLINGS, offset: 0 });
  return (
    passed.find(({ commit, receivedAt }) => commit === build.commit && receivedAt >= build.receivedAt) ?? null
  );
}

interface PartsOptions {
  /** The reasons why a person is asked; empty if no one is asked. */
  readonly why?: readonly string[];
  /** The part between the verdict and its evidence. */
  readonly between?: Shown;
  /** The reader's template of an address that opens a file in their editor. */
  readonly editor?: string;
}

/**
 * Renders everything that is known of one analysis, below its title: the verdict, then its evidence next to
 * what else is known.
 */
export function analysisParts(
  facts: AnalysisFacts,
  { why = [], between, editor = '' }: PartsOptions = {},
): Html {
  return html`${whosePart(facts.whose)}${verdictBox(facts, why)}${between}
    <div class="columns"><div>${evidencePart(facts)}</div>
    <div class="beside">${hypothesesPart(facts)}${suspectsPart(facts, editor)}${similarPart(facts)}${testRunsPart(facts)}${historyPart(facts)}
    <p>${actionLink('ask', askAddress(facts.analysis.id), 'Ask about this')}</p></div></div>`;
}

/**
 * Renders the place of the failure in one line: repository, build, pull request, commit, and the number of
 * failures.
 */
export function placeLine({ analysis, build, posted }: AnalysisFacts, more: readonly Shown[] = []): Html {
  const commit =
    build.commit === null
      ? null
      : html`<code>${shortCommit(build.commit)}</code>${build.author !== null && ` by ${build.author}`}`;
  const outside = linkTarget(build.url);
  const parts: Shown[] = [
    build.repository,
    html`<a data-action="open" href="${buildAddress(build.id)}">${build.pipeline}
      #${build.number}</a>${
        outside !== null && html` <a href="${outside}" rel="noreferrer">in ${ciName(build)}</a>`
      }`,
    build.pullRequest !== null &&
      html`PR ${build.pullRequest}${posted.map((address) => commentLink(address))}`,
    build.branch,
    commit,
    `${failureCount(analysis)}, 1 cause`,
    ...more,
  ];
  const shown = parts.filter((part) => part !== false && part !== null && part !== undefined);
  return html`<p class="place">${joined(shown, ' · ')}</p>`;
}

function commentLink(address: string): Html | null {
  const target = linkTarget(address);
  return target === null ? null : html` (<a href="${target}" rel="noreferrer">comment</a>)`;
}

/** Facts with a part of their own below. */
const OWN_PLACE: readonly string[] = ['Tried', 'Cause', 'Related'];
/** Characters of several reasons that still read well as one sentence. */
const ONE_LINE = 160;

/**
 * Renders the verdict: what it is, how confident it is and how often that was right, the cause with its
 * evidence, the fix, why a person is asked, and what contradicts it.
 */
function verdictBox(facts: AnalysisFacts, why: readonly string[] = []): Html {
  const { analysis } = facts;
  const ids = evidenceIds(analysis);
  const view = answerView(analysis, why);
  const points = view.facts
    .filter(({ name, kind }) => ['prose', 'list', 'note'].includes(kind) && !OWN_PLACE.includes(name))
    .map(({ label, values }) => html`<div><dt>${label}</dt><dd>${sentences(values, ids)}</dd></div>`);
  return html`<section class="card verdict" aria-label="Verdict">
    <p class="sure">${headline(facts, view)}</p>
    ${analysis.experiment !== undefined && html`<p><strong>${analysis.experiment.sentence}</strong></p>`}
    ${renderCause(analysis, ids)}
    <dl class="points">${points}</dl></section>`;
}

function headline(
  { analysis, track }: AnalysisFacts,
  { what, standing, confirmed, confidence }: AnswerView,
): Html {
  if (what === null) return html`<strong>Not analyzed</strong>: ${standing}`;
  // If too few answers were decided here, the track record from elsewhere is shown below instead.
  const isTold = track.of >= TOO_FEW || analysis.classification.record === undefined;
  const sure =
    confirmed === null
      ? html`<strong>${confidence} sure</strong>${
          isTold && html` <span class="quiet">(${trackSentence(track)})</span>`
        }`
      : html`<strong>${confirmed}</strong>`;
  return html`<span class="category">${analysis.category}</span> · ${analysis.kind.replaceAll('_', ' ')} ·
    ${sure}`;
}

/**
 * Returns a sentence such as "answers at 70–80 % were right 31 of 42", or one that says that too few were
 * decided.
 */
export function trackSentence(track: TrackRecord): string {
  if (track.of === 0) return 'too few decisions at this level to state accuracy';
  const level = `${Math.round(track.from * 100)}–${Math.round(track.to * 100)} %`;
  if (track.of < TOO_FEW) return `${track.of} decided at ${level}: too few to state accuracy`;
  return `answers at ${level} were right ${track.right} of ${track.of}`;
}

/**
 * Renders the cause with chips for its evidence, then the other claims, each with its own chips. Lines of
 * evidence link back to `#claim-1`, …
 */
function renderCause({ answer }: Analysis, ids: ReadonlySet<string>): Html {
  const first = answer.claims.findIndex(({ text }) => text.trim() === answer.rootCause.trim());
  const cited = (claim: Claim | undefined) =>
    joined((claim?.evidence ?? []).filter((id) => ids.has(id)).map(evidenceChip), ' ');
  const rest = answer.claims.flatMap((claim, at) =>
    at === first ? [] : [html`<li id="claim-${at + 1}">${inlineProse(claim.text, ids)} ${cited(claim)}</li>`],
  );
  return html`<div class="cause"${first >= 0 && html` id="claim-${first + 1}"`}>${prose(answer.rootCause, ids)} ${cited(answer.claims[first])}</div>
    ${rest.length > 0 && html`<ul class="claims">${rest}</ul>`}`;
}

function sentences(texts: readonly string[], ids: ReadonlySet<string>): Html {
  const line = texts.map((text) => text.replace(/\.$/, '')).join('; ');
  if (line.length <= ONE_LINE) return inlineProse(`${line}.`, ids);
  return html`<ul>${texts.map((text) => html`<li>${inlineProse(text, ids)}</li>`)}</ul>`;
}

function evidenceIds({ evidence }: Analysis): ReadonlySet<string> {
  return new Set(evidence.map(({ id }) => id));
}

/**
 * Renders other explanations that fit, and what would settle each. Renders nothing if there are fewer than
 * two.
 */
function hypothesesPart({ analysis }: AnalysisFacts): Html {
  const { hypotheses } = analysis.answer;
  const ids = evidenceIds(analysis);
  return html`${
    hypotheses.length > 1 &&
    html`<section aria-labelledby="hypotheses"><h2 id="hypotheses">${hypotheses.length} explanations fit</h2>
      <ol class="hypotheses">${hypotheses.map(
        ({ text, category, settledBy }) =>
          html`<li><span class="category">${category}</span>
            ${inlineProse(text, ids)}<br><span class="quiet">To confirm:
            ${inlineProse(settledBy, ids)}</span></li>`,
      )}</ol></section>`
  }`;
}

/** Characters of one finding that are shown; the rest is where it was found. */
const MAX_TEXT = 4000;

/**
 * Renders the evidence of the answer: the exact lines of the logs, then what the tools found. Evidence that
 * was judged irrelevant comes last, folded.
 */
export function evidencePart({ analysis, windows }: AnalysisFacts): Html {
  const others = analysis.evidence.filter(({ id }) => !windows.shown.has(id));
  const isIrrelevant = ({ id }: Evidence) => analysis.verdict.grades[id] === 'irrelevant';
  const aside = others.filter(isIrrelevant);
  return html`<section class="proof" aria-labelledby="evidence"><h2 id="evidence">Evidence</h2>
    ${windows.html}
    ${others.filter((one) => !isIrrelevant(one)).map(finding)}
    ${
      aside.length > 0 &&
      html`<details class="aside"><summary>${aside.length}
        more, not related to this failure</summary>${aside.map(finding)}</details>`
    }</section>`;
}

function finding({ id, title, text, source, tool, url, lineStart, lineEnd }: Evidence): Html {
  const target = linkTarget(url ?? null);
  const place =
    lineStart === undefined
      ? source
      : `${source}, line ${lineStart}${lineEnd === undefined ? '' : `–${lineEnd}`}`;
  const cut =
    text.length > MAX_TEXT &&
    html`<p class="quiet">… +${(text.length - MAX_TEXT).toLocaleString('en-US')} characters</p>`;
  const shown = text.slice(0, MAX_TEXT);
  return html`<details class="finding" id="${id}" data-evidence><summary><span class="chip">${id}</span>
    ${title} <span class="quiet">${tool === 'log' ? 'log' : tool.replaceAll('_', ' ')}</span></summary>
    <p class="quiet">${
      target === null ? place : html`<a href="${target}" rel="noreferrer">${place}</a>`
    }</p>${
      lineStart === undefined
        ? prose(shown)
        : html`<pre tabindex="0">${shown.split('\n').map(plain).join('\n')}</pre>`
    }${cut}</details>`;
}

function plain(line: string): string {
  return cleanLine(stripEscapes(line));
}

/**
 * Renders the files that may hold the fault, most likely first, and whether the failure is older than the
 * change.
 */
function suspectsPart(facts: AnalysisFacts, editor: string): Html {
  const { suspects } = facts.analysis.answer;
  return html`<section aria-labelledby="suspects"><h2 id="suspects">Suspects</h2>
    ${
      suspects.length === 0
        ? html`<p class="quiet">No file is suspected.</p>`
        : html`<ol class="suspects">${suspects.map((one) => suspect(one, facts, editor))}</ol>`
    }
    ${facts.analysis.experiment === undefined && html`<p>${notYourChange(facts)}</p>`}</section>`;
}

function suspect(one: Suspect, { overlap, build }: AnalysisFacts, editor: string): Html {
  const { path, line, commit, author, score, reason } = one;
  const opens = editorAddress(editor, { path, line, repository: build.repository });
  const origin = [commit && shortCommit(commit), author]
    .filter((part) => part !== null && part !== undefined)
    .join(' ');
  return html`<li><code>${formatPlace(one)}</code>
    <span class="number" title="how likely">${score.toFixed(2)}</span>${
      opens !== null && html` <a href="${opens}">Open in editor</a>`
    }
    <br><span class="quiet">${
      overlap.includes(path) && html`<strong class="warn">in this change</strong> · `
    }${reason}${origin !== '' && ` · ${origin}`}</span></li>`;
}

/**
 * Renders the note that the failure is older than the change. Renders nothing unless the history shows the
 * same failure before this change, or none.
 */
function notYourChange({ past, analysis, build }: AnalysisFacts): Html {
  const before = past.filter(
    ({ failure, commit }) =>
      failure.fingerprint.value === analysis.fingerprint && (commit === null || commit !== build.commit),
  );
  const [last] = before;
  if (last === undefined) return html`This failure was not seen before this change.`;
  return html`<strong>Perhaps not caused by this change:</strong> the same failure also occurred in
    <a href="${buildAddress(last.failure.buildId)}">${last.pipeline}
    #${last.number}</a>${last.branch !== null && ` on ${last.branch}`}.`;
}

function similarPart({ past, taught, analysis }: AnalysisFacts): Html {
  const decided = taught.map(
    ({ id, category, title, confirmedBy, confirmedAt, timesSeen }) =>
      html`<li><a href="${libraryAddress(id)}">${title}</a><br><span class="quiet"><span
        class="category">${category}</span> decided by ${confirmedBy}, ${renderTime(confirmedAt)}, seen
        ${timesSeen}×</span></li>`,
  );
  const before = past.map(
    ({ failure, pipeline, number, category, branch, seenAt }) =>
      html`<li><a href="${buildAddress(failure.buildId)}">${pipeline}
        #${number}</a>${branch !== null && ` on ${branch}`}
        ${category !== null && html`→ <span class="category">${category}</span>`}<br><span
        class="quiet">${failure.message.slice(0, 120)} · ${renderTime(seenAt)}</span></li>`,
  );
  return html`<section aria-labelledby="similar"><h2 id="similar">Seen before</h2>
    ${
      decided.length + before.length === 0
        ? html`<p class="quiet">Not seen before in this repository.</p>`
        : html`<ul class="past">${decided}${before}</ul>`
    }
    <p><a href="${causeAddress(analysis.fingerprint)}">All occurrences</a></p></section>`;
}

/**
 * Renders the newest runs of its first test, oldest first. Renders nothing if the test never failed before.
 */
function testRunsPart({ flakiness }: AnalysisFacts): Html {
  if (flakiness === null) return html``;
  const chance = flakeProbability(flakiness);
  return html`<section aria-labelledby="runs"><h2 id="runs">This test, last ${flakiness.recent.length}
    runs</h2>
    <p>${runStrip(flakiness.name, flakiness.recent)}</p>
    <p class="quiet">Failed ${flakiness.failed} of ${flakiness.runs} runs, ${flakiness.flakes}
    of them as a flake${
      chance !== null &&
      `; on an unchanged rerun, it passes with a probability of about ${formatPercent(chance)}`
    }.</p></section>`;
}

/** Renders when the build was received and analyzed, the number of rounds, and the cost. */
function historyPart({ analysis, build }: AnalysisFacts): Html {
  const { usage, milliseconds, createdAt } = analysis;
  const rounds = `${usage.iterations} ${usage.iterations === 1 ? 'round' : 'rounds'}`;
  const cost = usage.modelCalls === 0 ? 'no model used' : formatDollars(usage.costUsd);
  return html`<section aria-labelledby="history"><h2 id="history">History</h2>
    <p class="quiet">Received ${renderTime(build.receivedAt)}, analyzed ${renderTime(createdAt)}: ${rounds},
    ${formatDuration(milliseconds)}, ${cost}.</p>
    <p><a href="${runAddress(analysis.id)}">Analysis steps</a></p></section>`;
}
