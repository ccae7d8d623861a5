import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import type { DocumentBlock } from '../../ports/knowledge.ts';
import type { ReadText } from './markdown.ts';

type Node = DefaultTreeAdapterTypes.ChildNode | DefaultTreeAdapterTypes.Document;
type Element = DefaultTreeAdapterTypes.Element;

/** What a browser does not show as text. */
const UNSEEN = new Set(
  'script style noscript template head svg math iframe object embed canvas audio video select textarea datalist dialog frameset'.split(' '),
);
const BLOCKS = new Set(
  'address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr html li main nav ol p pre section summary table tr ul'.split(
    ' ',
  ),
);
const CELLS = new Set(['td', 'th']);
const HIDING = /(?:display:none|visibility:(?:hidden|collapse)|font-size:0(?:[;.a-z%]|$)|(?:^|;)opacity:0(?:\.0{1,9})?(?:;|$))/;

/** Reads what a person sees of a page: no scripts, styles, comments, or text that is hidden by the page itself. */
export function readHtml(html: string): ReadText {
  const document = parse(html);
  const writer = createWriter();
  const open: { readonly node: Node; leave: boolean }[] = [{ node: document, leave: false }];
  let title: string | null = null;
  // A page may be nested deeper than a function may call itself.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, leave } = next;
    if (node.nodeName === '#text' && 'value' in node) writer.text(node.value);
    if (!('childNodes' in node)) continue;
    const element = 'tagName' in node ? node : null;
    if (leave) {
      if (element !== null) writer.close(element.tagName);
      continue;
    }
    if (element?.tagName === 'title') title ??= textOf(element);
    if (element !== null && isUnseen(element)) {
      if (element.tagName === 'head') title ??= titleIn(element);
      continue;
    }
    if (element !== null) writer.open(element.tagName);
    open.push({ node, leave: true });
    for (let index = node.childNodes.length - 1; index >= 0; index -= 1) {
      const child = node.childNodes[index];
      if (child !== undefined) open.push({ node: child, leave: false });
    }
  }
  const blocks = writer.end();
  return { title: title ?? blocks.find(({ heading }) => heading === 1)?.text ?? null, blocks };
}

function createWriter() {
  const blocks: DocumentBlock[] = [];
  let text = '';
  let heading: number | null = null;
  let preformatted = 0;
  const flush = () => {
    const said = tidy(text);
    if (said !== '') blocks.push({ text: said, heading, place: {} });
    text = '';
  };
  return {
    open(tag: string) {
      const level = headingLevel(tag);
      if (level !== null || BLOCKS.has(tag)) flush();
      if (level !== null) heading = level;
      if (tag === 'pre') preformatted += 1;
      if (tag === 'li') text = '- ';
      if (tag === 'br') text += '\n';
      if (CELLS.has(tag) && text.trim() !== '') text += ' | ';
    },
    text(said: string) {
      text += preformatted > 0 ? said : said.replace(/\s+/g, ' ');
    },
    close(tag: string) {
      const level = headingLevel(tag);
      if (level !== null || BLOCKS.has(tag)) flush();
      if (level !== null) heading = null;
      if (tag === 'pre') preformatted -= 1;
    },
    end(): DocumentBlock[] {
      flush();
      return blocks;
    },
  };
}

function isUnseen({ tagName, attrs }: Element): boolean {
  if (UNSEEN.has(tagName)) return true;
  return attrs.some(({ name, value }) => {
    if (name === 'hidden') return true;
    if (name === 'aria-hidden') return value.trim().toLowerCase() === 'true';
    return name === 'style' && HIDING.test(value.toLowerCase().replace(/\s/g, ''));
  });
}

function headingLevel(tag: string): number | null {
  return /^h[1-6]$/.test(tag) ? Number(tag[1]) : null;
}

function titleIn(head: Element): string | null {
  const found = head.childNodes.find((child): child is Element => child.nodeName === 'title');
  return found === undefined ? null : textOf(found);
}

function textOf(element: Element): string | null {
  const text = element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
  return tidy(text.replace(/\s+/g, ' ')) || null;
}

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const said = lines.join('\n').replace(/^\n+/, '').trimEnd();
  return said === '-' ? '' : said.startsWith(' ') && !said.includes('\n') ? said.trimStart() : said;
}
