import { createStores } from '../../src/stores/stores.ts';
import { testStoresContract } from '../contract/stores-contract.ts';
import { openEmbeddedDatabase } from '../support/pglite.ts';

testStoresContract('pglite', async () => {
  const db = await openEmbeddedDatabase();
  const now = { value: Date.now() };
  const stores = createStores(db, { now: () => now.value });
  return { db, stores, now, dispose: db.dispose };
});
