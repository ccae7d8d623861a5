import { type DefaultTreeAdapterTypes, parse, parseFragment } from 'parse5';

/** Any part of a parsed page. */
export type HtmlNode =
  | DefaultTreeAdapterTypes.ChildNode
  | DefaultTreeAdapterTypes.Document
  | DefaultTreeAdapterTypes.DocumentFragment;
export type HtmlElement = DefaultTreeAdapterTypes.Element;

/** The steps of a walk through a page. */
export interface HtmlVisitor {
  /** Visits a node, in the order of the text. `skip` leaves out its content, `stop` ends the walk. */
  enter(node: HtmlNode): 'skip' | 'stop' | undefined;
  /** Leaves an element that was not skipped, after everything inside it. */
  leave?(element: HtmlElement): void;
}

export function parseHtml(html: string): HtmlNode {
  return parse(html);
}

/** Parses a part of a page, such as a result with highlighted words. */
export function parseHtmlFragment(html: string): HtmlNode {
  return parseFragment(html);
}

/** Walks through a page without recursion, because hostile nesting would overflow the stack. */
export function walkHtml(root: HtmlNode, { enter, leave }: HtmlVisitor): void {
  const open: { readonly node: HtmlNode; readonly isLeft: boolean }[] = [{ node: root, isLeft: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, isLeft } = next;
    if (isLeft) {
      if ('tagName' in node) leave?.(node);
      continue;
    }
    const answer = enter(node);
    if (answer === 'stop') return;
    if (answer === 'skip' || !('childNodes' in node)) continue;
    if (leave !== undefined) open.push({ node, isLeft: true });
    for (let index = node.childNodes.length - 1; index >= 0; index -= 1) {
      const child = node.childNodes[index];
      if (child !== undefined) open.push({ node: child, isLeft: false });
    }
  }
}

/** Returns the text of a text node, and null for any other node. */
export function getNodeText(node: HtmlNode): string | null {
  return node.nodeName === '#text' && 'value' in node ? node.value : null;
}
