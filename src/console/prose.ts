import { type Html, html, joinHtml, type Shown } from './html.ts';

/**
 * Renders the text of a model or a person as a small subset of Markdown: paragraphs, lists, `code`, bold, and
 * citations such as [E3], which link to the evidence on the page. Everything else is shown literally: images,
 * other links, headings and HTML.
 */
export function prose(text: string, evidence: ReadonlySet<string> = new Set()): Html {
  const blocks = text.replaceAll('\r\n', '\n').split('\n\n');
  return joinHtml(
    blocks.filter((block) => block.trim() !== '').map((block) => renderBlock(block.trim(), evidence)),
  );
}

/** Renders one line of such text, without paragraphs. */
export function inlineProse(text: string, evidence: ReadonlySet<string> = new Set()): Html {
  return joinHtml(
    text
      .split('`')
      .map((part, at, all) =>
        at % 2 === 1 && at < all.length - 1 ? html`<code>${part}</code>` : proseText(part, at, evidence),
      ),
  );
}

const BULLET = /^ {0,3}(?:[-*]|\d{1,3}[.)]) (.*)$/;

function renderBlock(block: string, evidence: ReadonlySet<string>): Html {
  const lines = block.split('\n');
  const items = lines.map((line) => BULLET.exec(line)?.[1] ?? null);
  if (items.every((item) => item !== null))
    return html`<ul>${items.map((item) => html`<li>${inlineProse(item ?? '', evidence)}</li>`)}</ul>`;
  return html`<p>${lines.map((line, at) => [at > 0 && html`<br>`, inlineProse(line, evidence)])}</p>`;
}

/** Renders text outside of code spans. An unmatched backtick is shown literally. */
function proseText(part: string, at: number, evidence: ReadonlySet<string>): Shown {
  const before = at % 2 === 1 ? '`' : '';
  return (before + part).split('**').map((piece, index, all) => {
    const words = proseCitations(piece, evidence);
    if (index % 2 === 1 && index < all.length - 1) return html`<strong>${words}</strong>`;
    return index % 2 === 1 ? ['**', words] : words;
  });
}

function proseCitations(text: string, evidence: ReadonlySet<string>): Shown {
  return text.split(/(\[E\d{1,4}\])/).map((piece) => {
    const id = /^\[(E\d{1,4})\]$/.exec(piece)?.[1];
    return id !== undefined && evidence.has(id) ? evidenceChip(id) : piece;
  });
}

/** Renders a chip that links to a piece of evidence on the same page. */
function evidenceChip(id: string): Html {
  return html`<a class="chip" href="#${id}">${id}</a>`;
}
