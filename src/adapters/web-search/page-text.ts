import { type DefaultTreeAdapterTypes, parse, parseFragment } from 'parse5';
import { cleanLine } from '../../log/lines/clean.ts';

type Node = DefaultTreeAdapterTypes.ChildNode | DefaultTreeAdapterTypes.Document | DefaultTreeAdapterTypes.DocumentFragment;

/** What says nothing of the page's subject, or is never seen. */
const UNSEEN = new Set(
  'script style noscript template head svg math iframe object select textarea nav header footer form button'.split(' '),
);
const BREAKS = new Set(
  'address article blockquote br dd div dl dt figure h1 h2 h3 h4 h5 h6 hr li main ol p pre section table tr ul'.split(' '),
);

/** The text of a page as a person reads it, at most so many characters. Hostile nesting costs no stack. */
export function pageText(html: string, maxLength: number): string {
  return textOf(parse(html), maxLength);
}

/** The text of a piece of HTML, such as a result with marked words. */
export function snippetText(html: string, maxLength: number): string {
  return textOf(parseFragment(html), maxLength).replace(/\s+/g, ' ');
}

function textOf(root: Node, maxLength: number): string {
  let text = '';
  const open: Node[] = [root];
  for (let node = open.pop(); node !== undefined && text.length < maxLength * 2; node = open.pop()) {
    if (node.nodeName === '#text' && 'value' in node) text += node.value;
    if (!('childNodes' in node)) continue;
    if ('tagName' in node && UNSEEN.has(node.tagName)) continue;
    if (BREAKS.has(node.nodeName)) text += '\n';
    for (let index = node.childNodes.length - 1; index >= 0; index -= 1) {
      const child = node.childNodes[index];
      if (child !== undefined) open.push(child);
    }
  }
  return plain(text, maxLength);
}

/** Lines that say something, without control characters. */
export function plain(text: string, maxLength: number): string {
  const lines = text.split('\n').map((line) =>
    cleanLine(line)
      .replace(/[\t \u00a0]+/g, ' ')
      .trim(),
  );
  return lines
    .filter((line) => line !== '')
    .join('\n')
    .slice(0, maxLength)
    .toWellFormed();
}
