import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

test('no call spreads a list of unlimited length, because 120,000 arguments overflow the stack', () => {
  const files = globSync('{src,graphs,prompts,scripts,action/src}/**/*.{ts,js}', { cwd: ROOT });
  expect(files.length).toBeGreaterThan(500);
  expect(files.flatMap((file) => findSpreads(file, readFileSync(resolve(ROOT, file), 'utf8')))).toEqual([]);
});

test.each([
  ['list.push(...more);', 1],
  ['new Set().add(Math.max(0, ...numbers));', 1],
  ['const call = (...more) => list.push(...more.map(read));', 1],
  ['const call = (...more) => other(...more);', 0],
  ['function call(first, ...more) { if (first) return () => other(...more); }', 0],
  ["const STATES = ['red', 'green'] as const; count(...STATES);", 0],
])('the check counts spreads correctly: %s: %i', (text, count) => {
  expect(findSpreads('some.ts', text)).toHaveLength(count);
});

function findSpreads(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const call = node.parent;
    if (
      ts.isSpreadElement(node) &&
      (ts.isCallExpression(call) || ts.isNewExpression(call)) &&
      !isBounded(node.expression, source)
    ) {
      found.push(`${file}:${source.getLineAndCharacterOfPosition(node.pos).line + 1} ${node.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** What came as arguments of a call fits into another, and so does a list that is written out at the top of the file. */
function isBounded(expression: ts.Expression, source: ts.SourceFile): boolean {
  if (!ts.isIdentifier(expression)) return false;
  const isNamed = ({ name }: { readonly name: ts.Node }) => name.getText() === expression.text;
  for (let node: ts.Node = expression; node.parent !== undefined; node = node.parent)
    if (
      ts.isFunctionLike(node) &&
      node.parameters.some((parameter) => parameter.dotDotDotToken !== undefined && isNamed(parameter))
    )
      return true;
  return source.statements.some(
    (statement) =>
      ts.isVariableStatement(statement) &&
      statement.declarationList.declarations.some(
        (declaration) =>
          isNamed(declaration) &&
          declaration.initializer !== undefined &&
          isWrittenOut(declaration.initializer),
      ),
  );
}

function isWrittenOut(list: ts.Expression): boolean {
  if (ts.isAsExpression(list)) return isWrittenOut(list.expression);
  return ts.isArrayLiteralExpression(list) && !list.elements.some(ts.isSpreadElement);
}
