import { describe, expect, it } from 'vitest';
import { removeNonCode } from '../../../src/tools/code/code-only.ts';
import { findLanguage } from '../../../src/tools/code/languages.ts';

function keepCode(path: string, ...lines: string[]): string[] {
  const lexis = findLanguage(path)?.lexis;
  if (lexis === undefined) throw new Error(`no language for ${path}`);
  return removeNonCode(lines, lexis).map((line) => line.replace(/ +/g, ' ').trim());
}

describe('code without comments and strings', () => {
  it('keeps what a string inserts, in the languages whose strings do', () => {
    expect(keepCode('a.py', 'print(f"at {name(path)!r} or {{no}} {x}", "{no}")')).toEqual([
      'print(f" name(path)!r x ", " ")',
    ]);
    expect(keepCode('a.ts', `say(\`of $\{one({ a: \`$\{two()}\` })} no\`, "$\{no}")`)).toEqual([
      'say(` one({ a: ` two() ` }) `, " ")',
    ]);
    expect(keepCode('a.rb', 'puts "a #{one("x")} no", \'#{no}\'')).toEqual(['puts " one(" ") ", \' \'']);
    expect(keepCode('a.java', `say("$\{no}");`)).toEqual(['say(" ");']);
    expect(keepCode('a.cs', 'Say($"{one(1)} no", "{no}");')).toEqual(['Say($" one(1) ", " ");']);
  });

  it('ends inserted code with its line where the string does, and goes on over lines where it may', () => {
    expect(keepCode('a.py', 'a = f"{broken', 'b = real()')).toEqual(['a = f" broken', 'b = real()']);
    expect(keepCode('a.ts', `a = \`$\{one(`, ')} no', '` + two()')).toEqual(['a = ` one(', ')', '` + two()']);
  });
});
