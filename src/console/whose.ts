import type { Whose } from '../domain/whose.ts';
import { createWhoseLine, type WhosePart } from '../notifications/whose-line.ts';
import { buildAddress } from './addresses.ts';
import { type Html, html, type Shown } from './html.ts';

/** Renders the verdict line of a cause: whose it is, what proves it, and what to do. */
export function whosePart(whose: Whose | null): Shown {
  if (whose === null) return null;
  const { question, answer, proof, act } = createWhoseLine(whose);
  const because = proof.length === 0 ? '.' : html`: ${proof.map(renderWhosePart)}.`;
  return html`<p class="whose" data-whose="${whose.verdict}"><strong>${question}</strong>
    <strong>${answer}</strong>${because} ${act.map(renderWhosePart)}</p>`;
}

/** Renders a part of the proof or of the action: words, code, or a link to a build. */
export function renderWhosePart(part: WhosePart): Shown {
  if (typeof part === 'string') return part;
  if ('plain' in part) return part.plain;
  return 'code' in part ? html`<code>${part.code}</code>` : linkBuild(part);
}

function linkBuild({ build, name }: Extract<WhosePart, { name: string }>): Html {
  return html`<a href="${buildAddress(build.id)}">${name}</a>`;
}
