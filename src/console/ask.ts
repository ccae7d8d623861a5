import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Analysis } from '../domain/analysis.ts';
import { toAnswerForm } from '../domain/answer-form.ts';
import { nameCodes } from '../domain/category-words.ts';
import type { Citation, Thread, Turn } from '../domain/conversation.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import type { Evidence } from '../domain/evidence.ts';
import { formatDuration } from '../notifications/answer-view.ts';
import { findAnalysis } from '../service/answers/views.ts';
import type { AskWatcher } from '../service/ask/answer-question.ts';
import { createGate } from '../service/ask/ask.ts';
import {
  askAddress,
  formatAnalysisAddress,
  formatLogAddress,
  formatRepositoryAskAddress,
  formatThreadAddress,
} from './addresses.ts';
import { type BuildAtHost, findCodePlace, formatCodeAddress } from './code-links.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { renderHiddenFields, renderTime } from './controls.ts';
import { type Html, html, linkTarget, type Shown } from './html.ts';
import { IdParams, sendEvents } from './http.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';
import { inlineProse } from './prose.ts';

const ThreadParams = IdParams.extend({ thread: z.string().min(1).max(300) });
const Body = z.object({ question: z.string().max(10_000), thread: z.string().max(300).optional() });
/** The maximum number of questions that one process answers at a time. */
export const AT_ONCE = 8;
/** The maximum number of questions of one address in a minute. A question may cost tokens and tool calls. */
export const QUESTIONS_A_MINUTE = 30;

/**
 * Registers `/analyses/:id/ask`, the follow-up questions. The answer is sent as a page, or as events to a
 * browser that can show it while it is written.
 */
export function registerAskPages(app: ConsoleApp, deps: ConsoleDeps): void {
  const gate = createGate(AT_ONCE);
  app.get('/analyses/:id/ask', route('read', { params: IdParams }), async (request, reply) => {
    const analysis = await findAnalysis(deps.stores.analyses, request.params.id);
    const threads = await deps.ask.threads({ analysisId: analysis.id }, { limit: 20, offset: 0 });
    const build = await deps.stores.builds.find(analysis.buildId);
    return answerPage(request, reply, deps, {
      title: 'Ask',
      part: 'builds',
      main: askPage(analysis, build?.repository, threads, deps.ask.byRules),
    });
  });
  app.get('/analyses/:id/ask/:thread', route('read', { params: ThreadParams }), async (request, reply) => {
    const analysis = await findAnalysis(deps.stores.analyses, request.params.id);
    const { thread, turns } = await deps.ask.thread(request.params.thread);
    if (thread.analysisId !== analysis.id)
      throw new TriageError('not-found', `The thread ${thread.id} belongs to another analysis.`);
    const build = await deps.stores.builds.find(analysis.buildId);
    return answerPage(request, reply, deps, {
      title: thread.title,
      part: 'builds',
      main: threadPage(analysis, thread, turns, build),
    });
  });
  const limited = {
    access: { role: 'read' },
    rateLimit: { max: QUESTIONS_A_MINUTE, timeWindow: 60_000 },
  } as const;
  app.post(
    '/analyses/:id/ask',
    { config: limited, schema: { params: IdParams, body: Body } },
    async (request, reply) => {
      const { question, thread } = request.body;
      const about = { analysisId: request.params.id };
      const askedBy = request.principal?.name ?? '';
      const opened = await deps.ask.open({ about, question, threadId: thread, askedBy });
      const asked: AskedInPage = {
        answer: (watcher, signal) => deps.ask.answer(opened, watcher, signal),
        address: formatThreadAddress(opened.thread.analysisId, opened.thread.id),
      };
      return await sendAnswer(asked, request, reply, gate.enter());
    },
  );
}

/** A question of a page that can be answered, and the address of its thread. */
export interface AskedInPage {
  readonly answer: (watcher: AskWatcher, signal: AbortSignal) => Promise<Turn>;
  readonly address: string;
}

/**
 * Answers a question with the address of its page, or with events for a browser that shows the answer while
 * it is written.
 */
export async function sendAnswer(
  asked: AskedInPage,
  request: FastifyRequest,
  reply: FastifyReply,
  leave: () => void,
): Promise<FastifyReply> {
  if ((request.headers.accept ?? '').includes('text/event-stream'))
    return answerAsEvents(asked, request, reply, leave);
  const gone = new AbortController();
  reply.raw.on('close', () => gone.abort());
  const turn = await asked.answer({}, gone.signal).finally(leave);
  return reply.redirect(`${asked.address}#turn-${turn.position}`, 303);
}

