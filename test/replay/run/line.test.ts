import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLine } from '../../../src/replay/run/replay.ts';

describe('parallel work', () => {
  it('is returned in the order in which it was begun, and a slow item delays no other', async () => {
    const order: number[] = [];
    const ended: number[] = [];
    const others = Promise.withResolvers<void>();
    const work = async (index: number) => {
      if (index === 0) await others.promise;
      ended.push(index);
      if (ended.length === 5) others.resolve();
      return index;
    };
    const line = createLine<number>(2, (done) => void order.push(done));
    for (let index = 0; index < 6; index++) {
      await line.room();
      await line.add(work(index));
    }
    expect(await line.end()).toBe(6);
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    expect(ended.at(-1)).toBe(0);
  });

  it('reports a failed item without ending the process', async () => {
    const order: number[] = [];
    const line = createLine<number>(4, (done) => void order.push(done));
    await line.add(Promise.resolve(1));
    await line.add(failAfter(10, 'it burst'));
    await line.add(failAfter(5, 'nobody waits for this one'));
    await expect(line.end()).rejects.toThrow('it burst');
    expect(order).toEqual([1]);
  });
});

async function failAfter(milliseconds: number, words: string): Promise<number> {
  await sleep(milliseconds);
  throw new Error(words);
}
