/** The marks of comments and strings of a language. */
export interface Lexis {
  /** Begins a comment to the end of the line. */
  readonly comments: readonly string[];
  /** Begins and ends a comment over lines. */
  readonly block?: readonly [string, string];
  /** Quotes of strings that end on their line. */
  readonly quotes: readonly string[];
  /** True if a slash where a value is expected begins a regular expression. */
  readonly hasPatterns?: boolean;
  /** Quotes of strings that may go over lines. */
  readonly long?: readonly string[];
}

type Within = { readonly end: string; readonly overLines: boolean; readonly escapes: boolean };

/**
 * Replaces comments and the contents of strings by blanks, so that what is left of each line is code. Every
 * character keeps its column. Linear in the text.
 */
export function removeNonCode(lines: readonly string[], lexis: Lexis): string[] {
  let within: Within | null = null;
  return lines.map((line) => {
    let code = '';
    let at = 0;
    while (at < line.length) {
      if (within !== null) {
        if (within.escapes && line[at] === '\\') {
          code += '  ';
          at += 2;
        } else if (line.startsWith(within.end, at)) {
          code += within.escapes ? within.end : ' '.repeat(within.end.length);
          at += within.end.length;
          within = null;
        } else {
          code += ' ';
          at += 1;
        }
        continue;
      }
      const begun = findBegin(line, at, lexis);
      if (begun === 'comment') break;
      const pattern: number =
        begun === null && lexis.hasPatterns === true ? measurePattern(line, at, code) : 0;
      if (pattern > 0) {
        // A value stays a value: the line does not go on after it.
        code += '0'.repeat(pattern);
        at += pattern;
      } else if (begun === null) {
        code += line[at];
        at += 1;
      } else {
        code += begun.within.escapes ? begun.mark : ' '.repeat(begun.mark.length);
        at += begun.mark.length;
        within = begun.within;
      }
    }
    if (within !== null && !within.overLines) within = null;
    return code.padEnd(line.length).slice(0, line.length);
  });
}

function findBegin(
  line: string,
  at: number,
  { comments, block, quotes, long = [] }: Lexis,
): 'comment' | null | { readonly mark: string; readonly within: Within } {
  if (block !== undefined && line.startsWith(block[0], at))
    return { mark: block[0], within: { end: block[1], overLines: true, escapes: false } };
  if (comments.some((mark) => line.startsWith(mark, at))) return 'comment';
  const longQuote = long.find((mark) => line.startsWith(mark, at));
  if (longQuote !== undefined)
    return { mark: longQuote, within: { end: longQuote, overLines: true, escapes: true } };
  const quote = quotes.find((mark) => line.startsWith(mark, at));
  // A single quote that nothing closes nearby is a lifetime or an apostrophe.
  if (quote === undefined || (quote === "'" && !line.slice(at + 1).includes("'"))) return null;
  return { mark: quote, within: { end: quote, overLines: false, escapes: true } };
}

/** Returns the length of the regular expression that begins here, or 0. */
function measurePattern(line: string, at: number, before: string): number {
  if (line[at] !== '/' || !/(?:^|[([{,;=:!&|?+>]|\breturn|\bcase)\s*$/.test(before.slice(-20))) return 0;
  let isInClass = false;
  for (let end = at + 1; end < line.length; end += 1) {
    const letter = line[end];
    if (letter === '\\') end += 1;
    else if (letter === '[') isInClass = true;
    else if (letter === ']') isInClass = false;
    else if (letter === '/' && !isInClass) return end + 1 - at;
  }
  return 0;
}
