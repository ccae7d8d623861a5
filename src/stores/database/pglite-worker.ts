import { parentPort, workerData } from 'node:worker_threads';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { vector } from '@electric-sql/pglite-pgvector';
import { z } from 'zod';

/**
 * The messages to the thread of the embedded database. Bytes of PostgreSQL's protocol come in, and the
 * replies go back in the same order.
 */
const Data = z.object({
  dataDir: z.string(),
  compiled: z.custom<NonNullable<PGliteOptions['pgliteWasmModule']>>(),
});
const { dataDir, compiled } = Data.parse(workerData);
const lite = await PGlite.create({ dataDir, pgliteWasmModule: compiled, extensions: { vector, pg_trgm } });

let before: Promise<unknown> = Promise.resolve();
parentPort?.on('message', (request: Uint8Array | 'close') => {
  // An error that PostgreSQL reports is a reply. An exception here means that the database is broken, and
  // ends the thread.
  before = before.then(() => (request === 'close' ? close() : answer(request)));
});
parentPort?.postMessage('ready');

async function answer(request: Uint8Array): Promise<void> {
  parentPort?.postMessage(await lite.execProtocolRaw(request));
}

async function close(): Promise<void> {
  await lite.close();
  parentPort?.close();
}
