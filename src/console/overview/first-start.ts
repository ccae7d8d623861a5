import { CI_SYSTEM_NAMES, CI_SYSTEMS } from '../../domain/build.ts';
import { holds, type Principal } from '../../domain/review.ts';
import type { Connectable } from '../../service/connect.ts';
import { nameEveryCi } from '../ci-links.ts';
import { type Html, html } from '../html.ts';

/** Renders the first steps: choose the CI system, wait for its first delivery, or upload a log. */
export function firstStart(providers: readonly Connectable[], principal: Principal | null): Html {
  const picks = providers.map(
    ({ name, webhook }) => html`<a href="/settings?provider=${name}"><span>${nameProvider(name)}<small
      class="quiet">${webhook.secrets.length > 0 ? 'accepts webhooks' : 'not connected yet'}</small></span></a>`,
  );
  const choose = holds(principal, 'admin')
    ? html`<div class="pick">${picks}</div>`
    : html`<p class="meta">An administrator connects it under Settings: ${nameEveryCi()}.</p>`;
  return html`<div class="headline"><h2>Connect your CI, and the next red build explains itself</h2>
    <p class="lead">No build has arrived yet. No model is needed to begin.</p></div>
    <div class="cols"><ol class="nums"><li class="done"><h3>Faultline runs</h3><p class="meta">It stores and
    answers.</p></li><li><h3>Where do your builds run?</h3>${choose}<p class="meta">Any other CI uploads its
    builds to <code>POST /api/builds</code>.</p></li>
    <li><h3>Let a build fail</h3><p class="banner"><span class="live now"></span><span
    class="grow">Listening for the first delivery. This page changes when it arrives.</span></p></li>
    <li><h3>Read the first answer</h3><p class="meta">Here, and in the pull request if comments are
    on.</p></li></ol>
    <aside class="stack" aria-label="Other ways to start"><section class="part" aria-labelledby="bring"><h2
    id="bring">Bring a log</h2><p>A log from anywhere is explained within seconds. Nothing is stored.</p>
    <p class="acts"><a class="btn" href="/paste">Paste a log, or try a sample</a></p></section>
    <section class="part" aria-labelledby="look"><h2 id="look">Look around first</h2><p><code>faultline serve
    --demo</code> fills these pages with a week of builds and ten real failures.</p></section></aside></div>`;
}

function nameProvider(name: string): string {
  const known = CI_SYSTEM_NAMES.find((provider) => provider === name);
  return known === undefined ? name : CI_SYSTEMS[known].label;
}
