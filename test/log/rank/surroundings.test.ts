import { describe, expect, it } from 'vitest';
import { classifyRole } from '../../../src/log/line-roles.ts';
import { type Candidate, measureSurroundings, SURROUNDINGS } from '../../../src/log/rank/features.ts';
import type { Structure } from '../../../src/log/sections.ts';

const TEXT = `+ plumb verify
table amber agrees
error: 2 tables differ:

  - table cedar has no column reed
  - table delta has no column slate
exit code 3`;

const lines = TEXT.split('\n').map((text, i): Candidate => ({ line: i + 1, text, role: classifyRole(text) }));
const structure: Structure = { failedSections: [], exits: [], afterwards: [], hasSteps: false, echoes: [] };
const rows = measureSurroundings(
  lines,
  lines.map(({ text }) => text.startsWith('error')),
  structure,
);

describe('features of a line from its surroundings', () => {
  it('distinguish a heading from the list below it', () => {
    expect(['head', 'alikeAbove', 'alikeBelow'].map((fact) => findMeasured(fact, 5))).toEqual([3, 0, 1]);
    expect(['head', 'alikeAbove', 'alikeBelow'].map((fact) => findMeasured(fact, 6))).toEqual([3, 1, 0]);
  });

  it('count paragraphs, not lines', () => {
    expect([3, 5, 6].map((line) => findMeasured('paragraphPlace', line))).toEqual([2, 0, 1]);
    expect(findMeasured('paragraphsAfter', 3)).toBe(1);
    expect(findMeasured('paragraphsAfter', 5)).toBe(0);
  });

  it('count possible causes before and after a line, and those that mention a failure', () => {
    expect(findMeasured('causesBefore', 3)).toBe(1);
    expect(findMeasured('causesAfter', 3)).toBeCloseTo(Math.log2(3));
    expect(['severeBefore', 'severeAfter'].map((fact) => findMeasured(fact, 5))).toEqual([1, 0]);
  });

  it('include the words of the command that was shown', () => {
    const own = [
      ...lines.slice(0, 6),
      { line: 7, text: 'plumb: cannot verify', role: classifyRole('plumb: cannot verify') },
    ];
    const told = measureSurroundings(
      own,
      own.map(() => false),
      structure,
    );
    expect(told[6 * SURROUNDINGS.length + SURROUNDINGS.indexOf('asCommand')]).toBe(2);
    expect(findMeasured('asCommand', 5)).toBe(0);
  });
});

function findMeasured(fact: string, line: number): number | undefined {
  return rows[(line - 1) * SURROUNDINGS.length + (SURROUNDINGS as readonly string[]).indexOf(fact)];
}
