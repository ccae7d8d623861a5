import { answers, type LibraryEntry } from '../../domain/library.ts';
import { flagSentence } from '../../review/green-flag.ts';
import { analysisAddress, buildAddress, causeAddress, libraryAddress } from '../addresses.ts';
import { postForm, timeOf } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { prose } from '../prose.ts';

/** One thing that a person taught: what it says, when it answers, and the way out. */
export function entryMain(entry: LibraryEntry): Html {
  const { title, category, kind, repository, confirmedBy, confirmedAt, timesSeen, lastSeenAt, rootCause, fixRecommendation } = entry;
  return html`<div class="item"><h1 tabindex="-1">${title}</h1>
<p class="place">${repository} · decided by ${confirmedBy}, ${timeOf(confirmedAt)} · seen ${timesSeen}×, last ${timeOf(lastSeenAt)}</p>
${banners(entry)}
<section class="card verdict" aria-label="What it says"><p class="sure"><span class="category">${category}</span> · ${kind.replaceAll('_', ' ')} · <strong>${answers(entry) ? 'answers' : 'does not answer'}</strong></p>
<div class="cause">${prose(rootCause)}</div><dl class="points"><div><dt>Fix</dt><dd>${prose(fixRecommendation)}</dd></div></dl></section>
<section aria-labelledby="known-by"><h2 id="known-by">Known by</h2>
<p>Fingerprint <a href="${causeAddress(entry.fingerprint.value)}"><code>${entry.fingerprint.value}</code></a>, or a log that is close to this:</p><pre tabindex="0">${entry.message}</pre>
${entry.telling.length > 0 && html`<p class="quiet">Green builds are searched for ${entry.telling.length === 1 ? 'this line' : 'these lines'}:</p><pre tabindex="0">${entry.telling.join('\n')}</pre>`}
<p><a href="${analysisAddress(entry.analysisId)}">The answer that it was decided on</a></p></section>
${entry.withdrawn === null && withdrawForm(entry)}</div>`;
}

function banners(entry: LibraryEntry): Html {
  const { withdrawn, flag, stays, id } = entry;
  if (withdrawn !== null)
    return html`<div class="banner bad"><p><strong>Withdrawn</strong> by ${withdrawn.by}, ${timeOf(withdrawn.at)}: ${withdrawn.reason}</p></div>`;
  if (flag === null) return html``;
  const last = html`<a href="${buildAddress(flag.last)}">the newest</a>`;
  if (stays !== null) return html`<div class="banner"><p>${flagSentence(flag)} (${last}). ${stays.by} looked, and it stays.</p></div>`;
  return html`<div class="banner"><p><strong>⚠ ${flagSentence(flag)}</strong> (${last}), so it does not answer: what stands in a build that passed is no sign of a failure.</p>
${postForm(`${libraryAddress(id)}/stay`, {}, html`<button>It is right: let it stay</button>`)}</div>`;
}

function withdrawForm({ id }: LibraryEntry): Html {
  return html`<section class="card" aria-labelledby="withdraw"><h2 id="withdraw">Withdraw it</h2>
<form method="post" action="${libraryAddress(id)}/withdraw"><p><label for="reason">Why</label> <input id="reason" name="reason" required maxlength="1000"></p>
<p><button>Withdraw</button> <span class="quiet">It answers no more, at once; what it had replaced answers again.</span></p></form></section>`;
}
