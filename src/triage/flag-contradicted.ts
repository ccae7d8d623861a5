import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Build } from '../domain/build.ts';
import { debtsWithout } from '../domain/library.ts';
import { standsIn } from '../log/green/stands-in.ts';
import type { Database } from '../ports/database.ts';
import type { GreenLog, Stores } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';

export interface FlagDeps {
  readonly database: Pick<Database, 'transaction'>;
  readonly stores: Pick<Stores, 'library' | 'vectorDebts'>;
  readonly logger: Pick<Logger, 'info'>;
}

/** Entries of a repository that a green build is compared with: the newest. */
const MAX_ENTRIES = 500;
/** Entries compared between two turns. */
const TURN = 50;

/**
 * Flags what people taught and a green build says too: a line that passes does not tell why another build failed. A flagged entry
 * answers no more, in recall and in search, until a person lets it stay. A build counts once, however often it is told.
 */
export async function flagContradicted(build: Build, logs: readonly GreenLog[], deps: FlagDeps): Promise<void> {
  const { library, vectorDebts } = deps.stores;
  const hit: string[] = [];
  for (const [number, { id, telling }] of (await library.telling(build.repository, MAX_ENTRIES)).entries()) {
    if (number % TURN === TURN - 1) await nextTurn();
    if (logs.some(({ templates }) => standsIn(telling, [templates]))) hit.push(id);
  }
  if (hit.length === 0) return;
  await deps.database.transaction(async (sql) => {
    for (const entry of await library.flag(hit, { buildId: build.id, at: build.receivedAt }, sql)) {
      const answering = await library.recall({ fingerprint: entry.fingerprint.value, repository: entry.repository }, sql);
      await vectorDebts.owe(debtsWithout(entry, answering), sql);
      deps.logger.info({ entryId: entry.id, buildId: build.id }, 'library entry flagged: a green build says the same');
    }
  });
}
