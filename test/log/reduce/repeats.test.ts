import { describe, expect, it } from 'vitest';
import { readSources } from '../../../src/log/read-sources.ts';

describe('a repeated line', () => {
  const log = `${Array.from({ length: 400 }, (_, i) => `ERROR: node ${i} could not be reached\nwaiting a little\nand a little more\nstill waiting`).join('\n')}\nsrc/a.c:3:1: error: expected ';'\n`;
  const { excerpts } = readSources([{ name: 'log', kind: 'log', text: log, notes: [] }], {
    budgetTokens: 300,
  });

  it('is counted instead of shown each time', () => {
    const counted = excerpts.filter(({ reason }) => reason.includes('400 times'));
    expect(counted).toHaveLength(1);
    expect(counted[0]?.text).toContain('ERROR: node 0 could not be reached');
  });

  it('leaves space for lines that are printed once', () => {
    expect(excerpts.some(({ text }) => text.includes("error: expected ';'"))).toBe(true);
  });
});
