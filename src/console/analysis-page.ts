import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { Review } from '../domain/review.ts';
import { openReviewFor } from '../service/review/queue.ts';

import { causeAddress, reviewAddress, runAddress } from './addresses.ts';
import { analysisParts, placeLine, readAnalysisFacts } from './analysis-parts.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { actionLink, postForm, timeOf } from './controls.ts';
import { type Html, html } from './html.ts';
import { mayReview, readerOf, sendPage } from './page.ts';

const Params = z.object({ id: z.string().min(1).max(300) });

/** `/analyses/:id`: one answer for good; pull requests, Slack and the terminal lead here. */
export function registerAnalysisPage(app: FastifyInstance, deps: ConsoleDeps): void {
  const config = { access: { role: 'read' } } as const;
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/analyses/:id', { config, schema: { params: Params } }, async (request, reply) => {
    const analysis = await deps.stores.analyses.find(request.params.id);
    if (analysis === null) throw new TriageError('not-found', `There is no analysis ${request.params.id}.`);
    const reader = await readerOf(request, deps);
    const facts = await readAnalysisFacts(deps, analysis);
    if (facts === null) throw new TriageError('not-found', `The build of analysis ${analysis.id} is no longer stored.`);
    const review = await deps.stores.reviews.findByAnalysis(analysis.id);
    const reviews = request.principal !== null && mayReview(request.principal);
    const links = html`<p>${actionLink('full-log', runAddress(analysis.id), 'Analysis steps')} <a class="button" href="${causeAddress(analysis.fingerprint)}">All occurrences</a></p>`;
    const between = html`${standing(analysis.id, review, reviews)}${links}`;
    const main = html`<h1 tabindex="-1">${analysis.answer.title}</h1>${placeLine(facts)}${analysisParts(facts, { between })}`;
    return sendPage(request, reply, { title: analysis.answer.title, place: 'item', part: 'builds', main }, reader);
  });
  const reviewing = { access: { role: 'review' } } as const;
  typed.post('/analyses/:id/review', { config: reviewing, schema: { params: Params } }, async (request, reply) => {
    const review = await openReviewFor(deps, { analysisId: request.params.id, by: request.principal?.name ?? '' });
    return reply.redirect(reviewAddress(review.id), 303);
  });
}

/** A sure answer may be wrong, too: whoever may review opens an item for it. */
function notAsked(analysisId: string, reviews: boolean): Html {
  const open = reviews && postForm(`/analyses/${encodeURIComponent(analysisId)}/review`, {}, html`<button>Give feedback</button>`);
  return html`<p class="quiet">Published automatically.</p>${open}`;
}

/** What people said of it, or that nobody was asked. */
function standing(analysisId: string, review: Review | null, reviews: boolean): Html {
  if (review === null) return notAsked(analysisId, reviews);
  const link = reviews && html` <a href="${reviewAddress(review.id)}">View review</a>`;
  const { decision } = review;
  if (decision === null) return html`<p>Waiting for review since ${timeOf(review.openedAt)}.${link}</p>`;
  const said = { accept: 'Confirmed', correct: `Corrected to ${decision.category ?? review.category}`, reject: 'Rejected' }[decision.type];
  return html`<p><strong>${said}</strong> by ${decision.reviewer} at ${timeOf(decision.decidedAt)}.${link}</p>`;
}
