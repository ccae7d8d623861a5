import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { REPEATED_CALL } from '../domain/evidence.ts';
import { findMin } from '../lib/collections.ts';
import { formatCount, startUpper } from '../lib/text.ts';
import { formatDollars, formatDuration } from '../notifications/answer-view.ts';
import { formatNumber } from '../notifications/visible-text.ts';
import {
  type AnalysisTrace,
  buildTrace,
  type StepTrace,
  type ToolTrace,
  traceStep,
} from '../service/answers/trace.ts';
import { findAnalysis } from '../service/answers/views.ts';
import type { RunStep } from '../stores/triages.ts';
import { buildAddress, formatAnalysisAddress, runAddress } from './addresses.ts';
import { buildLine } from './builds.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { crumbs } from './controls.ts';
import { type Html, html } from './html.ts';
import { type Emit, IdParams, protect, sendEvents } from './http.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';
import { describeInWords, nameAction, nameEnd, nameNode, nameTool } from './run-words.ts';

/**
 * Registers `/runs/:id`, the steps of an analysis. If the id belongs to a build, they are those of its
 * current run. Also registers `/runs/:id/json`, the same as JSON, and `/runs/:id/events`, the steps of a run
 * as they end.
 */
export function registerRunPages(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/runs/:id', route('read', { params: IdParams }), async (request, reply) => {
    const analysis = await deps.stores.analyses.find(request.params.id);
    return analysis === null
      ? await sendLive(request.params.id, request, reply, deps)
      : await sendFinished(analysis, request, reply, deps);
  });
  app.get('/runs/:id/json', route('read', { params: IdParams }), async (request, reply) => {
    const analysis = await findAnalysis(deps.stores.analyses, request.params.id);
    protect(reply);
    reply
      .header('content-disposition', `attachment; filename="${analysis.id}.json"`)
      .header('content-type', 'application/json; charset=utf-8');
    return reply.send(JSON.stringify(await traceAnalysis(analysis, deps), null, 2));
  });
  registerRunEvents(app, deps);
}

async function traceAnalysis(analysis: Analysis, { masker }: ConsoleDeps): Promise<AnalysisTrace> {
  return await buildTrace(analysis, async (text) => (await masker.mask(text)).text);
}

async function sendFinished(
  analysis: Analysis,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
): Promise<FastifyReply> {
  const trace = await traceAnalysis(analysis, deps);
  const main = html`<h1 tabindex="-1">How Faultline came to say: ${analysis.answer.title}</h1>
    ${renderHead(trace)}
    <ol class="runs">${trace.steps.map((step, at) =>
      stepLine(step, at + 1, { startedAt: findStart(trace), milliseconds: trace.milliseconds }),
    )}</ol>
    ${trace.truncated && html`<p>Only the first ${trace.steps.length} steps are shown.</p>`}
    ${
      trace.notes.length > 0 &&
      html`<h2>Notes</h2><ul>${trace.notes.map((note) => html`<li>${note}</li>`)}</ul>`
    }
    <p><a class="btn" href="${formatAnalysisAddress(analysis.id)}">Back to the answer</a>
    <a class="btn" href="/runs/${encodeURIComponent(analysis.id)}/json">Download JSON</a></p>`;
  const top = crumbs([html`<a href="${formatAnalysisAddress(analysis.id)}">Answer</a>`, 'All steps']);
  return answerPage(request, reply, deps, { title: 'Run', part: 'builds', top, main });
}

function renderHead({
  terminationReason,
  totals,
  milliseconds,
  reduction,
  model,
  analyst,
  action,
  promptHashes,
}: AnalysisTrace): Html {
  const cost =
    totals.modelCalls === 0
      ? 'no model used'
      : `${formatNumber(totals.inputTokens)} → ${formatNumber(totals.outputTokens)} tokens ` +
        `· ${formatDollars(totals.costUsd)}`;
  const prompts = [...new Set(Object.values(promptHashes))].map((hash) => hash.slice(0, 8));
  const rounds = formatCount(totals.iterations, 'round');
  return html`<p>Ended after ${rounds}, because ${nameEnd(terminationReason)}. The answer was
    <strong>${nameAction(action)}</strong>.</p>
    <p class="quiet">${formatDuration(milliseconds)} · ${cost} · ${formatNumber(reduction.keptLines)} of
    ${formatCount(reduction.logLines, 'line')} kept · ${
      model === null ? `judged by ${analyst}` : `model ${model}`
    }${prompts.length > 0 && ` · prompts ${prompts.join(', ')}`}</p>`;
}

/**
 * Returns when the run started: the earliest start of a step, or the creation of the analysis if there are no
 * steps.
 */
function findStart({ steps, createdAt }: AnalysisTrace): number {
  const starts = steps.map(({ startedAt }) => Date.parse(startedAt));
  return findMin(starts, Date.parse(createdAt));
}

