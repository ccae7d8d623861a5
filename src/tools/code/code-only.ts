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
  /** The mark that begins code within a string, up to a brace, and how strings with such code begin. */
  readonly inserts?: { readonly mark: string; readonly opening: RegExp };
}

type Within = {
  readonly end: string;
  readonly overLines: boolean;
  readonly escapes: boolean;
  /** The mark that begins code; null if the string holds none. */
  readonly insert: string | null;
};

/**
 * Replaces comments and the contents of strings by blanks, so that what is left of each line is code. Code
 * that a string inserts stays. Every character keeps its column. Linear in the text.
 */
export function removeNonCode(lines: readonly string[], lexis: Lexis): string[] {
  let within: Within | null = null;
  /** The strings around inserted code, and how many braces are open in it. */
  const inserted: { readonly within: Within; depth: number }[] = [];
  return lines.map((line) => {
    let code = '';
    let at = 0;
    const blank = (count: number) => {
      code += ' '.repeat(count);
      at += count;
    };
    while (at < line.length) {
      if (within !== null) {
        const { insert, escapes, end }: Within = within;
        if (escapes && line[at] === '\\') blank(2);
        else if (line.startsWith(end, at)) {
          code += escapes ? end : ' '.repeat(end.length);
          at += end.length;
          within = null;
        } else if (insert !== null && line.startsWith(insert, at)) {
          // Two braces are a brace of the text.
          if (line.startsWith('{{', at)) blank(2);
          else {
            inserted.push({ within, depth: 0 });
            within = null;
            blank(insert.length);
          }
        } else blank(1);
        continue;
      }
      const around = inserted.at(-1);
      if (around !== undefined && line[at] === '}' && around.depth === 0) {
        within = around.within;
        inserted.pop();
        blank(1);
        continue;
      }
      if (around !== undefined) around.depth += countBrace(line[at]);
      const begun = findBegin(line, at, lexis, code);
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
    // A string that ends with its line ends the code that it inserts too.
    const outer = inserted.find((string) => !string.within.overLines);
    if (outer !== undefined) inserted.length = inserted.indexOf(outer);
    if (outer !== undefined || (within !== null && !within.overLines)) within = null;
    return code.padEnd(line.length).slice(0, line.length);
  });
}

function countBrace(letter: string | undefined): number {
  if (letter === '{') return 1;
  return letter === '}' ? -1 : 0;
}

function findBegin(
  line: string,
  at: number,
  { comments, block, quotes, long = [], inserts }: Lexis,
  before: string,
): 'comment' | null | { readonly mark: string; readonly within: Within } {
  const open = (mark: string, overLines: boolean) => {
    const hasCode = inserts?.opening.test(before.slice(-4) + mark) === true;
    return { mark, within: { end: mark, overLines, escapes: true, insert: hasCode ? inserts.mark : null } };
  };
  if (block !== undefined && line.startsWith(block[0], at))
    return { mark: block[0], within: { end: block[1], overLines: true, escapes: false, insert: null } };
  if (comments.some((mark) => line.startsWith(mark, at))) return 'comment';
  const longQuote = long.find((mark) => line.startsWith(mark, at));
  if (longQuote !== undefined) return open(longQuote, true);
  const quote = quotes.find((mark) => line.startsWith(mark, at));
  // A single quote that nothing closes nearby is a lifetime or an apostrophe.
  if (quote === undefined || (quote === "'" && !line.slice(at + 1).includes("'"))) return null;
  return open(quote, false);
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
