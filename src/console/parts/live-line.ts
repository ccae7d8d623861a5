import { formatAge } from '../controls.ts';
import { type Html, html } from '../html.ts';

/**
 * Renders whether the page receives changes, and the age of the newest build. A script shows it when the page
 * is connected, and reports a lost connection.
 */
export function liveLine(newestAt: string | undefined, now: number): Html {
  const age = newestAt === undefined ? 'no build yet' : `last build ${formatAge(newestAt, now)} ago`;
  return html`<span class="owner meta" id="connected" data-live hidden><span class="live"></span>
    <span>Live<span class="word">, ${age}</span></span></span>
    <a class="meta is-red" id="disconnected" href="" hidden>Not live. Reload</a>`;
}
