import { dataTable, type Html, html, type Shown } from '../../console/html.ts';
import { formatConfidence, formatCount } from '../../lib/text.ts';
import type { Anchors } from './render-matrix.ts';
import type { ReportCase, ReportCaseMore } from './report-cases.ts';

export function renderCaseSection(row: ReportCase, anchors: Anchors): Html {
  const { more } = row;
  const anchor = anchors.at(row);
  return html`<article class="case ${look(row)}" id="${anchor}" aria-labelledby="${anchor}-name">
    <h4 id="${anchor}-name"><span class="mark">${mark(row)}</span> ${row.id}</h4>
    <p>${renderVerdict(row)}</p>${more !== null && renderCaseDetails(more)}
    <p class="back"><a href="#${anchors.top}">To
    the figures</a></p></article>`;
}

function renderVerdict({ truth, said, probability, isRight, error }: ReportCase): Html {
  const true_ =
    truth === null ? html`Correct category unknown` : html`True: <span class="category">${truth}</span>`;
  if (error !== null) return html`${true_}. Failed: ${error}`;
  if (said === null) return html`${true_}. Not answered.`;
  const wrong = isRight === false && html` <strong class="is-red">wrong</strong>`;
  return html`${true_}. Said: <span class="category">${said}</span>${
    probability !== null && ` with ${formatConfidence(probability)}`
  }${wrong}`;
}

function renderCaseDetails(more: ReportCaseMore): Html {
  const suspects = more.suspects.map(
    ({ path, line, isTrue }) =>
      html`<li><code>${path}${line !== null && `:${line}`}</code>${
        isTrue === true && html` <span class="is-green">was fixed</span>`
      }</li>`,
  );
  return html`<dl class="kv">${renderFact('Root cause', more.rootCause)}${renderFact('Known cause', more.trueCause)}${renderFact('Fix', more.fixRecommendation)}${renderFact('Known fix', more.trueFix)}${renderFact('Kind', more.kind)}${renderFact('Action', findAction(more))}${renderFact(
    'Quotations',
    more.quotes.length > 0 &&
      html`<ul>${more.quotes.map(
        ({ source, line, text }) =>
          html`<li><span class="quiet">${source}:${line}</span> <code>${text}</code></li>`,
      )}</ul>`,
  )}${renderFact('Suspects', suspects.length > 0 && html`<ul>${suspects}</ul>`)}${renderFact(
    'Fixed files',
    more.faultyFiles.length > 0 &&
      html`<ul>${more.faultyFiles.map((path) => html`<li><code>${path}</code></li>`)}</ul>`,
  )}${renderFact(
    'Failing tests',
    more.failingTests.length > 0 && html`<ul>${more.failingTests.map((name) => html`<li>${name}</li>`)}</ul>`,
  )}${renderFact(
    'Tools called',
    more.tools.length > 0 &&
      more.tools.map(
        ({ tool, status }) => html`<span class="chip">${tool} <span class="quiet">${status}</span></span> `,
      ),
  )}${renderFact('Spent', formatSpent(more))}</dl>
    ${more.excerpts.length > 0 && renderExcerpts(more)}`;
}

function renderFact(name: string, value: Shown): Html | null {
  return value === null || value === false || value === '' ? null : html`<dt>${name}</dt><dd>${value}</dd>`;
}

function findAction({ action, answerConfidence }: ReportCaseMore): string | null {
  if (action === null) return null;
  return answerConfidence === null
    ? action
    : `${action}, the answer ${formatConfidence(answerConfidence)} sure`;
}

function formatSpent({ seconds, costUsd, iterations }: ReportCaseMore): string {
  const dollars = costUsd === 0 ? '' : `, $${costUsd.toFixed(4)}`;
  return (
    `${seconds.toFixed(1)} ` +
    `s${iterations === null ? '' : `, ${iterations} ${iterations === 1 ? 'round' : 'rounds'}`}${dollars}`
  );
}

function renderExcerpts({ excerpts, moreExcerpts }: ReportCaseMore): Html {
  const count = excerpts.length + moreExcerpts;
  return html`<details><summary>${formatCount(count, 'excerpt')}
    from the log</summary>${excerpts.map(renderExcerpt)}${
      moreExcerpts > 0 &&
      html`<p class="quiet">${moreExcerpts} more are too long for this page; see the results file.</p>`
    }</details>`;
}

function renderExcerpt({
  source,
  lineStart,
  lineEnd,
  reason,
  text,
}: ReportCaseMore['excerpts'][number]): Html {
  return html`<p class="quiet">${source}, lines ${lineStart}–${lineEnd} (${reason})</p>
    <pre tabindex="0" role="region" aria-label="Lines ${lineStart} to ${lineEnd} of ${source}">${text}</pre>`;
}

export function renderTable(cases: readonly ReportCase[], anchors: Anchors): Html {
  const rows = cases.map(
    (row) =>
      html`<tr id="${anchors.at(row)}"><th scope="row"><span class="mark ${look(row)}">${mark(row)}</span>
        ${row.id}</th><td>${row.truth ?? '–'}</td><td>${row.error ?? row.said ?? '–'}</td>
        <td class="number">${row.probability === null ? '–' : formatConfidence(row.probability)}</td></tr>`,
  );
  return dataTable(`The other cases${anchors.suffix}`, ['Case', 'True', 'Said', { number: 'With' }], rows, {
    className: 'others',
    caption: `The other ${cases.length} cases`,
  });
}

/** Returns the symbol of a case. Its shape shows the result as well as its color. */
function mark(row: ReportCase): string {
  return { failed: '!', 'is-wrong': '✗', 'is-right': '✓', unknown: '·' }[look(row)];
}

function look({ error, isRight }: ReportCase): 'failed' | 'is-wrong' | 'is-right' | 'unknown' {
  if (error !== null) return 'failed';
  if (isRight === null) return 'unknown';
  return isRight ? 'is-right' : 'is-wrong';
}
