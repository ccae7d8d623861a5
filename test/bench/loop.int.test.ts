import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBlameCases } from '../../scripts/parts/bench/loop/blame-cases.ts';
import type { LoopCase } from '../../scripts/parts/bench/loop/case.ts';
import { type OpenedDesign, openDesign } from '../../scripts/parts/bench/loop/designs.ts';
import { createHistoryCases } from '../../scripts/parts/bench/loop/history-cases.ts';
import { createKnownCases } from '../../scripts/parts/bench/loop/known-cases.ts';
import {
  CASE_MEASURES,
  compareCost,
  compareMeans,
  type PairedAnswer,
} from '../../scripts/parts/bench/loop/measures.ts';
import { openWorld, type World } from '../../scripts/parts/bench/loop/world.ts';

let folder = '';
let world: World;
let designs: Readonly<Record<'linear' | 'loop', OpenedDesign>>;
let pairs: PairedAnswer[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'faultline-loop-'));
  const all = [createBlameCases(folder), createHistoryCases(), createKnownCases()].flat();
  // One whose line a commit wrote, one that lasts, one that a document names, and one that a person decided.
  const names = ['invoice-totals', 'disk-of-runner', 'vaultctl-lease', 'ledger-db-refused'];
  const cases = all.filter(({ name }) => names.includes(name));
  world = await openWorld(join(folder, 'world'), cases);
  designs = {
    linear: await openDesign('linear', world, folder),
    loop: await openDesign('loop', world, folder),
  };
  pairs = [];
  for (const loopCase of cases) pairs.push(await answerTwice(loopCase));
}, 300_000);
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

async function answerTwice(loopCase: LoopCase): Promise<PairedAnswer> {
  const build = await world.getBuild(loopCase);
  const linear = await designs.linear.answer(build, loopCase.log);
  const loop = await designs.loop.answer(build, loopCase.log);
  expect(await designs.loop.isProved(loopCase), loopCase.name).toBe(true);
  return { one: loopCase, linear, loop };
}

describe('the loop compared with the linear baseline, on cases with repositories, history and documents', () => {
  it('finds the commit that wrote the failing line, which the baseline cannot find', () => {
    const measure = CASE_MEASURES.find(({ name }) => name === 'suspect: the commit at fault is first');
    if (measure === undefined) throw new Error('There is no such measure.');
    expect(compareMeans(measure, pairs)).toMatchObject({ cases: 1, linear: 0, loop: 1, won: 1, tied: 0 });
  });

  it('takes the fix from the right source, and loses no case to the baseline', () => {
    const measure = CASE_MEASURES.find(({ name }) => name === 'fix names its right source');
    if (measure === undefined) throw new Error('There is no such measure.');
    const compared = compareMeans(measure, pairs);
    expect(compared).toMatchObject({ cases: 4, lost: 0 });
    expect(compared?.loop).toBe(1);
    expect(compared?.won).toBeGreaterThan(0);
  });

  it('counts equal results as ties', () => {
    const [category] = CASE_MEASURES;
    if (category === undefined) throw new Error('There is no measure.');
    const twice = pairs.map((pair) => ({ ...pair, linear: pair.loop }));
    expect(compareMeans(category, twice)).toMatchObject({ won: 0, tied: 4, lost: 0, interval: null });
  });

  it('makes more calls than the two of the baseline', () => {
    const { linear, ratio } = compareCost(pairs)['tool calls'];
    expect(linear).toBe(2);
    expect(ratio).toBeGreaterThan(1.5);
  });
});
