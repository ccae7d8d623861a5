import { maxOf } from '../lib/lists.ts';
import { visibleLine, visibleLines } from './visible-text.ts';

/** Breaks what GitHub would read (mentions, issue numbers, links) without changing how it looks. Put in after `visible…`. */
const BREAK = '\u200b';

/**
 * Foreign text as Markdown prose: code spans in backticks stay code, all other marks show as themselves. No mention, issue
 * reference, link, image, HTML or formula comes to life; line ends become hard line breaks.
 */
export function prose(text: string): string {
  const lines = visibleLines(text)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.map((line) => escapeLineStart(withCodeSpans(line, escapeInline, codeSpan))).join('\\\n');
}

/** Foreign text on one line of Markdown, anywhere but at a line's start. */
export function inline(text: string): string {
  return withCodeSpans(visibleLine(text), escapeInline, codeSpan);
}

/** Foreign text inside an HTML element such as `<summary>`, where Markdown is not read. */
export function html(text: string): string {
  return withCodeSpans(visibleLine(text), escapeHtml, (code) => `<code>${escapeHtml(code)}</code>`);
}

/** A code span whose delimiter is longer than any run of backticks inside. */
export function codeSpan(text: string): string {
  const content = breakComment(visibleLine(text));
  const ticks = '`'.repeat(longestRun(content) + 1);
  const pad = /^`|`$|^ .* $/.test(content) || content === '' ? ' ' : '';
  return `${ticks}${pad}${content}${pad}${ticks}`;
}

/** A fenced block whose fence is longer than any run of backticks inside. Each entry is one line. */
export function fence(lines: readonly string[]): string {
  const content = lines.flatMap(visibleLines).map(breakComment);
  const ticks = '`'.repeat(Math.max(3, longestRun(content.join('\n')) + 1));
  return [`${ticks}text`, ...content, ticks].join('\n');
}

function withCodeSpans(line: string, outside: (text: string) => string, inside: (code: string) => string): string {
  const parts = line.split(/(?<!`)`([^`]+)`(?!`)/);
  return parts.map((part, index) => (index % 2 === 1 ? inside(part) : outside(part))).join('');
}

function escapeInline(text: string): string {
  return breakLinks(text)
    .replace(/[\\`*_[\]~|]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('$', '&#36;');
}

function escapeHtml(text: string): string {
  return breakLinks(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replaceAll('$', '&#36;');
}

/** `@name`, `#12`, `GH-12`, `scheme:`, `www.` and `:emoji:` all need two neighbours; a zero-width space parts them. */
function breakLinks(text: string): string {
  return text
    .replace(/[@#]/g, `$&${BREAK}`)
    .replace(/(GH)-(?=\d)/gi, `$1${BREAK}-`)
    .replace(/(www)\./gi, `$1${BREAK}.`)
    .replace(/(https?|ftp|mailto|xmpp):/gi, `$1${BREAK}:`)
    .replaceAll('://', `:${BREAK}//`)
    .replace(/:(?=[\w+-]+:)/g, `:${BREAK}`);
}

/** Our own comments are found by a `<!-- faultline` marker; no text may bring one along. */
function breakComment(text: string): string {
  return text.replaceAll('<!--', `<${BREAK}!--`);
}

/** A line that begins like a list, a heading underline, a rule or a bot's `/command` is only text. */
function escapeLineStart(line: string): string {
  return line.replace(/^([-+=/])/, '\\$1').replace(/^(\d+)([.)])/, '$1\\$2');
}

function longestRun(text: string): number {
  return maxOf(
    Array.from(text.matchAll(/`+/g), ([run]) => run.length),
    0,
  );
}
