import { createPinoLogger } from '../../../src/adapters/logger/pino.ts';
import { buildHttp } from '../../../src/api/server.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { createBullmqWakeUp } from '../../../src/work/drivers/bullmq.ts';
import { createLocalWakeUp } from '../../../src/work/drivers/local.ts';
import { createWorkNotifier } from '../../../src/work/notifier.ts';
import { createEmptyHttpDeps, TEST_CONFIG, withSecrets } from '../../../test/support/http-deps.ts';
import { openBenchDatabase } from './ingest-database.ts';

/**
 * Faultline's own API and delivery processor, as they are served, with the log at its usual level; the worker is elsewhere.
 * What no webhook touches (the archive, the index, the graph) is left out.
 *
 *   node scripts/parts/bench/ingest-ours.ts <postgres://… | PGlite directory> <secret> [redis://…]
 */
const [place = '', secret = '', redis] = process.argv.slice(2);
const database = await openBenchDatabase(place);
const logger = createPinoLogger('info');
const stores = createStores(database, systemClock);
const { work } = stores;
const wakeUp =
  redis === undefined
    ? createLocalWakeUp({ database, work })
    : await createBullmqWakeUp({
        url: redis,
        prefix: 'faultline-bench',
        logger,
        concurrency: 1,
        rank: work.rank,
      });
const notifier = createWorkNotifier({ wakeUp, logger });
const app = await buildHttp(
  createEmptyHttpDeps({
    database,
    logger,
    notifier,
    clock: systemClock,
    stores,
    config: { ...TEST_CONFIG, providers: withSecrets({ github: [secret] }) },
  }),
);
console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
process.on('message', async () => process.send?.((await stores.deliveries.backlog()).landed));
