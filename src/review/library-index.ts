import type { LibraryEntry } from '../domain/library.ts';
import type { Logger } from '../ports/logger.ts';
import type { LibraryStore } from '../ports/stores.ts';
import type { OwedVector } from '../ports/vector-debts.ts';
import type { VectorIndex, VectorItem } from '../ports/vector-index.ts';

export interface LibraryIndexDeps {
  readonly library: LibraryStore;
  readonly vectorIndex: VectorIndex;
  readonly logger: Logger;
}

const PAGE = 200;

/** What the index is owed for a new entry: the entry itself, and that the one which it replaces is taken out. */
export function debtsOf(entry: LibraryEntry, replacedId: string | null): OwedVector[] {
  const { id, text, metadata } = itemOf(entry);
  const gone = replacedId === null ? [] : [{ namespace: 'error_library' as const, id: replacedId, item: null }];
  return [{ namespace: 'error_library', id, item: { text, metadata } }, ...gone];
}

/**
 * Makes the `error_library` namespace say what the store says: the newest entry of each fingerprint in each repository is
 * put in where it is missing, everything else is taken out. For start-up; safe to run at any time and twice. Throws what index or store throw.
 */
export async function syncLibraryIndex(deps: LibraryIndexDeps, signal?: AbortSignal): Promise<{ indexed: number; removed: number }> {
  // The index is read first: what a decision adds meanwhile is then never taken for a stray.
  const present = new Set((await deps.vectorIndex.list('error_library')).map(({ id }) => id));
  const wanted = new Map((await newestEntries(deps.library)).map((entry) => [entry.id, entry]));
  const missing = [...wanted.values()].filter(({ id }) => !present.has(id));
  const stray = [...present].filter((id) => !wanted.has(id));
  if (stray.length > 0) await deps.vectorIndex.remove('error_library', stray);
  for (let from = 0; from < missing.length; from += PAGE) {
    await deps.vectorIndex.upsert('error_library', missing.slice(from, from + PAGE).map(itemOf), signal);
  }
  deps.logger.info({ indexed: missing.length, removed: stray.length }, 'error library index is in step');
  return { indexed: missing.length, removed: stray.length };
}

async function newestEntries(library: LibraryStore): Promise<LibraryEntry[]> {
  const newest = new Map<string, LibraryEntry>();
  for await (const entry of allEntries(library)) {
    const key = JSON.stringify([entry.repository, entry.fingerprint.value]);
    const known = newest.get(key);
    if (known === undefined || isNewer(entry, known)) newest.set(key, entry);
  }
  return [...newest.values()];
}

async function* allEntries(library: LibraryStore): AsyncGenerator<LibraryEntry> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await library.list({ limit: PAGE, offset });
    yield* page;
    if (page.length < PAGE) return;
  }
}

function isNewer(one: LibraryEntry, other: LibraryEntry): boolean {
  return one.confirmedAt === other.confirmedAt ? one.id > other.id : one.confirmedAt > other.confirmedAt;
}

/** What search compares with is the failing line and excerpt; the person's answer travels as metadata. */
function itemOf(entry: LibraryEntry): VectorItem {
  const { id, message, fingerprint, repository, category, kind, title, rootCause, fixRecommendation, confirmedBy, confirmedAt } = entry;
  return {
    id,
    text: message,
    metadata: {
      entryId: id,
      fingerprint: fingerprint.value,
      repository,
      category,
      kind,
      title,
      rootCause,
      fixRecommendation,
      confirmedBy,
      confirmedAt,
      analysisId: entry.analysisId,
    },
  };
}
