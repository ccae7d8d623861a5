import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/time.ts';
import type { TokenStore } from '../ports/access.ts';
import { createStores } from '../store/stores.ts';
import { openDatabase } from './open-adapters.ts';

/** The tokens of a database, which is opened for them alone: neither queue nor archive need to be there. */
export async function openTokens(config: Config): Promise<{ readonly tokens: TokenStore; close(): Promise<void> }> {
  const { database } = await openDatabase(config);
  try {
    await database.migrate();
    return { tokens: createStores(database, systemClock).tokens, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
}
