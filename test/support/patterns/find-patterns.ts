import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A regular expression in the source, and its place. */
export interface Pattern {
  /** The path relative to the root of the checkout. */
  readonly file: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

export interface FoundPatterns {
  readonly patterns: readonly Pattern[];
  /** The places of every `RegExp(…)` whose pattern is unknown. */
  readonly unseen: readonly { readonly file: string; readonly line: number }[];
}

/**
 * Stands for a value that a template inserts at run time: a name, a number, or text with special characters
 * escaped.
 */
const HOLE = 'hole';

/** Finds every RegExp literal and every composed pattern in the TypeScript files of `folders`. */
export function findPatterns(root: string, folders: readonly string[]): FoundPatterns {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const found = files
    .filter((file) => file.endsWith('.ts'))
    .toSorted()
    .map((file) => findPatternsIn(file, readFileSync(join(root, file), 'utf8')));
  return {
    patterns: found.flatMap(({ patterns }) => patterns),
    unseen: found.flatMap(({ unseen }) => unseen),
  };
}

/** Does the same for one file. */
export function findPatternsIn(file: string, text: string): FoundPatterns {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const constants = collectConstants(tree);
  const patterns: Pattern[] = [];
  const unseen: { file: string; line: number }[] = [];
  const visit = (node: ts.Node) => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (ts.isRegularExpressionLiteral(node)) patterns.push({ file, line, ...splitParts(node) });
    if (isRegExpCall(node)) {
      const source = createSource(node.arguments?.[0], constants);
      const flags = node.arguments?.[1];
      if (source === null) unseen.push({ file, line });
      else
        patterns.push({
          file,
          line,
          source,
          flags: flags !== undefined && ts.isStringLiteralLike(flags) ? flags.text : '',
        });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { patterns, unseen };
}

function isRegExpCall(node: ts.Node): node is ts.NewExpression | ts.CallExpression {
  return (
    (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === 'RegExp'
  );
}

function splitParts({ text }: ts.RegularExpressionLiteral): { source: string; flags: string } {
  const end = text.lastIndexOf('/');
  return { source: text.slice(1, end), flags: text.slice(end + 1) };
}

type Constants = ReadonlyMap<string, ts.Expression>;

function collectConstants(tree: ts.SourceFile): Constants {
  const all = tree.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations]);
  return new Map(
    all.flatMap(({ name, initializer }) =>
      ts.isIdentifier(name) && initializer !== undefined ? [[name.text, initializer] as const] : [],
    ),
  );
}

/**
 * Returns the source of a pattern as far as the file determines it. Returns null if it is built from a list
 * or comes from elsewhere.
 */
function createSource(node: ts.Expression | undefined, constants: Constants): string | null {
  if (node === undefined) return null;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isRegularExpressionLiteral(node)) return splitParts(node).source;
  if (isRegExpCall(node)) return createSource(node.arguments?.[0], constants);
  if (ts.isIdentifier(node)) return createSource(constants.get(node.text), constants);
  if (ts.isPropertyAccessExpression(node) && node.name.text === 'source')
    return createSource(node.expression, constants);
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return joinSources([node.left, node.right], '', constants);
  const list = listToJoin(node);
  if (list !== null) return joinSources(list.items, list.separator, constants);
  if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'String.raw')
    return composeTemplate(node.template, ({ rawText = '' }) => rawText, constants);
  return ts.isTemplateExpression(node) ? composeTemplate(node, ({ text }) => text, constants) : null;
}

/** Joins the parts of a pattern. Returns null if one of them is unknown. */
function joinSources(
  parts: readonly ts.Expression[],
  separator: string,
  constants: Constants,
): string | null {
  const sources = parts.map((part) => createSource(part, constants));
  return sources.includes(null) ? null : sources.join(separator);
}

/** Returns the items and the separator of `[…].join('…')`. */
function listToJoin(node: ts.Expression) {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return null;
  const { name, expression: list } = node.expression;
  const separator = node.arguments[0];
  if (name.text !== 'join' || !ts.isArrayLiteralExpression(list)) return null;
  return separator !== undefined && ts.isStringLiteralLike(separator)
    ? { items: list.elements, separator: separator.text }
    : null;
}

function composeTemplate(
  node: ts.TemplateLiteral,
  read: (part: ts.TemplateLiteralLikeNode) => string,
  constants: Constants,
): string | null {
  if (ts.isNoSubstitutionTemplateLiteral(node)) return read(node);
  let source = read(node.head);
  for (const { expression, literal } of node.templateSpans) {
    // A parameter of a function can only be plain text. A constant, or an expression, can be any pattern.
    const filled =
      createSource(expression, constants) ??
      (ts.isIdentifier(expression) && !constants.has(expression.text) ? HOLE : null);
    if (filled === null) return null;
    source += filled + read(literal);
  }
  return source;
}
