const SCRIPT = '[cm]?[jt]sx?|vue|svelte';
const SLASHED = `${SCRIPT}|java|kts?|scala|groovy|gradle|go|rs|c|cc|cpp|h|hpp|cs|swift|php|dart|scss|less`;
const FREE = `${SLASHED}|rb|lua|pl|pm|css|sql|json|xml|html?`;
/**
 * The endings of files in which a line break ends a statement. The next pattern has those in which
 * indentation matters too.
 */
const LINES = 'sh|bash|zsh|ps1|exs?|jl|r|toml|tf';
const INDENTED = 'pyi?|pyx|ya?ml|coffee|nim|gd';

const isFree = matchEndings(FREE);
const endsAtLine = matchEndings(`${LINES}|${INDENTED}`);
const isIndented = matchEndings(INDENTED);
const hasHashComments = matchEndings(`rb|php|pl|pm|${LINES}|${INDENTED}`);
const hasSlashComments = matchEndings(SLASHED);
const hasBlockComments = matchEndings(`${SLASHED}|css|sql`);
const hasDashComments = matchEndings('sql|lua');
const isQuotedAnyway = matchEndings(`${SCRIPT}|pyi?`);
const isQuotedMostly = matchEndings('rb|php|pl|pm|lua|dart|sh|bash|zsh|ya?ml|exs?');
const needsNoSemicolon = matchEndings(`${SCRIPT}|py|go|kts?|scala|groovy|gradle|swift|rb|lua`);

/** The patterns of comments by language. Comments that a compiler reads are not matched. */
const COMMENTS = {
  slash: String.raw`\/\/(?!go:).*`,
  block: String.raw`\/\*[\s\S]*?(?:\*\/|$)`,
  hash: String.raw`(?<!\S)#(?!\[|!|\s?frozen_string_literal).*`,
  dash: '--.*',
};
/**
 * The pattern of tokens. A string that is not closed ends at the end of its line, so that no start is tried
 * twice.
 */
const TOKENS = String.raw`\\?\n[ \t]*(?=\S)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|[\w$]+|\+\+|--|\S`;
/**
 * The pattern of a string that means the same in either kind of quotes, in languages in which only one kind
 * interprets names and escapes.
 */
const PLAIN = /^[^\\$#`]*$/;
const TAB = '        ';

/**
 * Splits code into the tokens that formatting does not change: without white space, comments, trailing commas
 * and optional semicolons, with strings in one kind of quotes, and with line breaks and indentation only if
 * they have a meaning in the language. A file of an unknown kind is read line by line.
 */
export function readTokens(lines: readonly string[], path: string): string[] {
  if (!isFree.test(path) && !endsAtLine.test(path)) return lines.map((line) => line.trimEnd());
  const tokens: string[] = [];
  let joined = 0;
  const open: { readonly isGroup: boolean; commas: number }[] = [];
  for (const [token] of `\n${lines.join('\n')}`.matchAll(createPattern(path))) {
    const last = tokens.at(-1);
    if (token.startsWith('\\\n') || isComment(token, path)) continue;
    if (token.startsWith('\n')) {
      if (last?.startsWith('\n') === true) tokens.pop();
      const counts = endsAtLine.test(path) && (!isIndented.test(path) || open.length === 0);
      if (counts || last === 'return') tokens.push(isIndented.test(path) ? measureIndent(token) : '\n');
    } else if (/^[([{]$/.test(token)) {
      open.push({ isGroup: token === '(' && !/[\w$)\]]$/.test(last ?? ''), commas: 0 });
      tokens.push(token);
    } else if (/^[)\]}]$/.test(token)) {
      const group = open.pop();
      // The line closes a bracket that was opened above, so all lines so far were inside it.
      if (group === undefined && isIndented.test(path)) joined = removeLineBreaks(tokens, joined);
      if (tokens.at(-1)?.startsWith('\n') === true && !endsAtLine.test(path)) tokens.pop();
      const isTuple = group?.isGroup === true && group.commas === 1;
      if (tokens.at(-1) === ',' && !isTuple && !path.endsWith('.json')) tokens.pop();
      tokens.push(token);
    } else if (token !== ';' || !needsNoSemicolon.test(path)) {
      const group = open.at(-1);
      if (token === ',' && group !== undefined) group.commas += 1;
      tokens.push(toOneQuote(token, path));
    }
  }
  if (tokens.at(-1)?.startsWith('\n') === true) tokens.pop();
  return rankIndents(tokens);
}

/**
 * Checks whether one list of tokens contains the other as neighbors. Very few tokens are never contained,
 * because they occur everywhere.
 */
export function containsTokens(all: readonly string[], some: readonly string[]): boolean {
  const end = some.at(-1) === ',' || some.at(-1) === ';' ? -1 : some.length;
  const part = some.filter((token) => !token.startsWith('\n')).slice(0, end);
  const whole = all.filter((token) => !token.startsWith('\n'));
  return part.length > 2 && `\0${whole.join('\0')}\0`.includes(`\0${part.join('\0')}\0`);
}

function matchEndings(endings: string): RegExp {
  return new RegExp(String.raw`\.(?:${endings})$`, 'i');
}

function createPattern(path: string): RegExp {
  const kinds = [
    hasHashComments.test(path) ? COMMENTS.hash : [],
    hasDashComments.test(path) ? COMMENTS.dash : [],
    hasSlashComments.test(path) ? COMMENTS.slash : [],
    hasBlockComments.test(path) ? COMMENTS.block : [],
  ].flat();
  return new RegExp([kinds, TOKENS].flat().join('|'), 'g');
}

function isComment(token: string, path: string): boolean {
  if (/^\/[/*]/.test(token)) return true;
  if (hasHashComments.test(path) && token.length > 1 && token.startsWith('#')) return true;
  return hasDashComments.test(path) && token.startsWith('--');
}

function measureIndent(lineBreak: string): string {
  return `\n${lineBreak.replaceAll('\t', TAB).length - 1}`;
}

/** Replaces each indentation by its rank among those that occur, because reformatting keeps only the rank. */
function rankIndents(tokens: readonly string[]): string[] {
  const widths = [...new Set(tokens.filter((token) => token.startsWith('\n')))];
  widths.sort((left, right) => Number(left) - Number(right));
  return tokens.map((token) => (token.startsWith('\n') ? `\n${widths.indexOf(token)}` : token));
}

/** Removes the line breaks from an index on, and returns the number of tokens that are left. */
function removeLineBreaks(tokens: string[], from: number): number {
  let kept = from;
  for (let at = from; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    if (!token.startsWith('\n')) tokens[kept++] = token;
  }
  tokens.length = kept;
  return kept;
}

function toOneQuote(token: string, path: string): string {
  if (!/^["']/.test(token) || token.length < 2 || token.at(-1) !== token[0]) return token;
  const inside = token.slice(1, -1);
  const isAlike = isQuotedAnyway.test(path) || (isQuotedMostly.test(path) && PLAIN.test(inside));
  return isAlike ? `"${inside.replace(/\\(?=["'])/g, '')}"` : token;
}
