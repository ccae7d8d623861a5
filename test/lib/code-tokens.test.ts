import { describe, expect, test } from 'vitest';
import { readTokens } from '../../src/lib/code-tokens.ts';
import { readAlterations } from '../../src/lib/patch-changes.ts';

function countAlterations(path: string, ...lines: readonly string[]): number {
  return readAlterations(['@@ -10,9 +10,9 @@', ...lines].join('\n'), path).length;
}

describe('a change that leaves the same code tokens', () => {
  test.each([
    ['a.js', 'white space', ['-  x = hook(x);', '+  x = hook( x )', ' }']],
    ['a.ts', 'other quotes', [`-log('it\\'s', "b");`, `+log("it's", 'b');`]],
    [
      'a.ts',
      'a call that was broken up',
      ['-f(a, {', '+f(', '+  a,', '+  {', ' x: 1', '-});', '+  },', '+);'],
    ],
    ['a.js', 'a return that was broken up', ['-if (a) { return; }', '+if (a) {', '+  return', '+}']],
    [
      'a.py',
      'a dictionary over three lines',
      ['-    return {"a": 1}', '+    return {', '+        "a": 1,', '+    }'],
    ],
    [
      'a.py',
      'lines inside brackets',
      ['-    a,', '-    b)', '+        a,', '+        b,', '+    )', ' y = 1'],
    ],
    [
      'a.py',
      'wider indentation',
      [' def f():', '-  if x:', '-    return 1', '+    if x:', '+        return 1'],
    ],
    ['a.yml', 'other quotes and indentation', [' a:', "-  b: 'x'", '-  c: 2', '+    b: "x"', '+    c: 2']],
    ['a.go', 'alignment and a comment', ['-\tTotal int', '+\tTotal    int // All.']],
    ['a.rb', 'a plain string', ["-x = 'ab'", '+x = "ab" # Both.']],
    ['a.php', 'an array', ["-$x = ['a' => 1];", '+$x = [', "+    'a' => 1,", '+];']],
    ['a.java', 'a block comment', ['-/* One', '-   line. */', ' int x;']],
    ['a.sh', 'white space', ['-echo  a # Says a.', '+echo a']],
  ])('is recognized in %s: %s', (path, _what, lines) => {
    expect(countAlterations(path, ...lines)).toBe(0);
  });
});

describe('a change that leaves other code tokens', () => {
  test.each([
    ['a.go', 'a comparison', ['-i < length', '+i <= length']],
    ['a.js', 'a string', ["-x = 'a b'", "+x = 'a  b'"]],
    ['a.js', 'a return without its value', ['-return x', '+return', '+  x']],
    ['a.py', 'a line that left its block', ['   for x in y:', '     t += x', '-    return t', '+  return t']],
    ['a.py', 'a tuple', ['-x = (1,)', '+x = (1)']],
    ['a.yml', 'a key in another map', [' k:', '   a: 1', '-  b: 2', '+    b: 2']],
    ['a.rb', 'a string that is filled', ["-x = 'a#{b}'", '+x = "a#{b}"']],
    ['a.java', 'a character and a string', ["-x = 'a'", '+x = "a"']],
    ['a.json', 'a comma too many', ['-[1]', '+[1,]']],
    ['a.sh', 'two commands in one', ['-a', '-b', '+a b']],
    ['Makefile', 'what is no known language', ['-\ta', '+        a']],
    ['a.go', 'a comment for the compiler', ['-//go:build linux', ' package a']],
  ])('is recognized in %s: %s', (path, _what, lines) => {
    expect(countAlterations(path, ...lines)).toBe(1);
  });
});

describe('text that is not code', () => {
  test.each([
    ['a.ts', '"\\'],
    ['a.py', '\n)'],
    ['a.py', '\n a'],
    ['a.js', 'return\n'],
  ])('is read in one pass: %s, %j', (path, piece) => {
    const read = (times: number) => readTokens(piece.repeat(times).split('\n'), path);
    // Were it read again from each of its starts, this would not end.
    expect(read(200_000).length).toBeGreaterThan(0);
  });

  test('with an unclosed string is compared up to its last character', () => {
    expect(countAlterations('a.ts', `-log("pears`, `+log("pearl`)).toBe(1);
  });
});
