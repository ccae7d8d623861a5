import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateLog } from '../../../scripts/parts/bench/bench-logs.ts';
import { PAGE, searchLog, type Wanted } from '../../../src/console/logs/search.ts';
import { stripEscapes } from '../../../src/log/lines/clean.ts';
import { createMemoryArchive } from '../../../src/stores/archive/memory.ts';

const { signal } = new AbortController();

async function archived(text: string) {
  const archive = createMemoryArchive();
  await archive.put('bld_1', { name: 'build.log', kind: 'log', text, notes: [] });
  return archive;
}

async function search(text: string, wanted: Partial<Wanted> & { readonly text: string }) {
  const archive = await archived(text);
  return await searchLog(
    archive,
    { buildId: 'bld_1', name: 'build.log' },
    { matchCase: false, from: 1, ...wanted },
    { signal },
  );
}

describe('searching a log', () => {
  it('counts as many lines as grep', async () => {
    const text = stripEscapes(generateLog(1_000_000));
    for (const word of ['error', 'FAILED', 'src/', 'e', '[', '.*', 'no such thing']) {
      const grep = execFileSync('bash', ['-c', 'grep -ciF -- "$1" || true', 'bash', word], { input: text })
        .toString()
        .trim();
      expect((await search(text, { text: word })).total).toBe(Number(grep));
    }
  });

  it('finds what split would find, with its line numbers', async () => {
    const piece = fc.oneof(
      fc.constantFrom('\n', 'a', 'B', 'Ab', 'ß', 'Ä', '\r'),
      fc.string({ maxLength: 2 }),
    );
    const word = fc.constantFrom('a', 'ab', 'bA', 'ä', 'ß', 'B\r');
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 60 }),
        word,
        fc.boolean(),
        async (pieces, text, matchCase) => {
          const whole = pieces.join('').replaceAll('\u001b', '');
          const holds = (line: string) =>
            matchCase ? line.includes(text) : line.toLowerCase().includes(text.toLowerCase());
          const lines = whole.replaceAll('\0', '\ufffd').split('\n');
          const expected = lines.flatMap((line, at) => (holds(line) ? [{ line: at + 1, text: line }] : []));
          const found = await search(whole, { text, matchCase });
          expect(found).toEqual({ total: expected.length, hits: expected.slice(0, PAGE), endedAt: null });
        },
      ),
    );
  });

  it('reaches every hit, one page at a time', async () => {
    const text = Array.from({ length: 20_000 }, (_, at) => (at % 2 === 1 ? `error ${at + 1}` : 'fine')).join(
      '\n',
    );
    const found = await search(text, { text: 'ERROR', from: 4_951 });
    expect(found.total).toBe(10_000);
    expect(found.hits.map(({ line }) => line)).toEqual(
      Array.from({ length: 100 }, (_, at) => 2 * (4_951 + at)),
    );
    expect((await search(text, { text: 'error', from: 9_999 })).hits.map(({ line }) => line)).toEqual([
      19_998, 20_000,
    ]);
    expect((await search(text, { text: 'error', from: 10_001 })).hits).toEqual([]);
  });

  it('ignores colors, and does not match inside them', async () => {
    const text = 'one\n\u001b[31mFA\u001b[1mIL\u001b[0m two\n\u001b[31mthree';
    expect((await search(text, { text: 'fail two' })).hits).toEqual([{ line: 2, text: text.split('\n')[1] }]);
    expect((await search(text, { text: '31m' })).total).toBe(0);
    expect((await search(text, { text: 'three' })).hits[0]?.line).toBe(3);
  });

  it('shows the part of a long line around the term, in its original form', async () => {
    const { hits } = await search(`${'x'.repeat(40_000)} The Word ${'y'.repeat(40_000)}`, {
      text: 'the word',
    });
    expect(hits[0]).toMatchObject({ line: 1 });
    expect(hits[0]?.text).toContain('The Word');
    expect(hits[0]?.text.length).toBeLessThan(5_000);
  });

  it('stops when the client disconnects', async () => {
    const archive = await archived('x\n'.repeat(10_000));
    const gone = AbortSignal.abort(new Error('gone'));
    const of = { buildId: 'bld_1', name: 'build.log' };
    await expect(
      searchLog(archive, of, { text: 'x', matchCase: false, from: 1 }, { signal: gone }),
    ).rejects.toThrow('gone');
  });

  it('states how far it searched when the time limit was reached', async () => {
    const archive = await archived('x\n'.repeat(10_000));
    const of = { buildId: 'bld_1', name: 'build.log' };
    const found = await searchLog(
      archive,
      of,
      { text: 'x', matchCase: false, from: 1 },
      { signal, limitMs: -1 },
    );
    expect(found).toMatchObject({ total: 1000, endedAt: 1000 });
  });

  it('finds nothing in an empty log', async () => {
    expect(await search('', { text: 'x' })).toMatchObject({ total: 0 });
    expect(await search('x', { text: '' })).toMatchObject({ total: 0 });
  });
});
