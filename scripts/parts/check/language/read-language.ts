import ts from 'typescript';
import { BRITISH_WORDS, beginsWithVerb, isPlainSentence, isVague, PRIVATE_WORDS } from './words.ts';

/** A place that counts for a figure. */
export interface Finding {
  readonly file: string;
  /** The line number, 1-based. */
  readonly line: number;
  readonly text: string;
}

export type FigureName = 'of' | 'verbs' | 'vague' | 'sentences' | 'words' | 'spelling' | 'lines' | 'spreads';
type Total = 'functions' | 'declared' | 'variables' | 'comments' | 'lines';

interface Figure {
  readonly name: FigureName;
  readonly title: string;
  /** The total of which the count is a part. Null if there is none. */
  readonly among: Total | null;
}

export const FIGURES: readonly Figure[] = [
  { name: 'of', title: 'functions ending in "Of"', among: 'functions' },
  { name: 'verbs', title: 'function declarations that begin with no verb', among: 'declared' },
  { name: 'vague', title: 'variables and parameters with a vague name', among: 'variables' },
  { name: 'sentences', title: 'doc comments that are no sentence', among: 'comments' },
  { name: 'words', title: 'private words in comments', among: null },
  { name: 'spelling', title: 'British spellings in comments', among: null },
  { name: 'lines', title: 'lines over 110 columns', among: 'lines' },
  { name: 'spreads', title: 'spreads of a literal', among: null },
];

export interface LanguageReport {
  readonly findings: Readonly<Record<FigureName, readonly Finding[]>>;
  readonly totals: Readonly<Record<Total, number>>;
}

const MAX_COLUMNS = 110;

/** The declared result type of a component. */
const COMPONENT = /^(?:Promise<)?(?:Html|Shown)(?: \| null)?>?$/;

