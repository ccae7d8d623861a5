import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Analysis } from '../../src/domain/analysis.ts';
import { WorkItem } from '../../src/domain/work.ts';
import { BARE, SCRIPT_OPTIONS } from '../support/bare-environment.ts';
import { findWalkError } from '../support/graph-walk.ts';
import { startLoopback } from '../support/loopback-server.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { startPostgres, withoutPostgres } from '../support/postgres.ts';
import { withSettings } from '../support/settings.ts';
import { THOROUGH } from '../support/thorough.ts';

const SCRIPT = resolve(import.meta.dirname, '../support/die-at.ts');
/** A failure that the rules are sure of: its answer is told without a person. */
const SLUG = 'receipt-snapshot';
const NODES = ['classify', 'reason', 'select_tool', 'execute_tool', 'observe', 'generate_answer', 'verify'];
const AROUND = [
  'claimed',
  ...NODES,
  'concluding',
  'concluded',
  'finished',
  'work-taken',
  'work-handled',
  'work-finished',
];
/** Where processes die on each database; in a short run some of them, others on each. */
const PLACES = THOROUGH
  ? {
      embedded: AROUND,
      postgres: AROUND.filter((place) => !NODES.includes(place) || place === 'reason' || place === 'verify'),
    }
  : {
      embedded: ['execute_tool', 'work-handled'],
      postgres: ['claimed', 'concluding', 'work-handled', 'work-finished'],
    };

const Told = z.object({
  analyses: z.array(Analysis),
  reviews: z.int(),
  entries: z.array(WorkItem),
  job: z.string(),
  checkpoints: z.int(),
});

/** Starts a process that dies at the place, and waits for its end. */
async function dieAt(place: string, dataDir: string, environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [...SCRIPT_OPTIONS, SCRIPT, dataDir, place, SLUG], {
    env: { ...BARE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
    killSignal: 'SIGABRT',
  });
  let [said, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code, signal] = await once(child, 'close');
  return { code, signal, errors, lines: said.split('\n').filter((line) => line !== '') };
}

/** Kills the work on one failure at each place in turn: each process goes on where the one before it died. */
async function killAtEach(
  places: readonly string[],
  dataDir: string,
  database: Readonly<Record<string, string>>,
) {
  // Busy at first, so that nothing is told before it is the turn of what is told.
  let busy = true;
  const accepted: string[] = [];
  const receiver = await startLoopback((request, response) => {
    if (!busy) accepted.push(String(request.headers['webhook-id']));
    response.writeHead(busy ? 503 : 204).end();
  });
  const environment = {
    ...database,
    FAULTLINE_PUBLISH_WEBHOOK_URL: receiver.url,
    FAULTLINE_PUBLISH_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    // It is no fault of this failure that its process dies.
    ...withSettings({ triage: { leaseMs: 1000, maxCrashes: 100 }, channels: { timeoutMs: 500 } }),
  };
  const nodes: string[] = [];
  for (const place of places) {
    busy = !place.startsWith('work-');
    const { signal, errors, lines } = await dieAt(place, dataDir, environment);
    expect(signal, `${place}: ${errors}`).toBe('SIGKILL');
    nodes.push(...lines);
  }
  const { code, errors, lines } = await dieAt('nowhere', dataDir, environment);
  expect(code, errors).toBe(0);
  await receiver.close();
  nodes.push(...lines.slice(0, -1));
  return { nodes, accepted, ...Told.parse(JSON.parse(lines.at(-1) ?? '')) };
}

function expectOnce({
  nodes,
  accepted,
  analyses,
  reviews,
  entries,
  job,
  checkpoints,
}: Awaited<ReturnType<typeof killAtEach>>): void {
  expect(analyses).toHaveLength(1);
  const [{ id, steps } = { id: '', steps: [] }] = analyses;
  expect(findWalkError(steps)).toBeNull();
  // Together the processes finished each node once.
  expect(nodes).toEqual(steps.map((step) => step.node));
  expect(entries.map(({ key, outcome }) => `${key} ${outcome}`).toSorted()).toEqual([
    `log:${id} done`,
    `webhook:${id} done`,
  ]);
  // The process that died between call and row told it first, the next one again, by the same name.
  expect(accepted).toEqual([`webhook:${id}`, `webhook:${id}`]);
  expect({ reviews, job, checkpoints }).toEqual({ reviews: 0, job: 'done', checkpoints: 0 });
}

describe('T01: after kill -9 between any two writes', () => {
  it('on the embedded database, each process continues where the previous one died', {
    timeout: 240_000,
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'faultline-failpoint-'));
    await copyTestDatabase(join(folder, 'database'));
    expectOnce(await killAtEach(PLACES.embedded, folder, {}));
    await rm(folder, { recursive: true, force: true });
    console.info(
      `embedded: ${PLACES.embedded.length} kills, 1 analysis of record, 1 message by its id; lost: 0, nodes repeated: 0`,
    );
  });

  it.skipIf(withoutPostgres)(
    'on PostgreSQL, each process continues where the previous one died',
    { timeout: 240_000 },
    async () => {
      const server = await startPostgres();
      const folder = await mkdtemp(join(tmpdir(), 'faultline-failpoint-'));
      const url = await server.createMigrated();
      expectOnce(
        await killAtEach(PLACES.postgres, folder, {
          FAULTLINE_DATABASE_URL: url,
        }),
      );
      await server.dispose();
      await rm(folder, { recursive: true, force: true });
      console.info(
        `PostgreSQL: ${PLACES.postgres.length} kills, 1 analysis of record, 1 message by its id; lost: 0, nodes repeated: 0`,
      );
    },
  );
});
