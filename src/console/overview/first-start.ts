import { CI_SYSTEM_NAMES, CI_SYSTEMS } from '../../domain/build.ts';
import { holds, type Principal } from '../../domain/review.ts';
import type { Connectable } from '../../service/connect.ts';
import { nameEveryCi } from '../ci-links.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../parts/icons.ts';

/** Renders the first steps: choose the CI system, wait for its first delivery, or upload a log. */
export function firstStart(providers: readonly Connectable[], principal: Principal | null): Html {
  const picks = providers.map(
    ({
      name,
      webhook,
    }) => html`<a href="/settings?provider=${name}">${icon('builds')}<span>${nameProvider(name)}<small
      class="quiet">${webhook.secrets.length > 0 ? 'accepts webhooks' : 'not connected yet'}</small></span></a>`,
  );
  const choose = holds(principal, 'admin')
    ? html`<div class="pick">${picks}</div>`
    : html`<p class="meta">An administrator connects it under Settings: ${nameEveryCi()}.</p>`;
  return html`<div class="headline"><h2>Nothing has failed here yet</h2>
    <p class="lead">Faultline reads the logs of failed builds and says why they failed. It needs to hear of
    them.</p></div>
    <ol class="nums"><li><h3>Choose your CI</h3>${choose}</li>
    <li><h3>Let a build fail</h3><p class="banner"><span class="live now"></span><span
    class="grow">Listening for the first delivery. This page changes when it arrives.</span></p></li>
    <li><h3>Or try a log that you have</h3><p class="acts"><a class="btn" href="/paste">Paste a log, or try a
    sample</a></p><p class="meta"><code>faultline triage build.log</code> reads it in a terminal, and
    <code>POST /api/builds</code> uploads it. <code>faultline serve --demo</code> fills the pages with sample
    builds.</p></li></ol>`;
}

function nameProvider(name: string): string {
  const known = CI_SYSTEM_NAMES.find((provider) => provider === name);
  return known === undefined ? name : CI_SYSTEMS[known].label;
}
