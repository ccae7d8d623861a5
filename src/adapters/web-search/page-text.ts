import { type DefaultTreeAdapterTypes, parse, parseFragment } from 'parse5';
import { cleanLine } from '../../log/lines/clean.ts';

/** Any part of a parsed page. */
export type Node =
  | DefaultTreeAdapterTypes.ChildNode
  | DefaultTreeAdapterTypes.Document
  | DefaultTreeAdapterTypes.DocumentFragment;

/** Elements that are invisible or say nothing about the subject of the page. */
const UNSEEN = new Set(
  (
    'script style noscript template head svg math iframe object select textarea nav header footer ' +
    'form button'
  ).split(' '),
);
const BREAKS = new Set(
  (
    'address article blockquote br dd div dl dt figure h1 h2 h3 h4 h5 h6 hr li main ol p pre section ' +
    'table tr ul'
  ).split(' '),
);

/**
 * Returns the visible text of a page, at most `maxLength` characters. Uses no recursion, so hostile nesting
 * cannot overflow the stack.
 */
export function pageText(html: string, maxLength: number): string {
  return readText(parse(html), maxLength);
}

/** Returns the text of an HTML fragment, such as a result with highlighted words. */
export function snippetText(html: string, maxLength: number): string {
  return readText(parseFragment(html), maxLength).replace(/\s+/g, ' ');
}

/** Returns the visible text below a part of a page, at most `maxLength` characters. */
export function readText(root: Node, maxLength: number): string {
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
  return plainText(text, maxLength);
}

/** Removes control characters and empty lines. */
export function plainText(text: string, maxLength: number): string {
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
