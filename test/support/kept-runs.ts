import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import type { Database } from '../../src/ports/database.ts';

/**
 * Everything that the checkpointer stored of one run, from its first node to its end. Bytes are in base64.
 */
export const KeptRun = z.object({
  madeBy: z.string(),
  thread: z.string(),
  checkpoints: z.array(
    z.object({
      checkpoint_id: z.string(),
      parent_checkpoint_id: z.string().nullable(),
      checkpoint: z.json(),
      metadata: z.json(),
    }),
  ),
  blobs: z.array(
    z.object({ channel: z.string(), version: z.string(), type: z.string(), blob: z.string().nullable() }),
  ),
  writes: z.array(
    z.object({
      checkpoint_id: z.string(),
      task_id: z.string(),
      idx: z.int(),
      channel: z.string(),
      type: z.string(),
      blob: z.string(),
    }),
  ),
});
export type KeptRun = z.infer<typeof KeptRun>;

const FOLDER = new URL('../fixtures/recordings/', import.meta.url);

export function readKeptRun(name: string): KeptRun {
  return KeptRun.parse(
    JSON.parse(gunzipSync(readFileSync(new URL(`${name}.json.gz`, FOLDER))).toString('utf8')),
  );
}

/** Returns the contents of the checkpointer's tables for a thread. */
export async function dumpRun(db: Pick<Database, 'query'>, thread: string, madeBy: string): Promise<KeptRun> {
  const rows = (columns: string, table: string, order: string) =>
    db.query(`select ${columns} from checkpoints.${table} where thread_id = $1 order by ${order}`, [thread]);
  const bytes = `encode(blob, 'base64') as blob`;
  return KeptRun.parse({
    madeBy,
    thread,
    checkpoints: await rows(
      'checkpoint_id, parent_checkpoint_id, checkpoint, metadata',
      'checkpoints',
      'checkpoint_id',
    ),
    blobs: await rows(`channel, version, type, ${bytes}`, 'checkpoint_blobs', 'channel, version'),
    writes: await rows(
      `checkpoint_id, task_id, idx, channel, type, ${bytes}`,
      'checkpoint_writes',
      'checkpoint_id, task_id, idx',
    ),
  });
}

/**
 * Restores the run in the tables to its state when the process died after `checkpoints` of them. With
 * `pending`, includes what the next node had already written.
 */
export async function loadRun(
  db: Pick<Database, 'query'>,
  run: KeptRun,
  checkpoints: number,
  pending: boolean,
): Promise<void> {
  const kept = run.checkpoints.slice(0, checkpoints);
  const last = kept.at(-1)?.checkpoint_id ?? '';
  const writes = run.writes.filter(({ checkpoint_id: id }) => id < last || (pending && id === last));
  for (const table of ['checkpoint_writes', 'checkpoint_blobs', 'checkpoints'])
    await db.query(`delete from checkpoints.${table} where thread_id = $1`, [run.thread]);
  await db.query(LOAD_CHECKPOINTS, [run.thread, { rows: kept }]);
  await db.query(LOAD_BLOBS, [run.thread, { rows: run.blobs }]);
  await db.query(LOAD_WRITES, [run.thread, { rows: writes }]);
}

const LOAD_CHECKPOINTS = `
  insert into checkpoints.checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
  select $1, '', r.checkpoint_id, r.parent_checkpoint_id, r.checkpoint, r.metadata from jsonb_to_recordset($2::jsonb -> 'rows')
    as r (checkpoint_id text, parent_checkpoint_id text, checkpoint jsonb, metadata jsonb)`;

const LOAD_BLOBS = `
  insert into checkpoints.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
  select $1, '', r.channel, r.version, r.type, decode(r.blob, 'base64') from jsonb_to_recordset($2::jsonb -> 'rows')
    as r (channel text, version text, type text, blob text)`;

const LOAD_WRITES = `
  insert into checkpoints.checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
  select $1, '', r.checkpoint_id, r.task_id, r.idx, r.channel, r.type, decode(r.blob, 'base64') from jsonb_to_recordset($2::jsonb -> 'rows')
    as r (checkpoint_id text, task_id text, idx integer, channel text, type text, blob text)`;
