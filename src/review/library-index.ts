import { answers, type LibraryEntry, vectorOf } from '../domain/library.ts';
import type { LibraryStore } from '../ports/library.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { VectorIndex } from '../ports/vector-index.ts';

export interface LibraryIndexDeps {
  readonly library: Pick<LibraryStore, 'list'>;
  readonly vectorIndex: VectorIndex;
  readonly logger: Logger;
}

const PAGE = 200;

/**
 * Makes the `error_library` namespace say what the store says: the newest entry of each fingerprint in each repository that may answer
 * is put in where it is missing, everything else is taken out. For start-up; safe to run at any time and twice. Throws what index or store throw.
 */
export async function syncLibraryIndex(deps: LibraryIndexDeps, signal?: AbortSignal): Promise<{ indexed: number; removed: number }> {
  // The index is read first: what a decision adds meanwhile is then never taken for a stray.
  const present = new Set((await deps.vectorIndex.list('error_library')).map(({ id }) => id));
  const wanted = new Map((await newestEntries(deps.library)).map((entry) => [entry.id, entry]));
  const missing = [...wanted.values()].filter(({ id }) => !present.has(id));
  const stray = [...present].filter((id) => !wanted.has(id));
  if (stray.length > 0) await deps.vectorIndex.remove('error_library', stray);
  for (let from = 0; from < missing.length; from += PAGE) {
    await deps.vectorIndex.upsert('error_library', missing.slice(from, from + PAGE).map(vectorOf), signal);
  }
  deps.logger.info({ indexed: missing.length, removed: stray.length }, 'error library index is in step');
  return { indexed: missing.length, removed: stray.length };
}

async function newestEntries(library: LibraryIndexDeps['library']): Promise<LibraryEntry[]> {
  const newest = new Map<string, LibraryEntry>();
  for await (const entry of allEntries(library)) {
    if (!answers(entry)) continue;
    const key = JSON.stringify([entry.repository, entry.fingerprint.value]);
    const known = newest.get(key);
    if (known === undefined || isNewer(entry, known)) newest.set(key, entry);
  }
  return [...newest.values()];
}

async function* allEntries(library: LibraryIndexDeps['library']): AsyncGenerator<LibraryEntry> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await library.list({ limit: PAGE, offset });
    yield* page;
    if (page.length < PAGE) return;
  }
}

function isNewer(one: LibraryEntry, other: LibraryEntry): boolean {
  return one.confirmedAt === other.confirmedAt ? one.id > other.id : one.confirmedAt > other.confirmedAt;
}
