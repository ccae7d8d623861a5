import { describe, expect, it } from 'vitest';
import { findComment, listDefinitions } from '../../../src/tools/code/definitions.ts';

const read = (path: string, text: string) =>
  listDefinitions(path, text.split('\n')).map(
    ({ kind, container, name, line, lineEnd }) =>
      `${line}-${lineEnd} ${kind} ${container === null ? '' : `${container}.`}${name}`,
  );

describe('definitions in a file', () => {
  it('are found in JavaScript and TypeScript, despite types in braces, regular expressions and strings', () => {
    const text = [
      "import { a } from './a';",
      "const fs = require('node:fs');",
      'export function read({ path }: { path: string }): { text: string } {',
      `  return { text: \`\${path} } {\` };`,
      '}',
      'const QUOTE = /["\'`{]/',
      'export class Cart {',
      '  #total = 0;',
      '  add(item, count = 1) {',
      '    if (count > 1) this.add(item, count - 1);',
      '  }',
      '}',
      'test("function fake() {", function () {',
      '  // function hidden() {',
      '});',
      'const double = (n) => n * 2;',
    ].join('\n');
    expect(read('src/cart.ts', text)).toEqual([
      '3-5 function read',
      '6-6 constant QUOTE',
      '7-12 class Cart',
      '9-11 method Cart.add',
      '16-16 function double',
    ]);
  });

  it('are the members of enumerations too, but not the arguments in them', () => {
    const java = [
      'public enum Mode {',
      '    /** Quotes all. */',
      '    ALL,',
      '    SOME(Limits.HALF,',
      '        OTHER),',
      '    NONE;',
      '    void run() {',
      '        ALL;',
      '    }',
      '}',
    ].join('\n');
    expect(read('Mode.java', java)).toEqual([
      '1-10 class Mode',
      '3-3 constant Mode.ALL',
      '4-4 constant Mode.SOME',
      '6-6 constant Mode.NONE',
      '7-9 method Mode.run',
    ]);
    expect(read('a.rs', 'pub enum Op {\n    Exact,\n    Caret { major: u64 },\n}')).toEqual([
      '1-4 type Op',
      '2-2 constant Op.Exact',
      '3-3 constant Op.Caret',
    ]);
  });

  it('belong to the type of an impl block with its own spacing', () => {
    expect(read('a.rs', 'impl <T, F> Drain<T, F>\n    where F: Copy,\n{\n    fn keep(self) {}\n}')).toEqual([
      '4-4 function Drain.keep',
    ]);
  });

  it('are found in Python by indentation, and not in a docstring', () => {
    const text = [
      'class Session:',
      '    """A session.',
      '',
      '    def fake():',
      '    """',
      '',
      '    def request(self, method, url,',
      '                data=None):',
      '        """Sends a request."""',
      '        return method',
      '',
      'def get(url):',
      '    # Gets it.',
      '    return url',
      'LIMIT = 3',
    ];
    expect(read('a.py', text.join('\n'))).toEqual([
      '1-10 class Session',
      '7-10 method Session.request',
      '12-14 function get',
      '15-15 constant LIMIT',
    ]);
    expect(findComment('a.py', text, { line: 7, lineEnd: 10 })).toEqual({ lineStart: 9, lineEnd: 9 });
  });

  it('are found in Go, Rust and Java, with the type of each method', () => {
    const go =
      'package a\n\n// Run runs it.\nfunc (c *Command) Run() error {\n\treturn nil\n}\n\ntype Command struct {\n\tname string\n}';
    expect(read('a.go', go)).toEqual(['4-6 method Command.Run', '8-10 type Command']);
    const rust =
      "impl<'a> Parser<'a> {\n    pub fn next(&mut self) -> Option<char> {\n        Some('{')\n    }\n}\npub(crate) enum Op { Exact }";
    expect(read('a.rs', rust)).toEqual(['2-4 function Parser.next', '6-6 type Op']);
    const java =
      'public final class Gson {\n  /** Reads. */\n  @Deprecated\n  public <T> T fromJson(String json, Class<T> type)\n      throws IOException {\n    return null;\n  }\n}';
    expect(read('Gson.java', java)).toEqual(['1-8 class Gson', '4-7 method Gson.fromJson']);
    expect(findComment('Gson.java', java.split('\n'), { line: 4, lineEnd: 7 })).toEqual({
      lineStart: 2,
      lineEnd: 2,
    });
  });

  it('have their doc comment, also above a blank line, but not the comment that begins the file', () => {
    const text = [
      '/**',
      ' * Everything about carts.',
      ' */',
      '',
      'function first () {',
      '}',
      '',
      '/**',
      ' * Adds an item.',
      ' */',
      '',
      'function add () {',
      '}',
      '',
      '/* eslint-disable */',
      '',
      'function remove () {',
      '}',
      '',
      'module.exports = class Cart extends Base {',
      '}',
    ];
    const found = listDefinitions('cart.js', text);
    expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'function first',
      'function add',
      'function remove',
      'class Cart',
    ]);
    expect(found.map((definition) => findComment('cart.js', text, definition))).toEqual([
      null,
      { lineStart: 8, lineEnd: 10 },
      null,
      null,
    ]);
  });

  it('are absent in an unknown language, and in a generated line', () => {
    expect(read('a.xyz', 'function a() {}')).toEqual([]);
    expect(read('a.js', `function a() {}${' '.repeat(600)}`)).toEqual([]);
  });
});
