import { stripEscapes } from '../../../log/lines/clean.ts';

/**
 * The maximum number of lines of a message that are compared, and of characters of each. Answers cut longer
 * messages.
 */
const [MAX_LINES, MAX_LINE] = [5, 200];
/**
 * The minimum number of characters of a message without the class of its exception. A shorter rest is not
 * informative.
 */
const MIN_WITHOUT_CLASS = 8;
/** The minimum number of characters before an ellipsis by which a truncated message is recognized. */
const MIN_BEFORE_CUT = 24;

const CLASS = /^(?:[\w$]+[.:]{1,2})*[\w$]*(?:error|exception|failure|failed|panic)(?: \[\w+\])?: /;
/** Markers that runners print before the lines of a message: pytest's "E", the "#" of TAP, ">", bullets. */
const MARK = /^(?:e {2,}|[#>│|●✕×✗•*-]+ )/;
const WORD = /[\p{L}\p{N}_]/u;

/**
 * Normalizes text for comparison: without terminal escapes, in lower case, with every quotation mark as `'`
 * and every run of white space as one space, trimmed. Numbers, paths and names are kept, because they
 * distinguish assertions.
 */
export function normalizeWords(text: string): string {
  return stripEscapes(text)
    .toLowerCase()
    .replace(/[‘’“”"`´]/g, "'")
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Normalizes a message: its first five lines that are not blank, each by {@link normalizeWords}, without a
 * runner's marker ("E ", "# ", "> "), without the exception's class before the first colon ("AssertionError:
 * ", if at least eight characters are left), without punctuation at its end, and cut after 200 characters.
 */
export function normalizeMessage(message: string): string[] {
  const lines = message
    .split('\n')
    .map((line) => normalizeWords(stripEscapes(line).trim().toLowerCase().replace(MARK, '')));
  return lines
    .filter((line) => line !== '')
    .slice(0, MAX_LINES)
    .map((line) => {
      const bare = line.replace(CLASS, '');
      const kept = bare.length < MIN_WITHOUT_CLASS ? line : bare;
      return withoutEnd(kept).slice(0, MAX_LINE);
    });
}

/**
 * Checks whether texts contain a message: every line of the normalized message occurs in one of the
 * normalized texts, but not inside a longer word or number. If a text is truncated with "…", at least 24
 * characters before it must be the beginning of the line.
 */
export function saysMessage(texts: readonly string[], message: string): boolean {
  const lines = normalizeMessage(message);
  const messages = texts.map(normalizeWords);
  return lines.length > 0 && lines.every((line) => messages.some((text) => holdsWords(text, line)));
}

/** Checks whether a normalized text contains normalized words as whole words, or truncated by "…". */
export function holdsWords(text: string, words: string): boolean {
  if (words === '') return false;
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + 1)) {
    if (isEdge(text[at - 1], words[0]) && isEdge(words.at(-1), text[at + words.length])) return true;
  }
  const parts = text.split('…').slice(0, -1);
  return parts.some((part) => endsWithStart(part.trimEnd(), words));
}

function isEdge(left: string | undefined, right: string | undefined): boolean {
  return left === undefined || right === undefined || !WORD.test(left) || !WORD.test(right);
}

function endsWithStart(part: string, words: string): boolean {
  for (let length = Math.min(part.length, words.length); length >= MIN_BEFORE_CUT; length--) {
    if (part.endsWith(words.slice(0, length))) return true;
  }
  return false;
}

/** Returns the text without white space and punctuation at the end. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t.,:;'.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
