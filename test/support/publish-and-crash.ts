import { createAnswerHandler } from '../../src/channels/handlers.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { openPglite } from '../../src/stores/database/pglite.ts';
import { createStores } from '../../src/stores/stores.ts';
import { startWorker } from '../../src/work/worker.ts';
import { createCommentPublisher } from './comment-server.ts';

/**
 * A process that publishes pending comments, and kills itself with SIGKILL at the named failpoint.
 *
 *   node test/support/publish-and-crash.ts <database directory> <failpoint> <address of the comments>
 */
const [dataDir = '', failpoint = '', url = ''] = process.argv.slice(2);

const database = await openPglite({ dataDir });
const stores = createStores(database, systemClock);
await stores.work.reclaim();
startWorker({
  work: stores.work,
  handlers: [createAnswerHandler('comments', createCommentPublisher(url), { stores, timeLimitMs: 5_000 })],
  masker: createMasker(),
  logger: silentLogger,
  intervalMs: 100,
  failpoint: (name) => {
    if (name === failpoint) process.kill(process.pid, 'SIGKILL');
  },
});
// Keeps the process alive until it dies. The test ends a process that never reaches the failpoint.
setTimeout(() => undefined, 60_000);
