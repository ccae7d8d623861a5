import { describe, expect, it } from 'vitest';
import { createRunLimiter } from '../../src/lib/resilience.ts';

const signal = new AbortController().signal;
const settled = () => new Promise((done) => setTimeout(done, 5));

/** Work that lasts until it is let go. */
function createHeldWork() {
  const running = new Set<string>();
  const gates = new Map<string, () => void>();
  const work = (name: string) => async () => {
    running.add(name);
    await new Promise<void>((resolve) => gates.set(name, resolve));
    running.delete(name);
    return name;
  };
  return { work, running: () => [...running].sort(), end: (name: string) => gates.get(name)?.() };
}

describe('a limit for each owner', () => {
  it('runs a fixed number at once, and the others in order', async () => {
    const { work, running, end } = createHeldWork();
    const limiter = createRunLimiter(2);
    const all = ['a', 'b', 'c', 'd'].map((name) => limiter.run('one', signal, work(name)));
    await settled();
    expect(running()).toEqual(['a', 'b']);
    end('b');
    await settled();
    expect(running()).toEqual(['a', 'c']);
    end('a');
    await settled();
    expect(running()).toEqual(['c', 'd']);
    end('c');
    end('d');
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('lets no owner wait for another', async () => {
    const { work, running, end } = createHeldWork();
    const limiter = createRunLimiter(1);
    const both = [limiter.run('one', signal, work('a')), limiter.run('two', signal, work('b'))];
    await settled();
    expect(running()).toEqual(['a', 'b']);
    end('a');
    end('b');
    await Promise.all(both);
  });

  it('releases its slot after a failure, and lets a waiting caller give up', async () => {
    const { work, running, end } = createHeldWork();
    const limiter = createRunLimiter(1);
    const controller = new AbortController();
    const broken = limiter.run('one', signal, async () => {
      await settled();
      throw new Error('broken');
    });
    const leaving = limiter.run('one', controller.signal, work('left'));
    const last = limiter.run('one', signal, work('last'));
    controller.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    await expect(broken).rejects.toThrow('broken');
    await settled();
    expect(running()).toEqual(['last']);
    end('last');
    await last;
    expect(await limiter.run('one', signal, async () => 'free again')).toBe('free again');
  });
});
