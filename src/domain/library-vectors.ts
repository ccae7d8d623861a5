import type { LibraryEntry } from './library.ts';

/** An entry as the vector index holds it. */
export interface LibraryVector {
  readonly id: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What the index is owed of one entry; null: it is to be taken out. */
export interface LibraryDebt {
  readonly namespace: 'error_library';
  readonly id: string;
  readonly item: Pick<LibraryVector, 'text' | 'metadata'> | null;
}

/** What the index is owed for an entry that answers now: the entry itself, and that the one which it replaces is taken out. */
export function debtsOf(entry: LibraryEntry, replacedId: string | null): LibraryDebt[] {
  const { id, text, metadata } = vectorOf(entry);
  const gone: LibraryDebt[] = replacedId === null || replacedId === id ? [] : [{ namespace: 'error_library', id: replacedId, item: null }];
  return [{ namespace: 'error_library', id, item: { text, metadata } }, ...gone];
}

/** What the index is owed when an entry stops answering: it is taken out, and what answers in its place now is put in. */
export function debtsWithout(gone: LibraryEntry, answering: LibraryEntry | null): LibraryDebt[] {
  const out: LibraryDebt = { namespace: 'error_library', id: gone.id, item: null };
  return answering === null || answering.id === gone.id ? [out] : [out, ...debtsOf(answering, null)];
}

/** What search compares with is the failing line and excerpt; the person's answer travels as metadata. */
export function vectorOf(entry: LibraryEntry): LibraryVector {
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
