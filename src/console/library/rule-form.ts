import { KINDS } from '../../domain/category.ts';
import type { RuleInput } from '../../domain/library.ts';
import type { RuleTrial } from '../../review/rules.ts';
import { buildAddress } from '../addresses.ts';
import { timeOf } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { CATEGORY_KEYS } from '../review/category-keys.ts';

/** What came of a rule that was not stored. */
export interface RuleOutcome {
  readonly failure: string | null;
  readonly trial: RuleTrial | null;
}

/** The fields as they were typed. */
export type RuleFields = { readonly [Field in keyof RuleInput]: string };

/** Matches that a dry run lists. */
const LISTED = 20;

/** Writing a rule: it is tried first, on its sample, on green builds and on what failed last. */
export function ruleFormMain(fields: RuleFields, { failure, trial }: RuleOutcome): Html {
  const { pattern, sample, repository, category, kind, rootCause, fixRecommendation } = fields;
  const option = (value: string, chosen: boolean, words = value) =>
    html`<option value="${value}"${chosen && html` selected`}>${words}</option>`;
  return html`<div class="item"><h1 tabindex="-1">New rule</h1>
${failure !== null && html`<div class="banner bad" id="failure"><p><strong>Refused.</strong> ${failure}</p></div>`}
${trial !== null && trialPart(trial)}
<div class="card"><form method="post" action="/library/rules"${failure !== null && html` aria-describedby="failure"`}>
<p><label for="pattern">Pattern (RE2 syntax, no backtracking)</label><br><input id="pattern" name="pattern" class="mono" required minlength="4" maxlength="300" value="${pattern}" placeholder="registry \\S+ answered 5\\d\\d"></p>
<p><label for="sample">Sample log lines that it must match</label><textarea id="sample" name="sample" class="mono" required maxlength="4000">${sample}</textarea></p>
<p class="choices"><label>Category <select name="category">${CATEGORY_KEYS.map((one) => option(one, one === category))}</select></label>
<label>Kind <select name="kind">${option('', kind === '', 'unknown')}${KINDS.filter((one) => one !== 'unknown').map((one) => option(one, one === kind, one.replaceAll('_', ' ')))}</select></label>
<label>Repository <input name="repository" value="${repository}" placeholder="every repository"></label></p>
<p><label for="rootCause">Root cause</label><textarea id="rootCause" name="rootCause" class="short" required maxlength="4000">${rootCause}</textarea></p>
<p><label for="fix">What to do</label><textarea id="fix" name="fixRecommendation" class="short" required maxlength="4000">${fixRecommendation}</textarea></p>
<p class="acts"><button class="first" name="act" value="try">Test</button> <button name="act" value="store">Save</button> <a class="button" href="/library/rules">Cancel</a></p></form></div></div>`;
}

function trialPart({ line, matches, tried }: RuleTrial): Html {
  const rows = matches
    .slice(0, LISTED)
    .map(
      ({ failure, repository, pipeline, number, category, seenAt }) =>
        html`<li><a href="${buildAddress(failure.buildId)}">${repository} ${pipeline} #${number}</a> ${category !== null && html`was <span class="category">${category}</span>`} <span class="quiet">${failure.message.slice(0, 160)} · ${timeOf(seenAt)}</span></li>`,
    );
  return html`<div class="banner good"><p><strong>The rule can be saved.</strong> It matches this line of the sample:</p><pre tabindex="0">${line}</pre>
<p>It matches ${matches.length} of the ${tried} latest failures and no green build.</p>
${rows.length > 0 && html`<ul class="past">${rows}</ul>`}</div>`;
}
