import { type Html, html } from '../html.ts';

/** An item of a kind that this version does not know: its fields as they are, rather than nothing. */
export function unknownItemMain(type: string, fields: object): Html {
  const rows = Object.entries(fields).map(
    ([name, value]) =>
      html`<tr><th scope="row">${name}</th><td><code>${typeof value === 'string' ? value : JSON.stringify(value)}</code></td></tr>`,
  );
  return html`<h1 tabindex="-1">This item cannot be shown</h1>
<p>This version cannot display items of type ${type}. These are its stored fields:</p>
<div class="scroll" tabindex="0" role="region" aria-label="Fields"><table><tbody>${rows}</tbody></table></div>
<p><a class="button" href="/review">Back to the queue</a></p>`;
}
