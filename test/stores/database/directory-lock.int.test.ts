import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDirectory, processSpace, processStart } from '../../../src/stores/database/directory-lock.ts';

describe('the lock of a data directory', () => {
  let folder: string;
  let directory: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faultline-lock-'));
    directory = join(folder, 'database');
  });
  afterEach(async () => rm(folder, { recursive: true, force: true }));

  async function leaveLock(change: object): Promise<void> {
    const holder = {
      pid: process.pid,
      started: processStart(process.pid),
      space: processSpace(),
      token: 'left',
      since: '2026-01-01T00:00:00Z',
    };
    await mkdir(directory, { recursive: true });
    await writeFile(`${directory}.lock`, JSON.stringify({ ...holder, ...change }));
  }

  /** Of a process that has ended. */
  function createDeadPid(): number {
    return spawnSync(process.execPath, ['-e', '']).pid;
  }

  it('is held by one process, refused to others with the PID, and removed on release', async () => {
    const lock = await lockDirectory(directory);

    await expect(lockDirectory(directory)).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining(String(process.pid)),
      details: { pid: process.pid },
    });
    await lock.release();
    await lock.release();

    await (await lockDirectory(directory)).release();
    expect(await readdir(folder)).toEqual(['database']);
  });

  it('is taken over from a dead process', async () => {
    await leaveLock({ pid: createDeadPid(), started: '1' });

    const lock = await lockDirectory(directory);

    expect(JSON.parse(await readFile(`${directory}.lock`, 'utf8'))).toMatchObject({ pid: process.pid });
    await lock.release();
    expect(await readdir(folder)).toEqual(['database']);
  });

  it('is taken over if the PID now belongs to another process', async () => {
    await leaveLock({ pid: process.pid, started: 'long ago' });

    await (await lockDirectory(directory)).release();
  });

  it('is taken over by exactly one of many processes at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      await leaveLock({ pid: createDeadPid(), started: '1', token: `left-${round}` });

      const racers = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(directory)));

      const winners = racers.filter((racer) => racer.status === 'fulfilled');
      expect(winners.length).toBeLessThanOrEqual(1);
      // All may lose to each other at the guard; whoever tries next gets it.
      const lock = winners[0]?.value ?? (await lockDirectory(directory));
      await expect(lockDirectory(directory)).rejects.toMatchObject({ code: 'locked' });
      await lock.release();
    }
  });

  it('is taken over even if a process died during a takeover', async () => {
    await leaveLock({ pid: createDeadPid(), started: '1', token: 'first' });
    const halfDone = {
      pid: createDeadPid(),
      started: '1',
      space: processSpace(),
      token: 'second',
      since: '',
    };
    await writeFile(`${directory}.lock.first`, JSON.stringify(halfDone));

    const lock = await lockDirectory(directory);
    await lock.release();

    expect(await readdir(folder)).toEqual(['database']);
  });

  it('of a process that is not visible is judged by its heartbeat', async () => {
    await leaveLock({ pid: 1, started: '1', space: 'another machine' });
    const beat = setInterval(() => void utimes(`${directory}.lock`, new Date(), new Date()), 20);
    try {
      await expect(lockDirectory(directory, 300)).rejects.toMatchObject({
        code: 'locked',
        details: { pid: 1 },
      });
    } finally {
      clearInterval(beat);
    }

    await delay(50);
    await (await lockDirectory(directory, 300)).release();
  });

  it('that cannot be read is also judged by its heartbeat', async () => {
    await mkdir(directory);
    await writeFile(`${directory}.lock`, '{"pid": 12');

    await (await lockDirectory(directory, 100)).release();
  });

  it('is the same by any path to the directory', async () => {
    const lock = await lockDirectory(directory);

    await expect(lockDirectory(join(folder, '.', 'x', '..', 'database'))).rejects.toMatchObject({
      code: 'locked',
    });
    await lock.release();
  });

  it('reports what to do if the directory cannot be created', async () => {
    await writeFile(join(folder, 'file'), '');

    await expect(lockDirectory(join(folder, 'file', 'database'))).rejects.toMatchObject({
      code: 'storage-failed',
    });
  });
});