/** Reads TypeScript files, by path, and collects where they leave plain language. */
export function readLanguage(files: ReadonlyMap<string, string>): LanguageReport {
  const findings: Record<FigureName, Finding[]> = {
    of: [],
    verbs: [],
    vague: [],
    sentences: [],
    words: [],
    spelling: [],
    lines: [],
    spreads: [],
  };
  const totals: Record<Total, number> = { functions: 0, declared: 0, variables: 0, comments: 0, lines: 0 };
  for (const [file, text] of files) readFile(file, text);
  return { findings, totals };

  function readFile(file: string, text: string): void {
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const add = (name: FigureName, position: number, found: string) =>
      findings[name].push({
        file,
        line: source.getLineAndCharacterOfPosition(position).line + 1,
        text: found,
      });
    for (const [index, line] of text.split('\n').entries()) {
      totals.lines++;
      if (line.length > MAX_COLUMNS)
        findings.lines.push({ file, line: index + 1, text: `${line.length} columns` });
    }
    for (const { position, words } of listComments(source, text)) {
      for (const [word] of words.matchAll(PRIVATE_WORDS)) add('words', position, word);
      for (const [word] of words.replace(/`[^`]*`/g, '').matchAll(BRITISH_WORDS))
        add('spelling', position, word);
    }
    const documented = new Set<number>();
    visit(source);

    function visit(node: ts.Node): void {
      const name = readFunctionName(node);
      if (name !== null) {
        totals.functions++;
        if (/[a-z\d]Of$/.test(name)) add('of', node.getStart(source), name);
      }
      if (ts.isFunctionDeclaration(node) && node.name !== undefined) {
        totals.declared++;
        if (!isNamedAsNoun(node, source) && !beginsWithVerb(node.name.text, isPredicate(node)))
          add('verbs', node.name.getStart(source), node.name.text);
      }
      const variable = readVariableName(node);
      if (variable !== null) {
        totals.variables++;
        if (isVague(variable)) add('vague', node.getStart(source), variable);
      }
      if (isLiteralSpread(node))
        add('spreads', node.getStart(source), node.getText(source).slice(0, 60).replace(/\s+/g, ' '));
      readComment(node);
      ts.forEachChild(node, visit);
    }

    function readComment(node: ts.Node): void {
      const subject = findCommentSubject(node);
      if (subject === null) return;
      const range = ts.getLeadingCommentRanges(text, node.pos)?.at(-1);
      if (range === undefined || !text.startsWith('/**', range.pos) || documented.has(range.pos)) return;
      documented.add(range.pos);
      totals.comments++;
      const words = toPlainText(text.slice(range.pos, range.end));
      if (!isPlainSentence(words, subject)) add('sentences', range.pos, `(${subject}) ${words.slice(0, 90)}`);
    }
  }
}

/** Returns the name of a function declaration, a method, or a constant that contains a function. */
function readFunctionName(node: ts.Node): string | null {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node))
    return nameText(node.name);
  if (!ts.isVariableDeclaration(node) && !ts.isPropertyAssignment(node)) return null;
  const value = node.initializer;
  return value !== undefined && (ts.isArrowFunction(value) || ts.isFunctionExpression(value))
    ? nameText(node.name)
    : null;
}

/** Checks whether a function is declared to return a boolean, now or later. */
function isPredicate({ type }: ts.FunctionDeclaration): boolean {
  if (type === undefined) return false;
  if (type.kind === ts.SyntaxKind.BooleanKeyword || ts.isTypePredicateNode(type)) return true;
  return /^Promise<boolean>$/.test(type.getText());
}

/**
 * Checks whether a noun is the usual name of a function: a tag of template literals (`html`), or a component,
 * which is named after the part of the page that it returns.
 */
function isNamedAsNoun({ type, parameters }: ts.FunctionDeclaration, source: ts.SourceFile): boolean {
  if (/\bTemplateStringsArray\b/.test(parameters[0]?.type?.getText(source) ?? '')) return true;
  return COMPONENT.test(type?.getText(source) ?? '');
}

/**
 * Returns the name that a variable, a parameter, or a renamed binding declares. Returns null for any other
 * node.
 */
function readVariableName(node: ts.Node): string | null {
  if (ts.isVariableDeclaration(node) || ts.isParameter(node)) return nameText(node.name);
  return ts.isBindingElement(node) && node.propertyName !== undefined ? nameText(node.name) : null;
}

function nameText(name: ts.Node | undefined): string | null {
  return name !== undefined && ts.isIdentifier(name) ? name.text : null;
}

/** Returns whether a comment above the node describes a function or a type. Returns null for other nodes. */
function findCommentSubject(node: ts.Node): 'function' | 'type' | null {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node))
    return 'function';
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node))
    return 'type';
  if (ts.isPropertySignature(node) || ts.isParameter(node) || ts.isPropertyDeclaration(node))
    return node.type !== undefined && ts.isFunctionTypeNode(node.type) ? 'function' : 'type';
  if (ts.isPropertyAssignment(node)) return readFunctionName(node) === null ? 'type' : 'function';
  if (ts.isShorthandPropertyAssignment(node) || ts.isSpreadAssignment(node)) return 'type';
  if (ts.isGetAccessor(node)) return 'function';
  if (!ts.isVariableStatement(node)) return null;
  const [first] = node.declarationList.declarations;
  if (first === undefined) return null;
  return readFunctionName(first) === null ? 'type' : 'function';
}

/**
 * Checks for `...{ … }` or `...[ … ]` without a condition, whose members could be written without the spread.
 */
function isLiteralSpread(node: ts.Node): boolean {
  if (!ts.isSpreadAssignment(node) && !ts.isSpreadElement(node)) return false;
  return ts.isObjectLiteralExpression(node.expression) || ts.isArrayLiteralExpression(node.expression);
}

function listComments(
  source: ts.SourceFile,
  text: string,
): { readonly position: number; readonly words: string }[] {
  const found = new Map<number, string>();
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? [])
      found.set(pos, text.slice(pos, end));
    for (const { pos, end } of ts.getTrailingCommentRanges(text, node.end) ?? [])
      found.set(pos, text.slice(pos, end));
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
  return [...found].map(([position, words]) => ({ position, words }));
}

function toPlainText(comment: string): string {
  return comment
    .replace(/^\/\*\*|\*\/$/g, '')
    .replace(/^\s*\*\s?/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}
