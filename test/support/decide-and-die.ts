import { systemClock } from '../../src/lib/time.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { decideReview } from '../../src/service/review/decide.ts';
import { openPglite } from '../../src/stores/database/pglite.ts';
import { createStores } from '../../src/stores/stores.ts';

/**
 * Runs a process that accepts one review, and kills itself with SIGKILL at the named failpoint.
 *
 * node test/support/decide-and-die.ts <database directory> <failpoint> <review>
 */
const [dataDir = '', deadly = '', reviewId = ''] = process.argv.slice(2);

const database = await openPglite({ dataDir });
const stores = createStores(database, systemClock);
const deps = { database, stores, masker: createMasker(), clock: systemClock, logger: silentLogger };
const failpoint = (name: string) => {
  if (name === deadly) process.kill(process.pid, 'SIGKILL');
};
await decideReview(
  { ...deps, failpoint },
  { reviewId, version: 1, reviewer: 'ada', input: { type: 'accept' } },
);
