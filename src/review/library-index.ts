import type { LibraryEntry } from '../domain/library.ts';
import type { Logger } from '../ports/logger.ts';
import type { LibraryStore } from '../ports/stores.ts';
import type { VectorIndex, VectorItem } from '../ports/vector-index.ts';

export interface LibraryIndexDeps {
  readonly library: LibraryStore;
  readonly vectorIndex: VectorIndex;
  readonly logger: Logger;
}

const PAGE = 200;

/**
 * Puts one entry where near-match search finds it, and takes the entry out that it replaces. Never throws: the entry is
 * committed and recalled by its fingerprint already; what failed here is owed until `syncLibraryIndex` runs.
 */
export async function indexEntry(
  deps: LibraryIndexDeps,
  entry: LibraryEntry,
  replacedId: string | null,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await deps.vectorIndex.upsert('error_library', [itemOf(entry)], signal);
    if (replacedId !== null) await deps.vectorIndex.remove('error_library', [replacedId]);
    return true;
  } catch (error) {
    deps.logger.error({ entryId: entry.id, error }, 'library entry is not indexed yet; the next start will do it');
    return false;
  }
}

/**
 * Makes the `error_library` namespace say what the store says: the newest entry of each fingerprint is in, replaced ones are
 * out. For start-up; safe to run at any time and twice. Throws what the index or the store throws.
 */
export async function syncLibraryIndex(deps: LibraryIndexDeps, signal?: AbortSignal): Promise<{ indexed: number; removed: number }> {
  const newest = new Map<string, LibraryEntry>();
  const replaced: string[] = [];
  for await (const entry of allEntries(deps.library)) {
    const known = newest.get(entry.fingerprint.value);
    if (known === undefined || isNewer(entry, known)) newest.set(entry.fingerprint.value, entry);
    if (known !== undefined) replaced.push(isNewer(entry, known) ? known.id : entry.id);
  }
  if (replaced.length > 0) await deps.vectorIndex.remove('error_library', replaced);
  const entries = [...newest.values()];
  for (let from = 0; from < entries.length; from += PAGE) {
    await deps.vectorIndex.upsert('error_library', entries.slice(from, from + PAGE).map(itemOf), signal);
  }
  deps.logger.info({ indexed: entries.length, removed: replaced.length }, 'error library index is in step');
  return { indexed: entries.length, removed: replaced.length };
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
