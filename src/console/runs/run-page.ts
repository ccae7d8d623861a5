import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { minOf } from '../../lib/lists.ts';
import { formatDollars, formatDuration } from '../../publish/answer-facts.ts';
import { type AnalysisTrace, traceOf } from '../../publish/trace.ts';
import { formatNumber } from '../../publish/visible-text.ts';
import { analysisAddress, buildAddress, runAddress } from '../addresses.ts';
import { buildLine } from '../builds/build-words.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { protect } from '../headers.ts';
import { type Html, html } from '../html.ts';
import { sendPage } from '../page.ts';
import { readerOf } from '../reader.ts';
import { type LiveRun, liveRun, registerRunEvents, stepOf } from './run-events.ts';
import { stepLine } from './step-line.ts';

const Params = z.object({ id: z.string().min(1).max(300) });
const config = { access: { role: 'read' } } as const;

/** `/runs/:id`: what an analysis did, step by step; with the id of a build, what is being done for it now. */
export function registerRunPages(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/runs/:id', { config, schema: { params: Params } }, async (request, reply) => {
    const analysis = await deps.stores.analyses.find(request.params.id);
    return analysis === null ? await sendLive(request.params.id, request, reply, deps) : await sendFinished(analysis, request, reply, deps);
  });
  typed.get('/runs/:id/json', { config, schema: { params: Params } }, async (request, reply) => {
    const analysis = await deps.stores.analyses.find(request.params.id);
    if (analysis === null) throw new TriageError('not-found', `There is no analysis ${request.params.id}.`);
    protect(reply);
    reply
      .header('content-disposition', `attachment; filename="${analysis.id}.json"`)
      .header('content-type', 'application/json; charset=utf-8');
    return reply.send(JSON.stringify(await traced(analysis, deps), null, 2));
  });
  registerRunEvents(app, deps);
}

async function traced(analysis: Analysis, { masker }: ConsoleDeps): Promise<AnalysisTrace> {
  return await traceOf(analysis, async (text) => (await masker.mask(text)).text);
}

async function sendFinished(analysis: Analysis, request: FastifyRequest, reply: FastifyReply, deps: ConsoleDeps): Promise<FastifyReply> {
  const trace = await traced(analysis, deps);
  const main = html`<h1 tabindex="-1">How Faultline reached “${analysis.answer.title}”</h1>
${headOf(trace)}
<ol class="steps">${trace.steps.map((step, at) => stepLine(step, at + 1, { startedAt: begunAt(trace), milliseconds: trace.milliseconds }))}</ol>
${trace.truncated && html`<p>Not all steps are shown; the JSON has them all.</p>`}
${trace.notes.length > 0 && html`<h2>Notes</h2><ul>${trace.notes.map((note) => html`<li>${note}</li>`)}</ul>`}
<p><a class="button" href="${analysisAddress(analysis.id)}">Back to the analysis</a> <a class="button" href="/runs/${encodeURIComponent(analysis.id)}/json">Download JSON</a></p>`;
  return sendPage(request, reply, { title: 'Run', place: 'page', part: 'builds', main }, await readerOf(request, deps));
}

function headOf({ terminationReason, totals, milliseconds, reduction, model, analyst, action, promptHashes }: AnalysisTrace): Html {
  const cost =
    totals.modelCalls === 0
      ? 'no model used'
      : `${formatNumber(totals.inputTokens)} → ${formatNumber(totals.outputTokens)} tokens · ${formatDollars(totals.costUsd)}`;
  const prompts = [...new Set(Object.values(promptHashes))].map((hash) => hash.slice(0, 8));
  return html`<p>Finished: ${terminationReason.replaceAll('_', ' ')} · ${totals.iterations} ${totals.iterations === 1 ? 'round' : 'rounds'} · ${formatDuration(milliseconds)} · ${cost} · ended in <strong>${action.replaceAll('_', ' ')}</strong></p>
<p class="quiet">Log ${formatNumber(reduction.logLines)} lines → ${formatNumber(reduction.keptLines)} kept · ${model === null ? `analyst ${analyst}` : `model ${model}`}${prompts.length > 0 && ` · prompts ${prompts.join(', ')}`}</p>`;
}

/** Steps of one run may begin before the clock of the first one that was stored, as after a resume. */
function begunAt({ steps, createdAt }: AnalysisTrace): number {
  return minOf(
    steps.map(({ startedAt }) => Date.parse(startedAt)),
    Date.parse(createdAt),
  );
}

async function sendLive(id: string, request: FastifyRequest, reply: FastifyReply, deps: ConsoleDeps): Promise<FastifyReply> {
  const build = await deps.stores.builds.find(id);
  if (build === null) throw new TriageError('not-found', `There is no analysis or build ${id}.`);
  const run = await liveRun(build.id, 0, deps);
  const only = run.analyses.length === 1 ? run.analyses[0] : undefined;
  if (run.ended && only !== undefined) return reply.redirect(runAddress(only.id), 303);
  const steps = await Promise.all(run.steps.map((step) => stepOf(step, deps)));
  return sendPage(
    request,
    reply,
    { title: 'Run', place: 'page', part: 'builds', main: livePage(build, run, steps) },
    await readerOf(request, deps),
  );
}

function livePage(build: Build, run: LiveRun, steps: readonly Html[]): Html {
  const at = run.steps.at(-1)?.position ?? 0;
  return html`<h1 tabindex="-1">${run.ended ? 'Analysis of' : 'Analyzing'} ${build.pipeline} #${build.number}</h1>
<p>${buildLine(build)}</p>
<p id="live-state">${run.sentence}</p>
<ol class="steps" id="steps"${!run.ended && html` data-events="${runAddress(build.id)}/events" data-last="${at}"`}>${steps}</ol>
${!run.ended && html`<p><a class="button" href="${runAddress(build.id)}">Refresh</a></p>`}
${run.analyses.length > 0 && html`<h2>Analyses</h2><ul>${run.analyses.map(({ id, title }) => html`<li><a href="${analysisAddress(id)}">${title}</a></li>`)}</ul>`}
<p><a href="${buildAddress(build.id)}">Back to the build</a></p>`;
}
