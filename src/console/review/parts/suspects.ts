import type { Suspect } from '../../../domain/analysis.ts';
import { buildAddress } from '../../addresses.ts';
import { type Html, html } from '../../html.ts';
import type { AnalysisFacts } from './analysis-facts.ts';

/** Files that may hold the fault, the likeliest first, and whether the failure is older than the change. */
export function suspectsPart(facts: AnalysisFacts): Html {
  const { suspects } = facts.analysis.answer;
  return html`<section aria-labelledby="suspects"><h2 id="suspects">Suspects</h2>
${suspects.length === 0 ? html`<p class="quiet">No file is suspected.</p>` : html`<ol class="suspects">${suspects.map((one) => suspect(one, facts.overlap))}</ol>`}
<p>${notYourChange(facts)}</p></section>`;
}

function suspect({ path, line, commit, author, score, reason }: Suspect, overlap: readonly string[]): Html {
  const origin = [commit?.slice(0, 9), author].filter((part) => part !== null && part !== undefined).join(' ');
  return html`<li><code>${path}${line !== null && `:${line}`}</code> <span class="number" title="how likely">${score.toFixed(2)}</span>
<br><span class="quiet">${overlap.includes(path) && html`<strong class="warn">in this change</strong> · `}${reason}${origin !== '' && ` · ${origin}`}</span></li>`;
}

/** Said only where the past tells: the same failure before this change, or none. */
function notYourChange({ past, analysis, build }: AnalysisFacts): Html {
  const before = past.filter(
    ({ failure, commit }) => failure.fingerprint.value === analysis.fingerprint && (commit === null || commit !== build.commit),
  );
  const [last] = before;
  if (last === undefined) return html`<strong>Not this change?</strong> No evidence of that: first seen here.`;
  return html`<strong>Not this change?</strong> It also failed in <a href="${buildAddress(last.failure.buildId)}">${last.pipeline} #${last.number}</a>${last.branch !== null && ` on ${last.branch}`}.`;
}
