import { type Analysis, isUnread } from '../../domain/analysis.ts';
import { nameCategory } from '../../domain/category-words.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Review } from '../../domain/review.ts';
import { cutAtWord } from '../../lib/text.ts';
import { answerView } from '../../notifications/answer-view.ts';
import { findAnalysis } from '../../service/answers/views.ts';
import { openReviewFor } from '../../service/review/queue.ts';
import { formatAnalysisAddress, formatReviewAddress } from '../addresses.ts';
import { SUGGESTIONS } from '../ask.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { formatDay, keysLink, postForm, renderTime } from '../controls.ts';
import { type Html, html, joinHtml, type Shown } from '../html.ts';
import { IdParams } from '../http.ts';
import { type EvidenceWindows, renderEvidenceWindows } from '../logs/evidence-windows.ts';
import { type ConsoleApp, loadReader, mayReview, route, sendPage } from '../page.ts';
import { icon } from '../parts/icons.ts';
import { besidePart, besideParts } from './beside.ts';
import { type AnswerFacts, readAnswerFacts } from './facts.ts';
import {
  answerHeadline,
  askPart,
  ciAction,
  evidencePart,
  factsRow,
  hypothesesPart,
  listIds,
  otherFacts,
  placeCrumbs,
  suspectsPart,
} from './parts.ts';
import { picturesPart } from './pictures.ts';
import { type AnswerTexts, writeTexts } from './texts.ts';

/** The maximum length of the title of a cause in its tab. */
const TAB_CHARACTERS = 40;
/** The number of suggested questions below an answer. The page for questions has more. */
const OFFERED = 3;

/**
 * Registers `/analyses/:id`, the permanent page of one answer. Pull requests, Slack and the terminal link to
 * it.
 */
export function registerAnswerPage(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/analyses/:id', route('read', { params: IdParams }), async (request, reply) => {
    const analysis = await findAnalysis(deps.stores.analyses, request.params.id);
    const [reader, facts, siblings] = await Promise.all([
      loadReader(request, deps),
      readAnswerFacts(deps, analysis),
      deps.stores.analyses.heads([analysis.buildId]),
    ]);
    if (facts === null)
      throw new TriageError('not-found', `The build of analysis ${analysis.id} is no longer stored.`);
    const texts = writeTexts(facts.analysis);
    const { preferences } = reader;
    const options = { build: facts.build, claims: texts.claims, stamps: preferences.timestamps };
    const windows = await renderEvidenceWindows(deps, analysis, options);
    const { title } = analysis.answer;
    const verdict = verdictPart(analysis, facts.review, mayReview(request.principal));
    const main = html`${causeTabs(analysis, siblings)}${answerHeadline(facts, texts, title)}${answerBody(
      facts,
      texts,
      windows,
      { verdict, editor: preferences.editor },
    )}`;
    const top = html`${placeCrumbs(facts)}<div class="acts">${ciAction(facts)}${keysLink()}</div>`;
    return sendPage(request, reply, { title, place: 'item', part: 'builds', top, main }, reader);
  });
  app.post('/analyses/:id/review', route('review', { params: IdParams }), async (request, reply) => {
    const review = await openReviewFor(deps, {
      analysisId: request.params.id,
      by: request.principal?.name ?? '',
    });
    return reply.redirect(formatReviewAddress(review.id), 303);
  });
}

interface BodyOptions {
  /** The decision of a person about the answer, or the form for it. */
  readonly verdict?: Shown;
  /** The content between the facts and the evidence. */
  readonly between?: Shown;
  readonly editor: string;
}

/** Renders everything below the title of an answer: its three facts, the evidence, and the context. */
export function answerBody(
  facts: AnswerFacts,
  texts: AnswerTexts,
  windows: EvidenceWindows,
  { verdict, between, editor }: BodyOptions,
): Html {
  const view = answerView(facts.analysis);
  return html`${factsRow(facts, texts)}${between}
    <div class="cols"><div
      class="stack">${hypothesesPart(facts)}${[
        evidencePart(facts, windows, texts),
        picturesPart(facts),
      ]}${suspectsPart(
        facts,
        editor,
      )}${otherFacts(view, listIds(facts.analysis))}${askPart(facts, SUGGESTIONS.slice(0, OFFERED))}</div>
    <aside class="stack" aria-label="Context">${besideParts(facts, verdict)}</aside></div>`;
}

/** Renders the causes of a build with several as numbered tabs. */
function causeTabs(
  { id }: Analysis,
  siblings: readonly { readonly id: string; readonly title: string }[],
): Shown {
  if (siblings.length < 2) return null;
  const links = siblings.map(
    (sibling, index) =>
      html`<a
        href="${formatAnalysisAddress(sibling.id)}"${sibling.id === id && html` aria-current="page"`}><span
        class="count">${index + 1}</span>${cutAtWord(sibling.title, TAB_CHARACTERS)}</a>`,
  );
  return html`<nav class="tabs" aria-label="Causes of this build">${joinHtml(links)}</nav>`;
}

/**
 * Renders the reviewer's decision about the answer, or asks for one. A reviewer can open an item even for a
 * confident answer, because it may be wrong too.
 */
function verdictPart(analysis: Analysis, review: Review | null, reviews: boolean): Html {
  return besidePart('right', 'Is this answer right?', verdictContent(analysis, review, reviews));
}

function verdictContent(analysis: Analysis, review: Review | null, reviews: boolean): Html {
  if (review === null && isUnread(analysis))
    return html`<p class="meta">Not sent for review: there is no log to judge it by.</p>`;
  if (review === null)
    return html`${
      reviews &&
      postForm(
        `/analyses/${encodeURIComponent(analysis.id)}/review`,
        {},
        html`<p class="acts"><button>${icon('check')}Say so, or correct it</button></p>`,
      )
    }<p class="meta">Published automatically. Your word answers the same failure next time.</p>`;
  const { decision } = review;
  const link = reviews && html` <a href="${formatReviewAddress(review.id)}">View review</a>`;
  if (decision === null) return html`<p>Waiting for review since ${renderTime(review.openedAt)}.${link}</p>`;
  const verb = {
    accept: 'Confirmed',
    correct: `Corrected to ${nameCategory(decision.category)}`,
    reject: 'Rejected',
  }[decision.type];
  const day = formatDay(decision.decidedAt);
  return html`<p><strong>${verb}</strong> by ${decision.reviewer}, ${day}.${link}</p>`;
}
