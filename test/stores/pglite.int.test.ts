import { createStores } from '../../src/stores/stores.ts';
import { storesContract } from '../contract/stores-contract.ts';
import { openEmbeddedDatabase } from '../support/pglite.ts';

storesContract('pglite', async () => {
  const db = await openEmbeddedDatabase();
  const now = { value: Date.now() };
  const stores = createStores(db, { now: () => now.value });
  return { db, stores, now, dispose: db.dispose };
});
