import { findMax } from '../lib/collections.ts';
import { spellCharacter } from '../lib/text.ts';

/**
 * The pattern of colors, and of the erasing to the end of the line that goes with them. They say nothing, so
 * they are left out. Everything else that a terminal or an editor would obey rather than show (escapes,
 * control and format characters, direction changes, invisible characters, lone surrogates) becomes
 * `⟦U+001B⟧`, because we print texts of logs, models and reviewers.
 */
const COLOR = /(?:\u001b\[|\u009b)(?:[\d:;]*m|K)/g;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;
const TAB = '  ';

/**
 * Returns the text on one line: line ends become spaces, tabs become two spaces, and a terminal interprets
 * nothing in it.
 */
export function toVisibleLine(text: string): string {
  // The text is split, because a pattern for blanks around a line end takes seconds for a line of 50,000
  // blanks.
  const lines = text.split('\n').map((line) => line.trim());
  return makeVisible(lines.filter((line) => line !== '').join(' ')).trim();
}

/**
 * Splits the text into lines (`\n` ends one) that are safe to print. A `\r` that belongs to the line end is
 * dropped.
 */
export function toVisibleLines(text: string): string[] {
  return text.split('\n').map((line) => makeVisible(line.replace(/\r$/, '')).trimEnd());
}

/** Cuts to at most `limit` characters and says how many are missing: "… +18,204 characters". */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const characters = Array.from(text);
  if (characters.length <= limit) return text;
  return `${characters.slice(0, limit).join('')}… +${formatNumber(characters.length - limit)} characters`;
}

/** Formats a number: 14210 → "14,210". */
export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/**
 * Disarms commands of CI runners. They interpret lines that begin with `::name::`, and `##[name]` or
 * `##vso[name]` anywhere. When we print the text of a log in a job, it must not become a command: one
 * character is replaced by a look-alike, so the width stays the same.
 */
export function disarmRunnerCommands(line: string): string {
  return line.replace(/^(\s*):(?=:)/, '$1\u2236').replace(/#(?=#\w{0,20}\[)/g, '\u266f');
}

function makeVisible(text: string): string {
  return text.replace(COLOR, '').replaceAll('\t', TAB).replace(UNSEEN, spellCharacter);
}

/** Breaks a line at spaces so that none is longer than `columns` characters; a longer word is cut. */
export function wrap(line: string, columns: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ').flatMap((part) => cutWord(part, columns))) {
    const joined = current === '' ? word : `${current} ${word}`;
    if (Array.from(joined).length <= columns) {
      current = joined;
      continue;
    }
    lines.push(current);
    current = word;
  }
  return current === '' ? lines : [...lines, current];
}

function cutWord(word: string, columns: number): string[] {
  const characters = Array.from(word);
  const parts: string[] = [];
  for (let from = 0; from < characters.length; from += columns)
    parts.push(characters.slice(from, from + columns).join(''));
  return parts;
}

/**
 * The character that breaks what GitHub would interpret (mentions, issue numbers, links) without changing how
 * it looks. It is inserted after `visible…` has run.
 */
const BREAK = '\u200b';

/**
 * Formats untrusted text as Markdown prose: code spans in backticks stay code, all other marks are shown
 * literally. No mention, issue reference, link, image, HTML or formula becomes active; line ends become hard
 * line breaks.
 */
export function toProse(text: string): string {
  const lines = toVisibleLines(text)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.map((line) => escapeLineStart(withCodeSpans(line, escapeInline, toCodeSpan))).join('\\\n');
}

/** Formats untrusted text on one line of Markdown, for any position except the start of a line. */
export function toInline(text: string): string {
  return withCodeSpans(toVisibleLine(text), escapeInline, toCodeSpan);
}

/** Formats untrusted text inside an HTML element such as `<summary>`, where Markdown is not interpreted. */
export function toHtml(text: string): string {
  return withCodeSpans(toVisibleLine(text), escapeHtml, (code) => `<code>${escapeHtml(code)}</code>`);
}

/** Creates a code span whose delimiter is longer than any run of backticks inside. */
export function toCodeSpan(text: string): string {
  const content = breakComment(toVisibleLine(text));
  const ticks = '`'.repeat(computeLongestRun(content) + 1);
  const pad = /^`|`$|^ .* $/.test(content) || content === '' ? ' ' : '';
  return `${ticks}${pad}${content}${pad}${ticks}`;
}

/**
 * Creates a fenced block of this language whose fence is longer than any run of backticks inside. Each entry
 * is one line.
 */
export function fence(lines: readonly string[], language = 'text'): string {
  const content = lines.flatMap(toVisibleLines).map(breakComment);
  const ticks = getFenceAround(content.join('\n'));
  return [`${ticks}${language}`, ...content, ticks].join('\n');
}

/** Returns a fence that no run of backticks in the text closes. */
export function getFenceAround(text: string): string {
  return '`'.repeat(Math.max(3, computeLongestRun(text) + 1));
}

function withCodeSpans(
  line: string,
  outside: (text: string) => string,
  inside: (code: string) => string,
): string {
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

/**
 * Inserts a zero-width space into `@name`, `#12`, `GH-12`, `scheme:`, `www.` and `:emoji:`, which are
 * recognized only if both parts are adjacent.
 */
export function breakLinks(text: string): string {
  return text
    .replace(/[@#]/g, `$&${BREAK}`)
    .replace(/(GH)-(?=\d)/gi, `$1${BREAK}-`)
    .replace(/(www)\./gi, `$1${BREAK}.`)
    .replace(/(https?|ftp|mailto|xmpp):/gi, `$1${BREAK}:`)
    .replaceAll('://', `:${BREAK}//`)
    .replace(/:(?=[\w+-]+:)/g, `:${BREAK}`);
}

/**
 * Breaks comment markers, because our own comments are found by a `<!-- faultline` marker and no other text
 * may contain one.
 */
function breakComment(text: string): string {
  return text.replaceAll('<!--', `<${BREAK}!--`);
}

/** Escapes the start of a line that looks like a list, a heading underline, a rule or a bot's `/command`. */
function escapeLineStart(line: string): string {
  return line.replace(/^([-+=/])/, '\\$1').replace(/^(\d+)([.)])/, '$1\\$2');
}

function computeLongestRun(text: string): number {
  return findMax(
    Array.from(text.matchAll(/`+/g), ([run]) => run.length),
    0,
  );
}
