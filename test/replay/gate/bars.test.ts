import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openGate } from '../../../src/replay/gate-bars.ts';
import { findNearestName } from '../../../src/replay/nearest-name.ts';
import { toFailedResult } from '../../../src/replay/run/results.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-bars-'));

describe('a file of bars', () => {
  it('is read with its baseline, which is next to it', async () => {
    writeFileSync(join(FOLDER, 'baseline.jsonl'), JSON.stringify(toFailedResult('a', 'burst', 1)));
    const bars = [{ figure: 'category accuracy', worseBy: 0.02 }];
    const gate = await openGate(writeFileWith({ schema: 1, baseline: 'baseline.jsonl', bars }));
    expect(gate.bars).toEqual([{ figure: 'category accuracy', worseBy: 0.02, noise: 'interval' }]);
    expect([...(gate.baseline?.results.keys() ?? [])]).toEqual(['a']);
  });

  it.each([
    ['no JSON', '{', /is not JSON/],
    ['another schema', { schema: 2, bars: [{ figure: 'x', atLeast: 1 }] }, /schema: /],
    ['no bars', { schema: 1, bars: [] }, /bars: /],
    [
      'a bar without a number',
      { schema: 1, bars: [{ figure: 'x' }] },
      /bars\.0: set exactly one of atLeast, atMost and worseBy/,
    ],
    [
      'a bar with two',
      { schema: 1, bars: [{ figure: 'x', atLeast: 1, atMost: 1 }] },
      /bars\.0: set exactly one/,
    ],
    [
      'a misspelt key',
      { schema: 1, bars: [{ figure: 'x', atleast: 1 }] },
      /bars\.0: Unrecognized key: "atleast"/,
    ],
    [
      'worseBy without a baseline',
      { schema: 1, bars: [{ figure: 'x', worseBy: 0 }] },
      /baseline: a bar uses worseBy/,
    ],
    [
      'a baseline that is not there',
      { schema: 1, baseline: 'none.jsonl', bars: [{ figure: 'x', worseBy: 0 }] },
      /none\.jsonl does not exist/,
    ],
  ])('is refused: %s', async (_name, content, sentence) => {
    await expect(openGate(writeFileWith(content))).rejects.toThrow(sentence);
  });

  it('is refused if it does not exist', async () => {
    await expect(openGate(join(FOLDER, 'nothing.json'))).rejects.toThrow(
      /--gate: .*nothing\.json cannot be read/,
    );
  });
});

describe('a suggestion for an unknown figure', () => {
  it.each([
    ['category macro F1', 'category macro-F1'],
    ['Category Accuracy', 'category accuracy'],
    ['quotations literaly in the log', 'quotations literally in the log'],
    ['weather', null],
  ])('for %s is %s', (name, meant) => {
    expect(
      findNearestName(name, ['category macro-F1', 'category accuracy', 'quotations literally in the log']),
    ).toBe(meant);
  });
});

function writeFileWith(content: object | string): string {
  const path = join(FOLDER, 'bars.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}