/**
 * Sends the answer as events: `step` and `text` while it is written, `wrong` if it fails, and `done` with the
 * address of the complete, checked answer.
 */
function answerAsEvents(
  { answer, address }: AskedInPage,
  request: FastifyRequest,
  reply: FastifyReply,
  leave: () => void,
): FastifyReply {
  return sendEvents(request, reply, async (emit, signal) => {
    const watcher = {
      onStep: ({ node, summary }: { readonly node: string; readonly summary: string }) =>
        emit('step', html`${node}: ${summary}`.text),
      onText: ({ text, restart }: { readonly text: string; readonly restart?: boolean }) =>
        emit(restart === true ? 'restart' : 'text', html`${text}`.text),
    };
    try {
      const turn = await answer(watcher, signal);
      emit('done', `${address}#turn-${turn.position}`);
    } catch (error) {
      const isTold = error instanceof TriageError && error.cause === undefined;
      if (!signal.aborted)
        emit(
          'wrong',
          html`${
            isTold
              ? getErrorMessage(error)
              : 'The question could not be answered. See the server log for the reason.'
          }`.text,
        );
      throw error;
    } finally {
      leave();
    }
  });
}

/** Suggested questions that can be answered with and without a model. */
export const SUGGESTIONS = [
  'How did it fail?',
  'How do I fix it?',
  'Which lines show it?',
  'Who should look at it?',
  'What is different from the last green build?',
  'Did it fail like this before?',
  'How sure is the answer?',
  'What else failed?',
] as const;

function askPage(
  analysis: Analysis,
  repository: string | undefined,
  threads: readonly Thread[],
  byRules: boolean,
): Html {
  const buttons = html`<p>${SUGGESTIONS.map((question) => suggestion(analysis.id, question))}</p>`;
  const form = askForm(askAddress(analysis.id), {});
  const ways = byRules
    ? html`<p role="note">No model is configured. Without one, these questions are answered from the analysis,
      the log and the history; any other question gets the answer to the most similar of
      these.</p>${buttons}${form}`
    : html`${form}<p>For example:</p>${buttons}`;
  return html`<h1 tabindex="-1">Ask about “${analysis.answer.title}”</h1>
    <p><a href="${formatAnalysisAddress(analysis.id)}">Back to the analysis</a> ·
    <a href="${formatRepositoryAskAddress(repository)}">Ask about the repository</a></p>
    ${ways}
    ${
      threads.length > 0 &&
      html`<h2>Earlier questions</h2>
        <ul>${threads.map(
          (thread) =>
            html`<li><a href="${formatThreadAddress(analysis.id, thread.id)}">${thread.title}</a>
              <span class="quiet">by ${thread.startedBy}</span></li>`,
        )}</ul>`
    }`;
}

function threadPage(
  analysis: Analysis,
  thread: Thread,
  turns: readonly Turn[],
  build: BuildAtHost | null,
): Html {
  const found = [...analysis.evidence, ...turns.flatMap(({ evidence }) => evidence)];
  const known = new Map(found.map((item) => [item.id, item]));
  return html`<h1 tabindex="-1">${thread.title}</h1>
    <p>About <a href="${formatAnalysisAddress(analysis.id)}">${analysis.answer.title}</a> ·
    <a href="${askAddress(analysis.id)}">Other questions</a></p>
    <div id="turns">${turns.map((turn) =>
      renderTurn(turn, (cited) =>
        renderCitation(cited, findAddress(cited, known.get(cited.id), analysis, build)),
      ),
    )}</div>
    ${askForm(askAddress(analysis.id), { thread: thread.id })}`;
}

/**
 * Renders the question form. A script shows the answer in place, with a button to stop it. Without scripts,
 * the answer is a page.
 */
export function askForm(
  address: string,
  hidden: Readonly<Record<string, string>>,
  choice: Shown = null,
  question = '',
): Html {
  return html`<form method="post" action="${address}" class="ask"
    data-ask>${renderHiddenFields(hidden)}${choice}
    <label for="question">Question</label><textarea id="question" name="question" required
    maxlength="2000">${question}</textarea>
    <p><button class="main">Ask</button> <button type="button" data-stop hidden>Stop</button></p>
    <div data-progress></div></form>`;
}

