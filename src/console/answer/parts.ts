import { type Analysis, type Claim, isJudged, type Suspect } from '../../domain/analysis.ts';
import { shortenCommit } from '../../domain/build.ts';
import { nameCategory, nameCodes, nameKind } from '../../domain/category-words.ts';
import type { Evidence } from '../../domain/evidence.ts';
import { formatCount, startUpper } from '../../lib/text.ts';
import { cleanLine, stripEscapes } from '../../log/lines/clean.ts';
import { type AnswerView, answerView, formatPlace } from '../../notifications/answer-view.ts';
import { askAddress, buildAddress, search } from '../addresses.ts';
import { formatEditorAddress, getCiName } from '../ci-links.ts';
import { type BuildAtHost, findCodePlace, formatCodeAddress } from '../code-links.ts';
import { badge, crumbs, formatAge } from '../controls.ts';
import { type Html, html, joinHtml, linkTarget, type Shown } from '../html.ts';
import type { EvidenceWindows } from '../logs/evidence-windows.ts';
import { icon } from '../parts/icons.ts';
import { renderCategory } from '../parts/marks.ts';
import { inlineProse, prose } from '../prose.ts';
import { nameTool } from '../run-words.ts';
import { createSentenceFilter } from './distinct-sentences.ts';
import type { AnswerFacts } from './facts.ts';
import { sureFact } from './sure.ts';
import type { AnswerTexts } from './texts.ts';
import { whoseFact } from './whose.ts';

/** Renders the location of the failure: repository, pull request or branch, and build. */
export function placeCrumbs({ build, posted }: AnswerFacts): Html {
  const { repository, pullRequest, branch, commit, author, pipeline, number } = build;
  const [comment] = posted.flatMap((address) => linkTarget(address) ?? []);
  const pull = pullRequest !== null && `Pull request ${pullRequest}`;
  return crumbs([
    html`<a href="/builds${search({ repo: repository })}">${repository}</a>`,
    pull && comment !== undefined
      ? html`${pull} (<a href="${comment}" rel="noreferrer">comment</a>)`
      : pull || branch,
    html`<a data-action="open" href="${buildAddress(build.id)}">${pipeline} #${number}</a>`,
    commit !== null && html`<code>${shortenCommit(commit)}</code>${author !== null && ` by ${author}`}`,
  ]);
}

/** Renders a link to the build at its CI system. */
export function ciAction({ build }: AnswerFacts): Html | null {
  const outside = linkTarget(build.url);
  return outside === null
    ? null
    : html`<a class="btn" href="${outside}" rel="noreferrer">${icon('out')}<span class="word">Open in
        ${getCiName(build)}</span></a>`;
}

/** Renders what failed: the category, the title, and the events that led to it. */
export function answerHeadline(facts: AnswerFacts, { lead }: AnswerTexts, title: string): Html {
  const { analysis, build, now } = facts;
  const judged = isJudged(analysis);
  const isKindKnown = judged && analysis.kind !== 'unknown';
  const failures = analysis.failureIds.length;
  return html`<div class="headline">
    <p class="kicker">${renderCategory(judged ? analysis.category : null)}${
      isKindKnown && html`<span>${nameKind(analysis.kind)}</span>`
    }${describeCorrection(facts)}${
      failures > 1 && html`<span>${formatCount(failures, 'failure')}</span>`
    }<span>failed
    ${formatAge(build.finishedAt ?? build.receivedAt, now)} ago</span></p>
    <h1 tabindex="-1">${title}</h1>
    ${lead !== '' && html`<div class="lead">${prose(lead, listIds(analysis))}</div>`}</div>`;
}

/** Renders who corrected the answer, and the category that it had before. */
function describeCorrection({ review, guessed, analysis }: AnswerFacts): Shown {
  const decision = review?.decision ?? null;
  if (decision?.type !== 'correct') return null;
  const before = guessed !== analysis.category && `, was ${nameCategory(guessed)}`;
  return html`<span>corrected by ${decision.reviewer}${before}</span>`;
}

/** Renders the three most important facts: whose failure it is, what to do, and how certain the answer is. */
export function factsRow(facts: AnswerFacts, { order, advice }: AnswerTexts): Html {
  const ids = listIds(facts.analysis);
  const act = order === '' ? 'Look at the evidence' : order;
  return html`<dl class="facts">
    ${whoseFact(facts)}
    <div class="fact"><dt>${icon('wrench')}What to do</dt><dd><b><span>${inlineProse(act, ids)}</span></b>${
      advice !== '' && html`<p>${inlineProse(advice, ids)}</p>`
    }</dd></div>
    <div class="fact"><dt>${icon('gauge')}How sure?</dt><dd>${sureFact(facts)}</dd></div></dl>`;
}

export function listIds({ evidence }: Pick<Analysis, 'evidence'>): ReadonlySet<string> {
  return new Set(evidence.map(({ id }) => id));
}

/** The maximum number of characters of one finding that are shown. */
const MAX_TEXT = 4000;

