import type { Rule } from '../../domain/library.ts';
import { postForm, timeOf } from '../controls.ts';
import { type Html, html } from '../html.ts';

/** Rules of reviewers, the newest first. */
export function rulesMain(rules: readonly Rule[], withWithdrawn: boolean): Html {
  return html`<div class="headline"><h1 tabindex="-1">Rules</h1><nav aria-label="Library"><ul class="tabs"><li><a href="/library">Library</a></li><li><a href="/library/rules" aria-current="page">Rules</a></li></ul></nav></div>
<p class="quiet">A rule answers failures whose log matches its pattern, unless a reviewer has confirmed their cause.</p>
<p class="acts"><a class="button first" href="/library/rules/new">New rule</a> <a class="button" href="/library/rules${withWithdrawn ? '' : '?withdrawn=1'}">${withWithdrawn ? 'Hide withdrawn' : 'Show withdrawn'}</a></p>
${rules.length === 0 ? html`<p class="empty">No rules yet.</p>` : rules.map(ruleCard)}`;
}

function ruleCard({
  id,
  version,
  title,
  pattern,
  repository,
  category,
  author,
  createdAt,
  timesUsed,
  withdrawn,
  rootCause,
  fixRecommendation,
}: Rule): Html {
  const withdraw = postForm(
    `/library/rules/${encodeURIComponent(id)}/withdraw`,
    {},
    html`<p><label>Reason <input name="reason" required maxlength="1000"></label> <button>Withdraw</button></p>`,
  );
  return html`<section class="card"><h2>${title}</h2>
<p><span class="category">${category}</span> · ${repository ?? 'every repository'} · by ${author}, ${timeOf(createdAt)}${version > 1 && html` · version ${version}`} · answered ${timesUsed}×</p>
<pre tabindex="0">${pattern}</pre><p>${rootCause}</p><p class="quiet">Fix: ${fixRecommendation}</p>
${withdrawn === null ? html`<details><summary>Withdraw</summary>${withdraw}</details>` : html`<p><strong>Withdrawn</strong> by ${withdrawn.by}: ${withdrawn.reason}</p>`}</section>`;
}
