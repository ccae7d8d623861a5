import type { DocumentBlock } from '../../ports/knowledge.ts';
import { getNodeText, type HtmlElement, parseHtml, walkHtml } from '../html.ts';

/** Elements that a browser does not render as text. */
const UNSEEN = new Set(
  (
    'script style noscript template head svg math iframe object embed canvas audio video select ' +
    'textarea datalist dialog frameset'
  ).split(' '),
);
const BLOCKS = new Set(
  (
    'address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form ' +
    'header hr html li main nav ol p pre section summary table tr ul'
  ).split(' '),
);
const CELLS = new Set(['td', 'th']);
const HIDING = new RegExp(
  '(?:display:none|visibility:(?:hidden|collapse)|font-size:0(?:[;.a-z%]|$)|' +
    String.raw`(?:^|;)opacity:0(?:\.0{1,9})?(?:;|$))`,
);

/** Reads the visible text of a page: no scripts, styles, comments, or text that the page itself hides. */
export function readHtml(html: string): ReadText {
  const writer = createWriter();
  let title: string | null = null;
  walkHtml(parseHtml(html), {
    enter(node) {
      const text = getNodeText(node);
      if (text !== null) writer.text(text);
      if (!('tagName' in node)) return undefined;
      if (node.tagName === 'title') title ??= readText(node);
      if (isUnseen(node)) {
        if (node.tagName === 'head') title ??= findTitle(node);
        return 'skip';
      }
      writer.open(node.tagName);
      return undefined;
    },
    leave: ({ tagName }) => writer.close(tagName),
  });
  const blocks = writer.end();
  return { title: title ?? blocks.find(({ heading }) => heading === 1)?.text ?? null, blocks };
}

function createWriter() {
  const blocks: DocumentBlock[] = [];
  let text = '';
  let heading: number | null = null;
  let preformatted = 0;
  const flush = () => {
    const cleaned = tidy(text);
    if (cleaned !== '') blocks.push({ text: cleaned, heading, place: {} });
    text = '';
  };
  return {
    open(tag: string) {
      const level = findHeadingLevel(tag);
      if (level !== null || BLOCKS.has(tag)) flush();
      if (level !== null) heading = level;
      if (tag === 'pre') preformatted += 1;
      if (tag === 'li') text = '- ';
      if (tag === 'br') text += '\n';
      if (CELLS.has(tag) && text.trim() !== '') text += ' | ';
    },
    text(chunk: string) {
      text += preformatted > 0 ? chunk : chunk.replace(/\s+/g, ' ');
    },
    close(tag: string) {
      const level = findHeadingLevel(tag);
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

function isUnseen({ tagName, attrs }: HtmlElement): boolean {
  if (UNSEEN.has(tagName)) return true;
  return attrs.some(({ name, value }) => {
    if (name === 'hidden') return true;
    if (name === 'aria-hidden') return value.trim().toLowerCase() === 'true';
    return name === 'style' && HIDING.test(value.toLowerCase().replace(/\s/g, ''));
  });
}

function findHeadingLevel(tag: string): number | null {
  return /^h[1-6]$/.test(tag) ? Number(tag[1]) : null;
}

function findTitle(head: HtmlElement): string | null {
  const found = head.childNodes.find((child): child is HtmlElement => child.nodeName === 'title');
  return found === undefined ? null : readText(found);
}

function readText(element: HtmlElement): string | null {
  const text = element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
  return tidy(text.replace(/\s+/g, ' ')) || null;
}

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const trimmed = lines.join('\n').replace(/^\n+/, '').trimEnd();
  return trimmed === '-'
    ? ''
    : trimmed.startsWith(' ') && !trimmed.includes('\n')
      ? trimmed.trimStart()
      : trimmed;
}

export interface ReadText {
  readonly title: string | null;
  readonly blocks: readonly DocumentBlock[];
}

const FENCE = /^ {0,3}(`{3,20}|~{3,20})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/;

/**
 * Splits Markdown at its headings and empty lines. Fenced code stays whole and is never a heading. Comments
 * and front matter are left out. A title in the front matter becomes the title.
 */
export function readMarkdown(text: string): ReadText {
  const { body, title } = withoutFrontMatter(withoutComments(text.replaceAll('\r\n', '\n')));
  const blocks: DocumentBlock[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const flush = () => {
    const block = lines.join('\n').trim();
    if (block !== '') blocks.push({ text: block, heading: null, place: {} });
    lines = [];
  };
  for (const line of body.split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined) fence = fence === null ? mark : mark.startsWith(fence) ? null : fence;
    const heading = fence === null && mark === undefined ? parseHeading(line, lines) : null;
    if (heading !== null) {
      if (heading.underlined) lines.pop();
      flush();
      blocks.push({ text: heading.text, heading: heading.level, place: {} });
    } else if (line.trim() === '' && fence === null) flush();
    else lines.push(line);
  }
  flush();
  return { title: title ?? blocks.find(({ heading }) => heading === 1)?.text ?? null, blocks };
}

function parseHeading(
  line: string,
  before: readonly string[],
): { text: string; level: number; underlined: boolean } | null {
  const marked = HEADING.exec(line);
  if (marked !== null) {
    const text = trimHashes((marked[2] ?? '').trim());
    return text === '' ? null : { text, level: marked[1]?.length ?? 1, underlined: false };
  }
  const [above] = before;
  if (above === undefined || before.length !== 1 || !/^ {0,3}(?:={2,200}|-{2,200})[ \t]{0,20}$/.test(line))
    return null;
  return { text: above.trim(), level: line.includes('=') ? 1 : 2, underlined: true };
}

/** Removes the closing `#` characters of a heading: `## Title ##` becomes `Title`. */
function trimHashes(text: string): string {
  const bare = text.replace(/#{1,20}$/, '');
  return bare !== text && /\s$/.test(bare) ? bare.trimEnd() : text;
}

function withoutComments(text: string): string {
  let kept = '';
  let from = 0;
  for (let start = text.indexOf('<!--'); start !== -1; start = text.indexOf('<!--', from)) {
    kept += text.slice(from, start);
    const end = text.indexOf('-->', start + 4);
    if (end === -1) return kept;
    from = end + 3;
  }
  return kept + text.slice(from);
}

function withoutFrontMatter(text: string): { body: string; title: string | null } {
  const start = text.startsWith('\ufeff') ? 1 : 0;
  const end = text.startsWith('---\n', start) ? text.indexOf('\n---', start + 3) : -1;
  if (end === -1) return { body: text.slice(start), title: null };
  const title = /^title:[ \t]{0,20}(.{1,300})$/m
    .exec(text.slice(start, end))?.[1]
    ?.trim()
    .replace(/^["']|["']$/g, '');
  return {
    body: text.slice(text.indexOf('\n', end + 1) + 1 || text.length),
    title: title === undefined || title === '' ? null : title,
  };
}
