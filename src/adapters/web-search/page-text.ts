import { cleanLine } from '../../log/lines/clean.ts';
import { getNodeText, type HtmlNode, parseHtml, parseHtmlFragment, walkHtml } from '../html.ts';

/** The elements that are invisible or do not belong to the content of the page. */
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

/** Returns the visible text of a page, at most `maxLength` characters. */
export function extractPageText(html: string, maxLength: number): string {
  return readText(parseHtml(html), maxLength);
}

/** Returns the text of an HTML fragment, such as a result with highlighted words. */
export function extractSnippetText(html: string, maxLength: number): string {
  return readText(parseHtmlFragment(html), maxLength).replace(/\s+/g, ' ');
}

/** Returns the visible text below a part of a page, at most `maxLength` characters. */
export function readText(root: HtmlNode, maxLength: number): string {
  let text = '';
  walkHtml(root, {
    enter(node) {
      if (text.length >= maxLength * 2) return 'stop';
      text += getNodeText(node) ?? '';
      if ('tagName' in node && UNSEEN.has(node.tagName)) return 'skip';
      if (BREAKS.has(node.nodeName)) text += '\n';
      return undefined;
    },
  });
  return toPlainText(text, maxLength);
}

/** Removes control characters and empty lines. */
export function toPlainText(text: string, maxLength: number): string {
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
