import { type Proportion, proportion } from '../../lib/statistics.ts';
import type { ReviewingFigures } from '../../ports/insights.ts';
import { percentOf } from '../charts/draw.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { type Html, html } from '../html.ts';
import { filterForm, type InsightsQuery, type InsightsView, periodOf } from './insights-frame.ts';

const DAYS = 90;
/** Blind decisions from which the difference is told, and the points from which it is an alarm. */
const BLIND_FROM = 50;
const ALARM_POINTS = 10;
/** Goals of the project: see docs/reference/insights.md. */
const HASTY_SHARE = 0.1;

/** `/insights/reviewers`: how the team decides. Nobody's own figures are shown. */
export async function reviewersView(query: InsightsQuery, { stores, clock }: ConsoleDeps): Promise<InsightsView> {
  const figures = await stores.insights.reviewing(periodOf({ ...query, day: undefined }, DAYS, clock.now()));
  const main = html`<h1 tabindex="-1">How the team decides</h1>
<p>The whole team, never individuals, over the last ${DAYS} days.</p>${filterForm(query)}
${figures.decided === 0 ? html`<p>No decisions in the last ${DAYS} days.</p>` : content(figures)}`;
  const rows = Object.entries(figures).map(([name, value]) => [name, value]);
  return { title: 'Reviewing', main, tables: { reviewing: { head: ['figure', 'value'], rows } } };
}

function content(figures: ReviewingFigures): Html {
  const { decided, medianSeconds, p90Seconds, timedAccepts, hastyAccepts, pairs, pairsAgreed } = figures;
  const hasty = proportion(hastyAccepts, timedAccepts);
  const seconds = (value: number | null) => (value === null ? 'unknown' : `${Math.round(value)} s`);
  return html`${bias(figures)}<dl class="facts">
<dt>Decided</dt><dd>${decided}</dd>
<dt>Agreed with Faultline, verdict shown</dt><dd>${shareOf(proportion(figures.shownAgreed, figures.shown))}</dd>
<dt>Agreed with Faultline, blind</dt><dd>${shareOf(proportion(figures.blindAgreed, figures.blind))}</dd>
<dt>Time to decide</dt><dd>median ${seconds(medianSeconds)}, 90th percentile ${seconds(p90Seconds)}</dd>
<dt>Accepted within 3 s</dt><dd>${shareOf(hasty)}${hasty.of > 0 && hasty.share > HASTY_SHARE && html` <strong class="warn">more than ${percentOf(HASTY_SHARE)}: are answers being read?</strong>`}</dd>
<dt>Two reviewers agree on the same cause</dt><dd>${shareOf(proportion(pairsAgreed, pairs))}</dd></dl>
<p><a href="?csv=reviewing">Download CSV</a></p>`;
}

/** How much seeing the verdict sways: agreement with it in view minus agreement without. */
function bias({ shown, shownAgreed, blind, blindAgreed }: ReviewingFigures): Html {
  if (blind < BLIND_FROM || shown === 0)
    return html`<p>${blind} blind ${blind === 1 ? 'decision' : 'decisions'}: the effect of seeing the verdict is shown from ${BLIND_FROM} on.</p>`;
  const points = Math.round((shownAgreed / shown - blindAgreed / blind) * 100);
  if (points > ALARM_POINTS)
    return html`<p class="card"><strong class="warn">Seeing the verdict sways reviewers: agreement is ${points} points higher than blind.</strong> More blind items and slower decisions help.</p>`;
  return html`<p class="card">Agreement is ${Math.abs(points)} points ${points < 0 ? 'lower' : 'higher'} with the verdict shown than blind. This is within the limit of ${ALARM_POINTS}.</p>`;
}

function shareOf({ hits, of, share, low, high }: Proportion): Html {
  if (of === 0) return html`<span class="quiet">none yet</span>`;
  return html`<strong>${percentOf(share)}</strong>, ${hits} of ${of} <span class="quiet">(${percentOf(low)} to ${percentOf(high)} with 95 %)</span>`;
}
