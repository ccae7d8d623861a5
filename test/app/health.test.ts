import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Backends, createReadiness, listBackendChecks } from '../../src/app/health.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { Config } from '../../src/config/schema.ts';
import { type Check, type Finding, note, ok, wrong } from '../../src/ports/health.ts';
import { createRecordingLogger, type LogLine } from '../support/http-deps.ts';

const check = (
  name: string,
  ask: () => Promise<string | Finding | Finding[]>,
  more: Partial<Check> = {},
): Check => ({
  name,
  remedy: 'look at it',
  freshMs: 0,
  ask: async () => {
    const found = await ask();
    return typeof found === 'string' ? ok(name, found) : found;
  },
  ...more,
});
const refused = async () => {
  throw new Error('connect ECONNREFUSED postgres://faultline:hunter2hunter2@db:5432');
};

function make(checks: readonly Check[], mask?: (text: string) => Promise<string>) {
  const lines: LogLine[] = [];
  const clock = { now: () => Date.parse('2026-11-22T07:00:00.000Z') };
  return {
    lines,
    readiness: createReadiness(checks, {
      logger: createRecordingLogger(lines),
      clock,
      ...(mask && { mask }),
    }),
  };
}

describe('readiness', () => {
  it('is reported as long as builds can be accepted, whatever else is down', async () => {
    const { readiness } = make([
      check('database', async () => 'postgres answers'),
      check('jobQueue', refused),
      check('github', async () => note('github', '3 calls left', 'wait')),
    ]);
    expect(await readiness()).toMatchObject({
      ok: true,
      degraded: ['jobQueue', 'github'],
      backends: {
        database: { state: 'ok' },
        jobQueue: { state: 'down' },
        github: { state: 'degraded', says: '3 calls left' },
      },
    });
    expect(
      (await make([check('database', refused), check('jobQueue', async () => 'well')]).readiness()).ok,
    ).toBe(false);
  });

  it('includes advice for each backend that is down, under its name', async () => {
    const found = [wrong('github app', 'it is installed nowhere', 'install it'), ok('github', 'reachable')];
    const { readiness } = make([check('github app', async () => found, { backend: 'github' })]);
    expect((await readiness()).backends.github).toMatchObject({
      state: 'down',
      says: 'it is installed nowhere',
      remedy: 'install it',
    });
  });

  it('treats a backend with a wrong clock as degraded', async () => {
    const found = [
      wrong('gitlab clock', 'it is 900 s ahead of this machine', 'synchronize both'),
      ok('gitlab', 'version 18.1'),
    ];
    const { backends } = await make([check('gitlab', async () => found)]).readiness();
    expect(backends.gitlab).toMatchObject({ state: 'degraded', says: 'it is 900 s ahead of this machine' });
  });

  it('T28: is refused within its limit if the database does not respond', async () => {
    const { readiness } = make([check('database', () => new Promise(() => undefined), { limitMs: 20 })]);
    expect(await readiness()).toMatchObject({
      ok: false,
      backends: { database: { state: 'down', says: 'no answer within 0.02 s' } },
    });
  });

  it('checks a backend once for many probes, and not again while the result is fresh', async () => {
    let asked = 0;
    const ask = async () => {
      asked += 1;
      await sleep(5);
      return 'well';
    };
    const { readiness } = make([check('database', ask, { freshMs: 60_000 })]);
    await Promise.all(Array.from({ length: 50 }, readiness));
    await readiness();
    expect(asked).toBe(1);
  });

  it('returns the last known state while an optional backend hangs', async () => {
    let hangs = false;
    const ask = () => (hangs ? new Promise<never>(() => undefined) : Promise.resolve('well'));
    const { readiness } = make([check('archive', ask, { limitMs: 30 })]);
    await readiness();
    hangs = true;
    expect((await readiness()).backends.archive?.state).toBe('ok');
    await sleep(60);
    expect((await readiness()).backends.archive?.state).toBe('down');
  });

  it('writes one log line for each change, and none without a change', async () => {
    let away = false;
    const ask = async () => (away ? refused() : 'well');
    const { readiness, lines } = make([check('database', ask)]);
    for (const now of [false, false, true, true, true, false, false]) {
      away = now;
      await readiness();
    }
    expect(lines.map(({ level, fields, message }) => [level, fields.backend, message])).toEqual([
      ['warn', 'database', 'no build can be accepted'],
      ['info', 'database', 'a backend is available again'],
    ]);
  });

  it("reveals no secret from a driver's message, and shows nothing if masking fails", async () => {
    const { readiness, lines } = make([check('database', refused)], async (text) =>
      text.replace('hunter2hunter2', '***'),
    );
    expect((await readiness()).backends.database?.says).toBe(
      'connect ECONNREFUSED postgres://faultline:***@db:5432',
    );
    expect(JSON.stringify(lines)).not.toContain('hunter2');
    const failing = make([check('database', refused)], async () => Promise.reject(new Error('no mask')));
    expect(JSON.stringify([await failing.readiness(), failing.lines])).not.toContain('hunter2');
  });
});

describe('the disk of an embedded database', () => {
  it.each([
    [0, 'ok'],
    [1e9, 'down'],
  ])('with a floor of %i MB is %s', async (minFreeMegabytes, state) => {
    const preset = createEmbeddedPreset(tmpdir(), tmpdir());
    const config = Config.parse({
      ...preset,
      database: { driver: 'pglite', dataDir: tmpdir() },
      disk: { minFreeMegabytes },
    });
    const checks = listBackendChecks({ config, vectorIndex: { driver: 'pgvector' } } as Backends).filter(
      ({ name }) => name === 'disk',
    );

    const { ok: isReady, backends } = await make(checks).readiness();

    expect(isReady).toBe(state === 'ok');
    expect(backends.disk).toMatchObject({ state, says: expect.stringMatching(/[MG]B free/) });
  });
});
