import { parentPort, workerData } from 'node:worker_threads';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { vector } from '@electric-sql/pglite-pgvector';
import { z } from 'zod';

/**
 * The thread in which the embedded database runs: bytes of PostgreSQL's protocol come in, and its replies go
 * back in the same order.
 */
const Data = z.object({
  dataDir: z.string(),
  compiled: z.custom<NonNullable<PGliteOptions['pgliteWasmModule']>>(),
});
const { dataDir, compiled } = Data.parse(workerData);
const lite = await PGlite.create({ dataDir, pgliteWasmModule: compiled, extensions: { vector, pg_trgm } });

let before: Promise<unknown> = Promise.resolve();
parentPort?.on('message', (request: Uint8Array | 'close') => {
  // An error that PostgreSQL reports is a reply; what throws here is a database that has broken, and ends the
  // thread.
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
