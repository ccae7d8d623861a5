import { answers, type LibraryEntry } from '../../domain/library.ts';
import { flagSentence } from '../../review/learn.ts';
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
<section class="card verdict" aria-label="What it says"><p class="sure"><span class="category">${category}</span> · ${kind.replaceAll('_', ' ')} · <strong>${answers(entry) ? 'in use' : 'not in use'}</strong></p>
<div class="cause">${prose(rootCause)}</div><dl class="points"><div><dt>Fix</dt><dd>${prose(fixRecommendation)}</dd></div></dl></section>
<section aria-labelledby="known-by"><h2 id="known-by">How it is recognized</h2>
<p>Fingerprint <a href="${causeAddress(entry.fingerprint.value)}"><code>${entry.fingerprint.value}</code></a>, or a log similar to this:</p><pre tabindex="0">${entry.message}</pre>
${entry.telling.length > 0 && html`<p class="quiet">Green builds are searched for ${entry.telling.length === 1 ? 'this line' : 'these lines'}:</p><pre tabindex="0">${entry.telling.join('\n')}</pre>`}
<p><a href="${analysisAddress(entry.analysisId)}">The analysis it is based on</a></p></section>
${entry.withdrawn === null && withdrawForm(entry)}</div>`;
}

function banners(entry: LibraryEntry): Html {
  const { withdrawn, flag, stays, id } = entry;
  if (withdrawn !== null)
    return html`<div class="banner bad"><p><strong>Withdrawn</strong> by ${withdrawn.by}, ${timeOf(withdrawn.at)}: ${withdrawn.reason}</p></div>`;
  if (flag === null) return html``;
  const last = html`<a href="${buildAddress(flag.last)}">the newest</a>`;
  if (stays !== null) return html`<div class="banner"><p>${flagSentence(flag)} (${last}). ${stays.by} confirmed it.</p></div>`;
  return html`<div class="banner"><p><strong>⚠ ${flagSentence(flag)}</strong> (${last}), so it is not used: a line from a passed build is no sign of failure.</p>
${postForm(`${libraryAddress(id)}/stay`, {}, html`<button>Keep it in use</button>`)}</div>`;
}

function withdrawForm({ id }: LibraryEntry): Html {
  return html`<section class="card" aria-labelledby="withdraw"><h2 id="withdraw">Withdraw this entry</h2>
<form method="post" action="${libraryAddress(id)}/withdraw"><p><label for="reason">Reason</label> <input id="reason" name="reason" required maxlength="1000"></p>
<p><button>Withdraw</button> <span class="quiet">It takes effect at once. The entry it replaced is used again.</span></p></form></section>`;
}
