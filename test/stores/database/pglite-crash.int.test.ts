import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPglite } from '../../../src/stores/database/pglite.ts';
import { copyTestDatabase } from '../../support/pglite.ts';
import { THOROUGH } from '../../support/thorough.ts';

const ROUNDS = THOROUGH ? 6 : 2;
/** When a process that makes the directory is killed, in milliseconds after its start. */
const KILLED_AFTER = THOROUGH ? [700, 1500, 2200, 2700, 3200] : [1500];
const WRITER = fileURLToPath(new URL('crash-writer.ts', import.meta.url));

interface Writer {
  readonly child: ChildProcess;
  /** Whole lines it has printed so far. */
  lines(): string[];
}

describe('PGlite after kill -9', () => {
  let folder: string;
  let dataDir: string;
  const started: ChildProcess[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faultline-crash-'));
    dataDir = join(folder, 'database');
  });
  afterEach(async () => {
    for (const child of started.splice(0)) await kill(child);
    await rm(folder, { recursive: true, force: true });
  });

  function startWriter(): Writer {
    const child = spawn(process.execPath, [WRITER, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    started.push(child);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    return { child, lines: () => output.split('\n').slice(0, -1) };
  }

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  async function waitUntilReady(writer: Writer): Promise<void> {
    await expect.poll(() => writer.lines()[0], { timeout: 240_000, interval: 20 }).toBe('ready');
  }

  it('T71: loses no acknowledged row, and the next process takes over the lock', {
    timeout: 240_000,
  }, async () => {
    await copyTestDatabase(dataDir);
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const writer = startWriter();
      await waitUntilReady(writer);
      await expect.poll(() => writer.lines().length, { timeout: 240_000, interval: 5 }).toBeGreaterThan(10);
      await delay(Math.random() * 700);
      await kill(writer.child);
      acknowledged.push(...writer.lines().slice(1));
    }

    const db = await openPglite({ dataDir });
    const rows = await db.query<{ id: string }>(
      `select delivery_id as id from deliveries where source = 'crash'`,
    );
    await db.close();

    const kept = new Set(rows.map((row) => row.id));
    expect(acknowledged.length).toBeGreaterThan(8 * ROUNDS);
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    // At most the one row of each round that was committed but not yet acknowledged.
    expect(kept.size - acknowledged.length).toBeLessThanOrEqual(ROUNDS);
  });

  it('survives a kill while the directory is first created', { timeout: 240_000 }, async () => {
    for (const milliseconds of KILLED_AFTER) {
      const writer = startWriter();
      await delay(milliseconds);
      await kill(writer.child);
    }

    const db = await openPglite({ dataDir });
    await db.migrate();
    expect(
      (await db.query<{ count: number }>('select count(*) from deliveries'))[0]?.count,
    ).toBeGreaterThanOrEqual(0);
    await db.close();
  });

  it('T70: refuses a second process with the PID of the first, and accepts it once that is dead', async () => {
    await copyTestDatabase(dataDir);
    const writer = startWriter();
    await waitUntilReady(writer);

    const refused = openPglite({ dataDir });
    await expect(refused).rejects.toMatchObject({ code: 'locked', details: { pid: writer.child.pid } });
    await expect(refused).rejects.toThrow(`process ${writer.child.pid}`);
    const before = writer.lines().length;
    await expect.poll(() => writer.lines().length).toBeGreaterThan(before);
    await kill(writer.child);

    const db = await openPglite({ dataDir });
    expect(
      (await db.query<{ count: number }>('select count(*) from deliveries'))[0]?.count,
    ).toBeGreaterThanOrEqual(before - 1);
    await db.close();
  });

  it('gives the directory of a dead process to one of several', async () => {
    await copyTestDatabase(dataDir);
    const first = startWriter();
    await waitUntilReady(first);
    await kill(first.child);

    const racers = [startWriter(), startWriter(), startWriter()];
    await expect
      .poll(() => racers.every((racer) => racer.lines().length > 0), { timeout: 60_000 })
      .toBe(true);

    const words = racers.map((racer) => racer.lines()[0]?.split(' ')[0]).toSorted();
    expect(words).toEqual(['locked', 'locked', 'ready']);
  });
});