function suggestion(analysisId: string, question: string): Html {
  return html`<form method="post" action="${askAddress(analysisId)}" class="inline" data-ask><button
    name="question" value="${question}">${question}</button></form> `;
}

/** Renders a question with its answer, its evidence and its steps. */
export function renderTurn(turn: Turn, renderCitation: (cited: Citation) => Html): Html {
  const known = new Set(turn.citations.map(({ id }) => id));
  return html`<article class="panel pad" id="turn-${turn.position}"><h2>${turn.question}</h2>
    <p class="quiet">${turn.askedBy}, ${renderTime(turn.askedAt)}</p>
    <div class="answer">${
      renderComparison(turn, known) ??
      turn.statements.map(
        ({ lead, text }) =>
          html`${
            lead.includes('\n') && html`<br>`
          }${lead.includes('-') ? '• ' : ' '}${inlineProse(text, known)}`,
      )
    }</div>
    ${turn.citations.length > 0 && html`<h3>Evidence</h3><ul>${turn.citations.map(renderCitation)}</ul>`}
    <details><summary>${turn.steps.length} ${turn.steps.length === 1 ? 'step' : 'steps'}</summary>
    <ol>${turn.steps.map(
      (step) =>
        html`<li><strong>${step.node}</strong> <span class="quiet">${formatDuration(step.milliseconds)}</span>
          ${step.summary}</li>`,
    )}</ol></details></article>`;
}

/** Renders a comparison as a table of both sides; null for any other answer. */
function renderComparison(turn: Turn, known: ReadonlySet<string>): Html | null {
  const form = toAnswerForm(turn);
  if (form.shape !== 'comparison' || form.sides === null) return null;
  const [first, second] = form.sides;
  return html`${form.summary.map((line) => html`<p>${inlineProse(line, known)}</p>`)}
    <table><thead><tr><th scope="col">Aspect</th><th scope="col">${first}</th>
    <th scope="col">${second}</th></tr></thead>
    <tbody>${form.rows.map(
      (row) =>
        html`<tr><th scope="row">${row.aspect}</th><td>${inlineProse(row.first, known)}</td>
          <td>${inlineProse(row.second, known)}</td></tr>`,
    )}</tbody></table>`;
}

/**
 * Returns the address of a cited place: the file at its code host, the page of the finding, the lines of the
 * log, or else the finding on the page of the answer.
 */
function findAddress(
  cited: Citation,
  finding: Evidence | undefined,
  analysis: Analysis,
  build: BuildAtHost | null,
): string | null {
  const place = finding === undefined ? null : findCodePlace(finding);
  const atHost = place === null || build === null ? null : formatCodeAddress(build, place);
  const outside = atHost ?? linkTarget(cited.url ?? null);
  if (outside !== null) return outside;
  const { id, source, lineStart, lineEnd = lineStart } = cited;
  if (place === null && lineStart !== undefined)
    return formatLogAddress(analysis.buildId, source, { lineStart, lineEnd: lineEnd ?? lineStart });
  return analysis.evidence.some((item) => item.id === id)
    ? `${formatAnalysisAddress(analysis.id)}#${id}`
    : null;
}

/** Renders a cited place, which says itself once, with its text folded below it. */
export function renderCitation(
  { id, title, source, lineStart, lineEnd }: Citation,
  address: string | null,
  text?: string,
): Html {
  const until = lineEnd !== undefined && lineEnd !== lineStart && `–${lineEnd}`;
  const place = html`<code>${source}${lineStart !== undefined && html`:${lineStart}${until}`}</code>`;
  const about = nameCodes(
    title.startsWith(source) ? title.slice(source.length).replace(PLACE_REST, '') : title,
  );
  return html`<li id="${id}"><span class="chip">${id}</span> ${
    address === null ? place : html`<a href="${address}" rel="noreferrer">${place}</a>`
  }${about !== '' && html` <span class="quiet">${about}</span>`}${
    text !== undefined && html`<details><summary>Lines</summary><pre tabindex="0">${text}</pre></details>`
  }</li>`;
}

/** The lines after the name of a file in the title of a finding, and those that its end repeats. */
const PLACE_REST = /^[:,]? ?(?:lines? )?\d{0,9}(?:[–-]\d{1,9})?:? ?| \(lines \d{1,9}[–-]\d{1,9}\)$/g;
