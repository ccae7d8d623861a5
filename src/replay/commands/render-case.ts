import { dataTable, type Html, html, type Shown } from '../../console/html.ts';
import { counted, formatConfidence } from '../../lib/text.ts';
import type { Anchors } from './render-matrix.ts';
import type { ReportCase, ReportCaseMore } from './report-cases.ts';

export function caseSection(row: ReportCase, anchors: Anchors): Html {
  const { more } = row;
  const anchor = anchors.at(row);
  return html`<article class="case ${look(row)}" id="${anchor}" aria-labelledby="${anchor}-name">
    <h4 id="${anchor}-name"><span class="mark">${mark(row)}</span> ${row.id}</h4>
    <p>${verdict(row)}</p>${more !== null && caseDetails(more)}<p class="back"><a href="#${anchors.top}">To
    the figures</a></p></article>`;
}

function verdict({ truth, said, probability, isRight, error }: ReportCase): Html {
  const true_ =
    truth === null ? html`Correct category unknown` : html`True: <span class="category">${truth}</span>`;
  if (error !== null) return html`${true_}. Failed: ${error}`;
  if (said === null) return html`${true_}. Not answered.`;
  const wrong = isRight === false && html` <strong class="is-red">wrong</strong>`;
  return html`${true_}. Said: <span class="category">${said}</span>${
    probability !== null && ` with ${formatConfidence(probability)}`
  }${wrong}`;
}

function caseDetails(more: ReportCaseMore): Html {
  const suspects = more.suspects.map(
    ({ path, line, isTrue }) =>
      html`<li><code>${path}${line !== null && `:${line}`}</code>${
        isTrue === true && html` <span class="is-green">was fixed</span>`
      }</li>`,
  );
  return html`<dl class="kv">${fact('Root cause', more.rootCause)}${fact('Known cause', more.trueCause)}${fact('Fix', more.fixRecommendation)}${fact('Known fix', more.trueFix)}${fact('Kind', more.kind)}${fact('Action', action(more))}${fact(
    'Quotations',
    more.quotes.length > 0 &&
      html`<ul>${more.quotes.map(
        ({ source, line, text }) =>
          html`<li><span class="quiet">${source}:${line}</span> <code>${text}</code></li>`,
      )}</ul>`,
  )}${fact('Suspects', suspects.length > 0 && html`<ul>${suspects}</ul>`)}${fact(
    'Fixed files',
    more.faultyFiles.length > 0 &&
      html`<ul>${more.faultyFiles.map((path) => html`<li><code>${path}</code></li>`)}</ul>`,
  )}${fact(
    'Failing tests',
    more.failingTests.length > 0 && html`<ul>${more.failingTests.map((name) => html`<li>${name}</li>`)}</ul>`,
  )}${fact(
    'Tools called',
    more.tools.length > 0 &&
      more.tools.map(
        ({ tool, status }) => html`<span class="chip">${tool} <span class="quiet">${status}</span></span> `,
      ),
  )}${fact('Spent', spent(more))}</dl>
    ${more.excerpts.length > 0 && excerpts(more)}`;
}

function fact(name: string, value: Shown): Html | null {
  return value === null || value === false || value === '' ? null : html`<dt>${name}</dt><dd>${value}</dd>`;
}

function action({ action, answerConfidence }: ReportCaseMore): string | null {
  if (action === null) return null;
  return answerConfidence === null
    ? action
    : `${action}, the answer ${formatConfidence(answerConfidence)} sure`;
}

function spent({ seconds, costUsd, iterations }: ReportCaseMore): string {
  const dollars = costUsd === 0 ? '' : `, $${costUsd.toFixed(4)}`;
  return (
    `${seconds.toFixed(1)} ` +
    `s${iterations === null ? '' : `, ${iterations} ${iterations === 1 ? 'round' : 'rounds'}`}${dollars}`
  );
}

function excerpts({ excerpts, moreExcerpts }: ReportCaseMore): Html {
  const count = excerpts.length + moreExcerpts;
  return html`<details><summary>${counted(count, 'excerpt')}
    from the log</summary>${excerpts.map(excerpt)}${
      moreExcerpts > 0 &&
      html`<p class="quiet">${moreExcerpts} more are too long for this page; see the results file.</p>`
    }</details>`;
}

function excerpt({ source, lineStart, lineEnd, reason, text }: ReportCaseMore['excerpts'][number]): Html {
  return html`<p class="quiet">${source}, lines ${lineStart}–${lineEnd} (${reason})</p>
    <pre tabindex="0" role="region" aria-label="Lines ${lineStart} to ${lineEnd} of ${source}">${text}</pre>`;
}

export function table(cases: readonly ReportCase[], anchors: Anchors): Html {
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

/** Returns the symbol of a case. The result is visible by shape as well as by color. */
function mark(row: ReportCase): string {
  return { failed: '!', 'is-wrong': '✗', 'is-right': '✓', unknown: '·' }[look(row)];
}

function look({ error, isRight }: ReportCase): 'failed' | 'is-wrong' | 'is-right' | 'unknown' {
  if (error !== null) return 'failed';
  if (isRight === null) return 'unknown';
  return isRight ? 'is-right' : 'is-wrong';
}
