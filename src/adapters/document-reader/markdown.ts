import type { DocumentBlock } from '../../ports/knowledge.ts';

export interface ReadText {
  readonly title: string | null;
  readonly blocks: readonly DocumentBlock[];
}

const FENCE = /^ {0,3}(`{3,20}|~{3,20})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/;

/**
 * Cuts Markdown at its headings and empty lines; fenced code stays whole and is never a heading. Comments, which no reader
 * of the page sees, and front matter are left out; a title in the front matter is the title.
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
    const heading = fence === null && mark === undefined ? headingOf(line, lines) : null;
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

function headingOf(line: string, before: readonly string[]): { text: string; level: number; underlined: boolean } | null {
  const marked = HEADING.exec(line);
  if (marked !== null) {
    const text = trimHashes((marked[2] ?? '').trim());
    return text === '' ? null : { text, level: marked[1]?.length ?? 1, underlined: false };
  }
  const [above] = before;
  if (above === undefined || before.length !== 1 || !/^ {0,3}(?:={2,200}|-{2,200})[ \t]{0,20}$/.test(line)) return null;
  return { text: above.trim(), level: line.includes('=') ? 1 : 2, underlined: true };
}

/** `## Title ##` */
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
  return { body: text.slice(text.indexOf('\n', end + 1) + 1 || text.length), title: title === undefined || title === '' ? null : title };
}
