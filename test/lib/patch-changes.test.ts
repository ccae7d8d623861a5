import { describe, expect, test } from 'vitest';
import { findChangedRange, formatChange, readChanges } from '../../src/lib/patch-changes.ts';

const PATCH = [
  '@@ -10,6 +10,5 @@ function total',
  ' a',
  ' b',
  '-c',
  '-d',
  '+e',
  ' f',
  ' g',
  '@@ -40,2 +39,3 @@',
  ' x',
  '+y',
  ' z',
].join('\n');

describe('the changes of a patch', () => {
  test('are its hunks, with their lines in both files', () => {
    const around = { before: ['a', 'b'], after: ['f', 'g'] };
    expect(readChanges(PATCH)).toEqual([
      { removed: ['c', 'd'], added: ['e'], ...around, newLine: 12, oldLine: 12 },
      { removed: [], added: ['y'], before: ['x'], after: ['z'], newLine: 40, oldLine: 41 },
    ]);
  });

  test('can be written as hunks and read again', () => {
    const changes = readChanges(PATCH);
    expect(readChanges(changes.map(formatChange).join('\n'))).toEqual(changes);
  });

  test('cover their added lines, or the line after a removal', () => {
    const patch = ['@@ -5,3 +5,1 @@', ' a', '-b', '-c', '@@ -20,0 +18,2 @@', '+d', '+e'].join('\n');
    expect(readChanges(patch).map(findChangedRange)).toEqual([
      [6, 6],
      [18, 19],
    ]);
  });

  test.each(['', 'no patch', 'modified: +1 −2 lines, no patch', '-- a\n++ b'])('are empty in %j', (text) => {
    expect(readChanges(text)).toEqual([]);
  });
});
