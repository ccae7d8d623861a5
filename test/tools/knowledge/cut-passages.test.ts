import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../src/log/reduce/tokens.ts';
import type { DocumentBlock, DocumentPlace } from '../../../src/ports/knowledge.ts';
import { cutPassages } from '../../../src/tools/knowledge-service.ts';

const said = (text: string, place: DocumentPlace = {}): DocumentBlock => ({ text, heading: null, place });
const heading = (text: string, level: number, place: DocumentPlace = {}): DocumentBlock => ({
  text,
  heading: level,
  place,
});
const cut = (...blocks: DocumentBlock[]) => cutPassages({ format: 'text', title: null, blocks, notes: [] });
const sentences = (count: number) =>
  Array.from({ length: count }, (_, index) => `Sentence number ${index} speaks of the agent.`).join(' ');

describe('cutting a document', () => {
  it('cuts at headings first, and cites their path', () => {
    const passages = cut(
      heading('Disk', 1),
      said('Full.'),
      heading('Fix', 2),
      said('Prune.'),
      said('Wait.'),
      heading('Cache', 1),
      said('Warm.'),
    );

    expect(passages).toEqual([
      { position: 1, place: 'Disk', text: 'Disk\n\nFull.' },
      { position: 2, place: 'Disk › Fix', text: 'Disk › Fix\n\nPrune.\n\nWait.' },
      { position: 3, place: 'Cache', text: 'Cache\n\nWarm.' },
    ]);
  });

  it('cites pages, slides and rows; a sheet repeats the names of its columns', () => {
    const rows = Array.from({ length: 120 }, (_, index) =>
      said(`E${index} | restart the agent and tell the platform team`, { sheet: 'A', row: index + 2 }),
    );
    const passages = cut(
      said('Page text', { page: 3 }),
      heading('Plan', 2, { slide: 2 }),
      said('Do it', { slide: 2 }),
      said('Code | Fix', { sheet: 'A', row: 1 }),
      ...rows,
    );

    expect(passages.slice(0, 2).map(({ place }) => place)).toEqual(['page 3', 'slide 2: Plan']);
    expect(passages[2]?.place).toMatch(/^sheet A, rows 1–\d+$/);
    expect(passages[3]?.text.startsWith('Code | Fix\nE')).toBe(true);
    expect(passages.at(-1)?.place).toMatch(/–121$/);
  });

  it('makes passages of about 500 tokens with some overlap, and loses nothing', () => {
    const text = sentences(400);
    const passages = cut(heading('Long', 1), said(text));

    expect(passages.length).toBeGreaterThan(5);
    for (const passage of passages) expect(countTokens(passage.text)).toBeLessThan(580);
    for (let index = 0; index < 400; index += 1)
      expect(passages.some((passage) => passage.text.includes(`number ${index} speaks`))).toBe(true);
    const [first = '', second = ''] = passages.map((passage) => passage.text);
    expect(
      second
        .split('\n\n')[1]
        ?.split('. ')
        .some((sentence) => first.includes(sentence)),
    ).toBe(true);
  });

  it('cuts text without places to cut at, and keeps a document of headings only', () => {
    const passages = cut(said('x9'.repeat(5_000)));
    expect(passages.map(({ text }) => text).join('')).toHaveLength(10_000);
    for (const { text } of passages) expect(countTokens(text)).toBeLessThan(700);

    expect(cut(heading('Only', 1), heading('Headings', 2))).toEqual([
      { position: 1, place: 'Only › Headings', text: 'Only › Headings' },
    ]);
  });

  it('refuses an endless document', () => {
    const blocks = Array.from({ length: 4_001 }, (_, index) => said('x', { page: index + 1 }));

    expect(() => cut(...blocks)).toThrow(expect.objectContaining({ code: 'too-large' }));
  });
});
