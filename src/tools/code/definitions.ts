import { removeNonCode } from './code-only.ts';
import { type DefinitionKind, findLanguage, type Language } from './languages.ts';

/** A definition in a file. Lines are 1-based and inclusive. */
export interface Definition {
  readonly name: string;
  readonly kind: DefinitionKind;
  readonly line: number;
  readonly lineEnd: number;
  /** The name of the definition that contains it, or of the type whose method it is; null at the top. */
  readonly container: string | null;
  /** Branches and loops in it, plus one: its cyclomatic complexity, counted by words. */
  readonly complexity: number;
}

/** Longer lines are generated, and hold no definition that a person wrote. */
const MAX_LINE = 500;
/** Words before a parenthesis that define nothing. */
const NOT_NAMES = new Set(
  'if for while switch catch return function super new else do try with await typeof throw using lock'.split(
    ' ',
  ),
);
const BRANCH = /\b(?:if|elif|for|while|case|catch|except|when|match|rescue|unless)\b|&&|\|\||\?\?/g;

/** Lists the definitions of a file, in order; none if its language is not known. */
export function listDefinitions(path: string, lines: readonly string[]): Definition[] {
  const language = findLanguage(path);
  if (language === null) return [];
  const code = removeNonCode(
    lines.map((line) => (line.length > MAX_LINE ? '' : line)),
    language.lexis,
  );
  const found: Omit<Definition, 'container'>[] = [];
  const members = new Set<number>();
  for (const [index, line] of code.entries()) {
    const named = members.has(index + 1) ? null : matchForms(line, language);
    if (named === null) continue;
    const end = findEnd(code, index, language);
    const body = code.slice(index, end + 1).join('\n');
    const complexity = 1 + (body.match(BRANCH)?.length ?? 0);
    found.push({ ...named, line: index + 1, lineEnd: end + 1, complexity });
    if (!ENUM.test(line)) continue;
    for (const member of listMembers(code, index, end)) {
      found.push(member);
      members.add(member.line);
    }
  }
  return found.map((definition) => ({ ...definition, container: findContainer(definition, found, code) }));
}