async function sendLive(
  id: string,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
): Promise<FastifyReply> {
  const build = await deps.stores.builds.find(id);
  if (build === null) throw new TriageError('not-found', `There is no analysis or build ${id}.`);
  const run = await readLiveRun(build.id, 0, deps);
  const only = run.analyses.length === 1 ? run.analyses[0] : undefined;
  if (run.ended && only !== undefined) return reply.redirect(runAddress(only.id), 303);
  const steps = await Promise.all(run.steps.map((step) => renderStep(step, deps)));
  const main = livePage(build, run, steps);
  return answerPage(request, reply, deps, { title: 'Run', part: 'builds', main });
}

function livePage(build: Build, run: LiveRun, steps: readonly Html[]): Html {
  const at = run.steps.at(-1)?.position ?? 0;
  return html`<h1 tabindex="-1">${run.ended ? 'Analysis of' : 'Analyzing'} ${build.pipeline}
    #${build.number}</h1>
    <p>${buildLine(build)}</p>
    <p id="live-state">${run.stateText}</p>
    <ol class="runs" id="steps"${
      !run.ended &&
      html` data-events="${runAddress(build.id)}/events"
        data-last="${at}"`
    }>${steps}</ol>
    ${!run.ended && html`<p><a class="btn" href="${runAddress(build.id)}">Refresh</a></p>`}
    ${
      run.analyses.length > 0 &&
      html`<h2>Analyses</h2><ul>${run.analyses.map(
        ({ id, title }) => html`<li><a href="${formatAnalysisAddress(id)}">${title}</a></li>`,
      )}</ul>`
    }
    <p><a href="${buildAddress(build.id)}">Back to the build</a></p>`;
}

/** The interval between two reads of the database, in milliseconds. With a model, a step takes seconds. */
const POLL_MS = 700;
/** The maximum position of a step. Positions are integers of PostgreSQL. */
const MAX_POSITION = 2_147_483_647;
/** The maximum duration of an event stream, in milliseconds. The browser then reconnects. */
const MAX_STREAM_MS = 30 * 60_000;

type LiveRun = Awaited<ReturnType<typeof readLiveRun>>;

/** Reads the current run of a build: the steps after a position, and the state of the run. */
async function readLiveRun(buildId: string, after: number, { stores }: Pick<ConsoleDeps, 'stores'>) {
  const job = await stores.triages.findByBuild(buildId);
  const [steps, analyses] = await Promise.all([
    stores.runSteps.after(buildId, after),
    stores.analyses.heads([buildId]),
  ]);
  const ended = job === null || job.state === 'done' || job.state === 'failed';
  const last = steps.at(-1)?.step;
  const stateTexts = {
    queued: 'Waiting for a worker.',
    running:
      last === undefined ? 'Reading the logs.' : `${nameNode(last.node)}: ${describeInWords(last.summary)}`,
    done: 'Analyzed.',
    failed: `The analysis failed: ${job?.error ?? 'see the server log'}.`,
  };
  return {
    steps,
    analyses,
    ended,
    stateText: job === null ? 'This build needs no analysis.' : stateTexts[job.state],
  };
}

/** Renders a stored step as a line of the page. */
async function renderStep(
  { position, step }: RunStep,
  { masker }: Pick<ConsoleDeps, 'masker'>,
): Promise<Html> {
  return stepLine(await traceStep(step, async (text) => (await masker.mask(text)).text), position, null);
}

/**
 * Registers `/runs/:id/events`: the steps of a build, sent as they end. The id of each event is its position,
 * so a reader that reconnects continues after it. When the run has ended, the last event is `done`, with the
 * address of the result. A stream ends after `MAX_STREAM_MS` at the latest.
 */
function registerRunEvents(app: ConsoleApp, deps: ConsoleDeps): void {
  const schema = {
    params: IdParams,
    querystring: z.object({ after: z.coerce.number().int().min(0).max(MAX_POSITION).catch(0).default(0) }),
  };
  const options = { ...route('read', schema), exposeHeadRoute: false };
  app.get('/runs/:id/events', options, async (request, reply) => {
    const build = await deps.stores.builds.find(request.params.id);
    if (build === null) throw new TriageError('not-found', `There is no build ${request.params.id}.`);
    const resumed = Number.parseInt(String(request.headers['last-event-id'] ?? ''), 10);
    let after = resumed >= 0 && resumed <= MAX_POSITION ? resumed : request.query.after;
    const until = deps.clock.now() + MAX_STREAM_MS;
    const leave = deps.countStream(request);
    const watch = async (emit: Emit, signal: AbortSignal) => {
      for (;;) {
        const run = await readLiveRun(build.id, after, deps);
        for (const step of run.steps) {
          after = step.position;
          emit('step', (await renderStep(step, deps)).text, String(after));
        }
        emit('state', html`${run.stateText}`.text);
        const [only] = run.analyses;
        if (run.ended)
          return emit(
            'done',
            run.analyses.length === 1 && only !== undefined ? runAddress(only.id) : buildAddress(build.id),
          );
        if (deps.clock.now() > until) return;
        await wait(POLL_MS, undefined, { signal });
      }
    };
    return sendEvents(request, reply, async (emit, signal) => await watch(emit, signal).finally(leave));
  });
}