/**
 * Renders the evidence of the answer: the exact lines of the logs with the claims that they prove, the
 * findings of the tools, and contrary evidence.
 */
export function evidencePart(
  { analysis, build }: AnswerFacts,
  windows: EvidenceWindows,
  texts: AnswerTexts,
): Html {
  const others = analysis.evidence.filter(({ id }) => !windows.shown.has(id));
  const isIrrelevant = ({ id }: Evidence) => analysis.verdict.grades[id] === 'irrelevant';
  const [aside, found] = [others.filter(isIrrelevant), others.filter((other) => !isIrrelevant(other))];
  const heading = windows.count === 0 && html`<h2 id="evidence">Evidence</h2>`;
  return html`<section class="proof stack tight" aria-labelledby="evidence">${heading}${windows.html}
    ${otherClaims(analysis, windows, texts)}
    ${found.map((item) => finding(item, build))}
    ${
      aside.length > 0 &&
      html`<details class="aside"><summary>${aside.length}
        more, not related to this failure</summary>${aside.map((item) => finding(item, build))}</details>`
    }${againstPart(analysis)}</section>`;
}

/** Renders the claims that no log line proves, each with links to its evidence. */
function otherClaims(analysis: Analysis, windows: EvidenceWindows, { claims }: AnswerTexts): Html {
  const rest = analysis.answer.claims.flatMap((claim, index) => {
    const text = claims[index] ?? '';
    const isSaid = text === '' || windows.noted.has(index) || isSaidByFinding(claim, text, analysis);
    return isSaid ? [] : [claimRow(claim, index, text, analysis)];
  });
  return html`${rest.length > 0 && html`<ul class="notes">${rest}</ul>`}`;
}

/** Checks whether a claim only repeats the title of a finding that it cites, which is listed below. */
function isSaidByFinding({ evidence }: Claim, text: string, analysis: Analysis): boolean {
  const sources = analysis.evidence.filter(({ id }) => evidence.includes(id));
  return sources.length > 0 && sources.every(({ title }) => text.includes(title));
}

/** Renders a claim with links to its evidence. A title that repeats the page is not written again. */
function claimRow({ evidence }: Claim, index: number, text: string, analysis: Analysis): Html {
  const ids = listIds(analysis);
  const { title, rootCause } = analysis.answer;
  const sources = analysis.evidence.filter(({ id }) => evidence.includes(id));
  const sayOnce = createSentenceFilter();
  for (const words of [nameCategory(analysis.category), title, rootCause, text]) sayOnce(words);
  const links = sources.map(
    (source) => html`<a href="#${source.id}">${sayOnce(nameCodes(source.title)) || 'Details'}</a>`,
  );
  return html`<li id="claim-${index + 1}">${icon('pin')}<span>${inlineProse(text, ids)} <span
    class="meta">${joinHtml(links, ', ')}</span></span></li>`;
}

/** Renders the evidence against the answer and the open questions. This part is never collapsed. */
function againstPart(analysis: Analysis): Html {
  const view = answerView(analysis);
  const parts = view.facts
    .filter(({ name }) => name === 'Against' || name === 'Unknown')
    .map(
      ({ label, values }) =>
        html`<section class="part"><h3>${label}</h3><ul>${values.map(
          (value) => html`<li>${inlineProse(value)}</li>`,
        )}</ul></section>`,
    );
  return html`${parts}`;
}

function finding(item: Evidence, build: BuildAtHost): Html {
  const { id, title, text, source, tool, url, lineStart, lineEnd } = item;
  const at = findCodePlace(item);
  const target = (at === null ? null : formatCodeAddress(build, at)) ?? linkTarget(url ?? null);
  const place =
    lineStart === undefined
      ? source
      : `${source}, line ${lineStart}${lineEnd === undefined ? '' : `–${lineEnd}`}`;
  const cut =
    text.length > MAX_TEXT &&
    html`<p class="quiet">… +${(text.length - MAX_TEXT).toLocaleString('en-US')} characters</p>`;
  const beginning = text.slice(0, MAX_TEXT);
  return html`<details class="finding" id="${id}" data-evidence><summary>${nameCodes(title)} <span
    class="meta">${SOURCE_WORDS[tool] ?? nameTool(tool)}</span></summary>
    <p class="meta">${target === null ? place : html`<a href="${target}" rel="noreferrer">${place}</a>`}</p>${
      lineStart === undefined
        ? prose(beginning)
        : html`<pre tabindex="0">${beginning.split('\n').map(cleanText).join('\n')}</pre>`
    }${cut}</details>`;
}

/** The origin of a finding, for tools whose name does not state it. */
const SOURCE_WORDS: Readonly<Record<string, string>> = {
  log: 'log',
  search_knowledge: 'knowledge base',
  search_error_library: 'decided before',
};

function cleanText(line: string): string {
  return cleanLine(stripEscapes(line));
}

/**
 * Renders alternative explanations, each with the fact that would confirm it. Renders nothing if there are
 * fewer than two.
 */