const ENUM = /^[^(=]*\benum\b/;
/** A member of an enumeration, with its arguments, value or body. */
const MEMBER = /^\s+([A-Za-z_$][\w$]*)\s*(?:[({=].*)?[,;]?\s*$/;

/** Lists the members of an enumeration in braces: names at its own level, before a semicolon. */
function listMembers(code: readonly string[], from: number, end: number) {
  const found: Omit<Definition, 'container'>[] = [];
  let depth = 0;
  for (const [offset, line] of code.slice(from, end).entries()) {
    const name = depth === 1 && offset > 0 ? MEMBER.exec(line)?.[1] : undefined;
    const at = from + offset + 1;
    if (name !== undefined && !NOT_NAMES.has(name))
      found.push({ name, kind: 'constant', line: at, lineEnd: at, complexity: 1 });
    depth += countLetters(line, '({[') - countLetters(line, ')}]');
    if (depth === 1 && /;\s*$/.test(line)) break;
  }
  return found;
}

/** Returns what one line of code defines, or null. */
function matchForms(line: string, { forms }: Language) {
  const code = line.trimEnd();
  for (const [kind, form] of forms) {
    const name = form.exec(code)?.[1];
    if (name !== undefined && !NOT_NAMES.has(name)) return { kind, name };
  }
  return null;
}

/** Returns whether a line, seen alone, may define this name. */
export function mayDefine(path: string, line: string, name: string): boolean {
  const language = findLanguage(path);
  if (language === null || line.length > MAX_LINE) return false;
  const [code = ''] = removeNonCode([line], language.lexis);
  const named = matchForms(code, language)?.name;
  return named === name || named?.endsWith(`::${name}`) === true;
}

/** Returns whether a line, seen alone, may be a member of an enumeration of this name. */
export function mayBeMember(path: string, line: string, name: string): boolean {
  return line.length <= MAX_LINE && findLanguage(path) !== null && MEMBER.exec(line)?.[1] === name;
}

/** Returns the index of a definition's last line. */
function findEnd(code: readonly string[], from: number, { body }: Language): number {
  if (body === 'indent') return findEndByIndent(code, from);
  if (body === 'end') {
    const indent = measureIndent(code[from] ?? '');
    const end = code.findIndex(
      (line, at) => at > from && /^\s*end\b/.test(line) && measureIndent(line) <= indent,
    );
    return end < 0 ? from : end;
  }
  return findEndByBraces(code, from);
}

function findEndByIndent(code: readonly string[], from: number): number {
  const indent = measureIndent(code[from] ?? '');
  let end = from;
  let open = 0;
  for (let at = from; at < code.length; at += 1) {
    const line = code[at] ?? '';
    if (line.trim() === '') continue;
    if (at > from && open <= 0 && measureIndent(line) <= indent) break;
    open += countLetters(line, '([{') - countLetters(line, ')]}');
    end = at;
  }
  return end;
}

/** Ends where the braces are balanced, or at a semicolon or the indented end of an item that opens none. */
function findEndByBraces(code: readonly string[], from: number): number {
  const isAssigned = /^[^({=]*[^=!<>({]=(?![=>])/.test(code[from] ?? '');
  let depth = 0;
  let round = 0;
  let opened = false;
  for (let at = from; at < code.length; at += 1) {
    const line = code[at] ?? '';
    for (const [column, letter] of [...line].entries()) {
      if (letter === '(' || letter === '[') round += 1;
      else if (letter === ')' || letter === ']') round -= 1;
      else if (round > 0) continue;
      else if (letter === '{') depth += 1;
      else if (letter === '}') depth -= 1;
      else if (letter === ';' && depth === 0) return at;
      if (letter === '{') opened = true;
      // A type in braces may stand before the body: `function read(): { text: string } {`.
      if (letter === '}' && opened && depth <= 0 && !/\{\s*$/.test(line.slice(column + 1))) return at;
    }
    // Without semicolons an assignment ends with its line, unless the line goes on.
    if (isAssigned && depth <= 0 && round <= 0 && !/(?:[=,&|?:+*/-]|=>)\s*$/.test(line)) return at;
    if (!opened && round <= 0 && at > from && (code[at + 1] ?? '').trim() === '') return at;
    if (!opened && at - from > 40) return from;
  }
  return opened ? code.length - 1 : from;
}

function findContainer(
  { line, lineEnd }: Pick<Definition, 'line' | 'lineEnd'>,
  all: readonly Omit<Definition, 'container'>[],
  code: readonly string[],
): string | null {
  const receiver = /^func \(\w* ?\*?(\w+)/.exec(code[line - 1] ?? '')?.[1];
  if (receiver !== undefined) return receiver;
  const inner = all.findLast((other) => other.line < line && other.lineEnd >= lineEnd && other.line !== line);
  if (inner !== undefined && inner.kind !== 'module') return inner.name;
  return findImplementation(line, code);
}

/** Returns the type of the Rust `impl` block around a line, or null. */
function findImplementation(line: number, code: readonly string[]): string | null {
  if (!/^\s/.test(code[line - 1] ?? '')) return null;
  for (let at = line - 2; at >= 0; at -= 1) {
    const text = code[at] ?? '';
    const named = /^impl(?: ?<[^{]*>)? (?:[^{]* for )?(?:\w+::)*(\w+)/.exec(text)?.[1];
    if (named !== undefined) return named;
    if (/^[})]/.test(text)) return null;
  }
  return null;
}

function measureIndent(line: string): number {
  return line.length - line.trimStart().length;
}

function countLetters(line: string, letters: string): number {
  let count = 0;
  for (const letter of line) if (letters.includes(letter)) count += 1;
  return count;
}

const COMMENT = /^\s*(?:\/\/|\/\*|\*|#(?!\[|!|include|define)|--|"""|''')/;
/** Lines between a comment and what it describes: decorators and attributes. */
const BETWEEN = /^\s*(?:@\w|#\[|\[\w)/;
const MAX_COMMENT = 300;

/**
 * Returns the lines of the comment that describes a definition: the one above it, or Python's
 * docstring below it; null if there is none.
 */
export function findComment(
  path: string,
  lines: readonly string[],
  definition: Pick<Definition, 'line' | 'lineEnd'>,
): { readonly lineStart: number; readonly lineEnd: number } | null {
  if (findLanguage(path)?.name === 'Python') {
    const docstring = findDocstring(lines, definition);
    if (docstring !== null) return docstring;
  }
  let last = definition.line - 1;
  while (last > 0 && BETWEEN.test(lines[last - 1] ?? '')) last -= 1;
  const isApart = (lines[last - 1] ?? '').trim() === '' && /\*\/\s*$/.test(lines[last - 2] ?? '');
  if (isApart) last -= 1;
  let first = last;
  while (first > 0 && last - first < MAX_COMMENT && COMMENT.test(lines[first - 1] ?? '')) first -= 1;
  // A blank line may follow a documentation comment; what begins a file describes the file.
  if (isApart && (first === 0 || !/^\s*\/\*\*/.test(lines[first] ?? ''))) return null;
  return first === last ? null : { lineStart: first + 1, lineEnd: last };
}

function findDocstring(lines: readonly string[], { line, lineEnd }: Pick<Definition, 'line' | 'lineEnd'>) {
  for (let at = line; at < Math.min(lineEnd, line + 12); at += 1) {
    const text = lines[at] ?? '';
    const quote = /^\s*[rRuU]?("""|''')/.exec(text)?.[1];
    if (quote === undefined) {
      if (/:\s*(?:#.*)?$/.test(lines[at - 1] ?? '') && text.trim() !== '') return null;
      continue;
    }
    if (text.indexOf(quote) !== text.lastIndexOf(quote)) return { lineStart: at + 1, lineEnd: at + 1 };
    const end = lines.findIndex((other, index) => index > at && other.includes(quote));
    return end < 0 ? null : { lineStart: at + 1, lineEnd: Math.min(end + 1, at + MAX_COMMENT) };
  }
  return null;
}