/**
 * Renders one finished step as a list item that can be expanded. It is expanded if a tool call failed.
 * `scale` is null while the run continues.
 */
function stepLine(step: StepTrace, number: number, scale: RunScale | null): Html {
  const failed = step.tools.some(isFailure);
  const took = formatDuration(step.milliseconds);
  return html`<li><details${failed && html` open`}>
    <summary>${scale !== null && bar(step, scale)}<span class="number">${number}</span>
    <strong>${nameNode(step.node)}</strong>${
      step.investigator !== undefined && html` <span class="quiet">${step.investigator}</span>`
    } <span class="quiet">${step.round > 0 && `round ${step.round}, `}${took}</span><span
    class="told">${describeInWords(step.summary)}</span></summary>
    ${step.judgements.map(
      (judgment) =>
        html`<p>${nameNode(judgment.name)}, by ${judgment.by}${
          judgment.model !== null && ` (${judgment.model})`
        }:
          ${formatDuration(judgment.milliseconds)}${
            judgment.modelCalls > 0 &&
            `, ${formatNumber(judgment.inputTokens)} → ${formatNumber(judgment.outputTokens)} ` +
              `tokens, ${formatDollars(judgment.costUsd)}`
          }${judgment.note !== null && html` <span class="quiet">${judgment.note}</span>`}</p>`,
    )}
    ${step.tools.length > 0 && html`<ul class="plain">${step.tools.map(toolLine)}</ul>`}
    ${
      step.judgements.length === 0 &&
      step.tools.length === 0 &&
      html`<p class="quiet">No model or tool was called in this step.</p>`
    }</details></li>`;
}

function toolLine(tool: ToolTrace): Html {
  const args = Object.entries(tool.args).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return html`<li>${renderOutcome(tool)} <b title="${tool.tool}">${startUpper(nameTool(tool.tool))}</b>${
    !isRepeated(tool) && html`: ${describeInWords(tool.summary)}`
  }
    <span class="quiet">${formatDuration(tool.milliseconds)}${
      tool.attempts > 1 && `, ${tool.attempts} attempts`
    }${tool.cached && ', from cache'}${
      tool.answeredBy !== undefined && html`. Instead: ${nameTool(tool.answeredBy)}`
    }</span>
    ${args.length > 0 && html`<br><span class="quiet mono">${args.join(' · ')}</span>`}<br><span
    class="quiet">${tool.why}</span></li>`;
}

/** Renders the outcome of a tool call: found, nothing, skipped, or the kind of its failure. */
function renderOutcome(tool: ToolTrace): Html {
  if (isRepeated(tool)) return html`<span class="quiet">skipped, asked before</span>`;
  if (isFailure(tool))
    return html`<span class="is-red"><span aria-hidden="true">✗</span> ${STATUS_WORDS[tool.status]}</span>`;
  return html`<span class="is-green"><span aria-hidden="true">✓</span> ${STATUS_WORDS[tool.status]}</span>`;
}

const STATUS_WORDS: Readonly<Record<ToolTrace['status'], string>> = {
  ok: 'found',
  empty: 'nothing',
  unavailable: 'not available',
  'invalid-arguments': 'wrong arguments',
  refused: 'refused',
  failed: 'failed',
  'timed-out': 'timed out',
};

/** Checks whether a call was skipped because an equal one was made before. */
function isRepeated({ status, summary }: ToolTrace): boolean {
  return status === 'refused' && summary === REPEATED_CALL;
}

/** Checks whether a tool call failed. An empty result and a skipped repeat are no failures. */
function isFailure(tool: ToolTrace): boolean {
  return tool.status !== 'ok' && tool.status !== 'empty' && !isRepeated(tool);
}

/** The start and the duration of the whole run in milliseconds, which scale the bars. */
interface RunScale {
  readonly startedAt: number;
  readonly milliseconds: number;
}

const WIDTH = 200;
/** The minimum width of a step in drawing units, so that even the shortest one is visible. */
const MIN_WIDTH = 1;

/**
 * Draws the start and the duration of a step, to the scale of the whole run. The text next to the bar states
 * the duration. Only the bar shows the start.
 */
function bar(step: Pick<StepTrace, 'startedAt' | 'milliseconds'>, scale: RunScale): Html {
  const total = Math.max(1, scale.milliseconds);
  const from = clamp(((Date.parse(step.startedAt) - scale.startedAt) / total) * WIDTH, WIDTH - MIN_WIDTH);
  const width = Math.max(MIN_WIDTH, clamp((step.milliseconds / total) * WIDTH, WIDTH - from));
  return html`<svg class="took" viewBox="0 0 ${WIDTH} 8" aria-hidden="true">
    <rect class="track" width="${WIDTH}" height="8"/>
    <rect x="${from.toFixed(1)}" width="${width.toFixed(1)}" height="8"/></svg>`;
}

function clamp(value: number, max: number): number {
  return Math.min(Math.max(0, value), max);
}
