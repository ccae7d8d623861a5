import type { TestFlakiness } from '../../../domain/flakiness.ts';
import { flakeProbability } from '../../../domain/flakiness.ts';
import { formatDollars, formatDuration, percent } from '../../../publish/answer-facts.ts';
import { buildAddress, causeAddress, libraryAddress, runAddress } from '../../addresses.ts';
import { timeOf } from '../../controls.ts';
import { type Html, html } from '../../html.ts';
import type { AnalysisFacts } from './analysis-facts.ts';

/** The same failure or test in earlier builds, and what people decided about it. */
export function similarPart({ past, taught, analysis }: AnalysisFacts): Html {
  const decided = taught.map(
    ({ id, category, title, confirmedBy, confirmedAt, timesSeen }) =>
      html`<li><a href="${libraryAddress(id)}">${title}</a><br><span class="quiet"><span class="category">${category}</span> decided by ${confirmedBy}, ${timeOf(confirmedAt)}, seen ${timesSeen}×</span></li>`,
  );
  const before = past.map(
    ({ failure, pipeline, number, category, branch, seenAt }) =>
      html`<li><a href="${buildAddress(failure.buildId)}">${pipeline} #${number}</a>${branch !== null && ` on ${branch}`} ${category !== null && html`→ <span class="category">${category}</span>`}<br><span class="quiet">${failure.message.slice(0, 120)} · ${timeOf(seenAt)}</span></li>`,
  );
  return html`<section aria-labelledby="similar"><h2 id="similar">Seen before</h2>
${decided.length + before.length === 0 ? html`<p class="quiet">Not seen before in this repository.</p>` : html`<ul class="past">${decided}${before}</ul>`}
<p><a href="${causeAddress(analysis.fingerprint)}">All occurrences</a></p></section>`;
}

/** Its first test's newest runs, oldest first; nothing where it never failed before. */
export function testRunsPart({ flakiness }: AnalysisFacts): Html {
  if (flakiness === null) return html``;
  const chance = flakeProbability(flakiness);
  return html`<section aria-labelledby="runs"><h2 id="runs">This test, last ${flakiness.recent.length} runs</h2>
<p>${runStrip(flakiness)}</p>
<p class="quiet">Failed ${flakiness.failed} of ${flakiness.runs} runs, ${flakiness.flakes} of them as a flake${chance !== null && `; on an unchanged rerun, it passes with a probability of about ${percent(chance)}`}.</p></section>`;
}

const MARKS = { passed: '▁', flake: '▄', failed: '█' } as const;

/** Height says it as well as colour; the counts beside it say it in words. */
function runStrip({ recent }: TestFlakiness): Html {
  return html`<span class="strip" role="img" aria-label="${recent.map(({ mark }) => mark).join(', ')}">${recent.map(({ mark }) => html`<span class="${mark}">${MARKS[mark]}</span>`)}</span>`;
}

/** When it came, what was asked and what it cost. */
export function historyPart({ analysis, build }: AnalysisFacts): Html {
  const { usage, milliseconds, createdAt } = analysis;
  const rounds = `${usage.iterations} ${usage.iterations === 1 ? 'round' : 'rounds'}`;
  const cost = usage.modelCalls === 0 ? 'no model used' : formatDollars(usage.costUsd);
  return html`<section aria-labelledby="history"><h2 id="history">History</h2>
<p class="quiet">Received ${timeOf(build.receivedAt)}, analyzed ${timeOf(createdAt)}: ${rounds}, ${formatDuration(milliseconds)}, ${cost}.</p>
<p><a href="${runAddress(analysis.id)}">Analysis steps</a></p></section>`;
}
