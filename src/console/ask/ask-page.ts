import type { Analysis } from '../../domain/analysis.ts';
import type { Citation, Thread, Turn } from '../../domain/conversation.ts';
import { formatDuration } from '../../publish/answer-facts.ts';
import { analysisAddress, askAddress, logAddress, threadAddress } from '../addresses.ts';
import { timeOf } from '../controls.ts';
import { type Html, html, linkTarget } from '../html.ts';
import { inlineProse } from '../prose.ts';

const SUGGESTIONS = ['How did it fail?', 'What is different from the last green build?', 'Who should look at it?'] as const;

/** Questions about one analysis: the form, and the threads that there are. */
export function askPage(analysis: Analysis, threads: readonly Thread[]): Html {
  return html`<h1 tabindex="-1">Ask about “${analysis.answer.title}”</h1>
<p><a href="${analysisAddress(analysis.id)}">Back to the analysis</a></p>
${askForm(analysis.id, null)}<p>For example: ${SUGGESTIONS.map((question) => suggestion(analysis.id, question))}</p>
${threads.length > 0 && html`<h2>Earlier questions</h2><ul>${threads.map((thread) => html`<li><a href="${threadAddress(analysis.id, thread.id)}">${thread.title}</a> <span class="quiet">by ${thread.startedBy}</span></li>`)}</ul>`}`;
}

/** One thread: its questions, what was answered, and what that rests on. */
export function threadPage(analysis: Analysis, thread: Thread, turns: readonly Turn[]): Html {
  return html`<h1 tabindex="-1">${thread.title}</h1>
<p>About <a href="${analysisAddress(analysis.id)}">${analysis.answer.title}</a> · <a href="${askAddress(analysis.id)}">Other questions</a></p>
<div id="turns">${turns.map((turn) => turnOf(turn, analysis.buildId))}</div>
${askForm(analysis.id, thread.id)}`;
}

/** The browser answers it in place, with a button that stops it; without scripts the answer comes as a page. */
function askForm(analysisId: string, threadId: string | null): Html {
  return html`<form method="post" action="${askAddress(analysisId)}" class="ask" data-ask>${threadId !== null && html`<input type="hidden" name="thread" value="${threadId}">`}
<label for="question">Question</label><textarea id="question" name="question" required maxlength="2000" data-action="search"></textarea>
<p><button class="first">Ask</button> <button type="button" data-stop hidden>Stop</button></p><div data-progress></div></form>`;
}

function suggestion(analysisId: string, question: string): Html {
  return html`<form method="post" action="${askAddress(analysisId)}" class="inline" data-ask><button name="question" value="${question}">${question}</button></form> `;
}

function turnOf(turn: Turn, buildId: string): Html {
  const known = new Set(turn.citations.map(({ id }) => id));
  return html`<article class="card" id="turn-${turn.position}"><h2>${turn.question}</h2><p class="quiet">${turn.askedBy}, ${timeOf(turn.askedAt)}</p>
<div class="answer">${turn.statements.map(({ lead, text }) => html`${lead.includes('\n') && html`<br>`}${lead.includes('-') ? '• ' : ' '}${inlineProse(text, known)}`)}</div>
${turn.citations.length > 0 && html`<h3>Evidence</h3><ul>${turn.citations.map((one) => citation(one, buildId))}</ul>`}
<details><summary>${turn.steps.length} ${turn.steps.length === 1 ? 'step' : 'steps'}</summary><ol>${turn.steps.map((step) => html`<li><strong>${step.node}</strong> <span class="quiet">${formatDuration(step.milliseconds)}</span> ${step.summary}</li>`)}</ol></details></article>`;
}

function citation({ id, title, source, lineStart, lineEnd, url }: Citation, buildId: string): Html {
  const outside = linkTarget(url ?? null);
  const lines = lineStart === undefined ? null : { lineStart, lineEnd: lineEnd ?? lineStart };
  const place =
    lines === null
      ? source
      : html`<a href="${logAddress(buildId, source, lines)}">${source}:${lines.lineStart}${lines.lineEnd > lines.lineStart && `–${lines.lineEnd}`}</a>`;
  return html`<li id="${id}"><span class="chip">${id}</span> ${outside === null ? title : html`<a href="${outside}" rel="noreferrer">${title}</a>`} <span class="quiet">${place}</span></li>`;
}