export function hypothesesPart({ analysis }: AnswerFacts): Html {
  const { hypotheses } = analysis.answer;
  const ids = listIds(analysis);
  const rows = hypotheses.map(
    ({ text, category, settledBy }) => html`<li><div class="grow"><p>${renderCategory(category)}</p>
      <p>${inlineProse(text, ids)}</p><p
        class="meta">To confirm: ${inlineProse(settledBy, ids)}</p></div></li>`,
  );
  return html`${
    hypotheses.length > 1 &&
    html`<section class="part" aria-labelledby="hypotheses"><h2 id="hypotheses">${hypotheses.length}
      explanations fit</h2><ol class="rows panel">${rows}</ol></section>`
  }`;
}

/** Renders the suspect files: the first one in full, the others in one line each. */
export function suspectsPart(facts: AnswerFacts, editor: string): Html {
  const { suspects } = facts.analysis.answer;
  if (suspects.length === 0) return html``;
  const [first, ...others] = suspects;
  return html`<section class="part" aria-labelledby="suspects"><h2 id="suspects">Suspects <span
    class="meta">${suspects.length === 1 ? '1 place' : `${suspects.length} places, most likely first`}</span></h2>
    ${first !== undefined && suspectCard(first, facts, editor)}
    ${
      others.length > 0 &&
      html`<p class="meta">Less likely:</p><ul class="meta less">${others.map(
        (other) => html`<li>${suspectPlace(other, facts, editor)} ${describeReason(other)}</li>`,
      )}</ul>`
    }</section>`;
}

function suspectPlace(suspect: Suspect, { build }: AnswerFacts, editor: string): Html {
  const opens = formatEditorAddress(editor, {
    path: suspect.path,
    line: suspect.line,
    repository: build.repository,
  });
  const address =
    build.commit === null
      ? null
      : formatCodeAddress(build, { ...suspect, lineStart: suspect.line, commit: build.commit });
  const code = html`<code>${formatPlace(suspect)}</code>`;
  const place = address === null ? code : html`<a href="${address}" rel="noreferrer">${code}</a>`;
  return opens === null ? place : html`${place} <a href="${opens}">Open in editor</a>`;
}

/** Joins the reasons for a suspect to one sentence: "it is part of this change, and the log names it". */
function describeReason({ reason }: Suspect): string {
  const reasons = reason.split('; ');
  return reasons.length < 2 ? reason : `${reasons.slice(0, -1).join(', ')}, and ${reasons.at(-1)}`;
}

function suspectCard(suspect: Suspect, facts: AnswerFacts, editor: string): Html {
  const { commit, author, path } = suspect;
  const by = [commit === null ? '' : `in ${shortenCommit(commit)}`, author === null ? '' : `by ${author}`];
  const changed = by.filter((part) => part !== '').join(' ');
  return html`<div class="snip"><header><span class="line">${suspectPlace(suspect, facts, editor)}${
    changed !== '' && html`<span class="quiet">changed ${changed}</span>`
  }</span>${facts.overlap.includes(path) && html`<strong class="is-amber">in this change</strong>`}</header>
    <p class="pad">${startUpper(describeReason(suspect))}</p></div>`;
}

/** Renders the field for a question about the answer, with common questions. */
export function askPart({ analysis }: AnswerFacts, suggestions: readonly string[]): Html {
  const address = askAddress(analysis.id);
  const chips = suggestions.map(
    (question) => html`<button class="chip" name="question" value="${question}">${question}</button>`,
  );
  return html`<section class="part" aria-labelledby="ask"><h2 id="ask">Ask about this answer${badge('ask')} <a
    href="${address}">Earlier questions</a></h2>
    <form class="filters" method="post" action="${address}" data-whole><input name="question"
    aria-label="Question" required maxlength="2000" placeholder="What changed since the last green build?"
    data-action="ask"><button>Ask</button></form>
    <form class="acts" method="post" action="${address}" data-whole>${chips}</form></section>`;
}

/**
 * Facts that have their own place on the page of an answer, and so are omitted from the list of other facts.
 */
const OWN_PLACE: readonly string[] = [
  'Tried',
  'Cause',
  'Fix',
  'Related',
  'Owner',
  'Against',
  'Unknown',
  'Reason',
  'Record',
  // Whether to rerun is part of the advice, and notes on the analysis are shown with its steps.
  'Rerun',
  'Note',
];

/** Renders the other facts about the answer: notes, earlier decisions, and news. */
export function otherFacts({ facts }: AnswerView, ids: ReadonlySet<string>): Html {
  const points = facts
    .filter(({ name, kind }) => ['prose', 'list', 'note'].includes(kind) && !OWN_PLACE.includes(name))
    .map(
      ({ label, values }) =>
        html`<dt>${label}</dt><dd>${joinHtml(
          values.map((value) => inlineProse(value, ids)),
          '; ',
        )}</dd>`,
    );
  return html`${points.length > 0 && html`<dl class="kv">${points}</dl>`}`;
}
