import { z } from 'zod';
import { Category, Kind } from './category.ts';
import { createTypedText } from './errors.ts';
import { Fingerprint } from './failure.ts';
import { indexEntry, type WorkRequest } from './work.ts';

/** The person who withdrew a library entry or a rule, with the time and reason. */
const Withdrawal = z.object({ by: z.string(), at: z.iso.datetime(), reason: z.string() });

/** The green builds in which all informative lines of an entry occur. */
export const GreenFlag = z.object({
  builds: z.int().min(1),
  /** The ISO 8601 time at which the first of them was seen. */
  since: z.iso.datetime(),
  /** The id of the newest of them. */
  last: z.string(),
});
export type GreenFlag = z.infer<typeof GreenFlag>;

/**
 * A past failure whose cause a person decided. Only such decisions take precedence over a machine's answer.
 */
export const LibraryEntry = z.object({
  id: z.string(),
  fingerprint: Fingerprint,
  /**
   * The failing line and excerpt from which it was learned, masked. The search for similar failures compares
   * with them.
   */
  message: z.string(),
  /** The failed test, by the name that it has in every build. Null if none failed or if it is not known. */
  test: z.string().nullable(),
  repository: z.string(),
  category: Category,
  kind: Kind,
  title: z.string(),
  rootCause: z.string(),
  fixRecommendation: z.string(),
  analysisId: z.string(),
  confirmedBy: z.string(),
  confirmedAt: z.iso.datetime(),
  timesSeen: z.int(),
  lastSeenAt: z.iso.datetime(),
  /** The decision from which it came. Null if it is not known. */
  decisionId: z.string().nullable(),
  /**
   * The lines of the log that identify the failure. If all of them occur in a green build, the entry says
   * nothing about failures.
   */
  telling: z.array(z.string()),
  /**
   * The person who withdrew it, the time and the reason. Null if it is not withdrawn. A withdrawn entry does
   * not answer.
   */
  withdrawn: Withdrawal.nullable(),
  /**
   * The green builds that contain the same lines. The entry does not answer until a person confirms that it
   * stays.
   */
  flag: GreenFlag.nullable(),
  /**
   * The person who lets it answer although green builds contain the same lines, and the time; null if not
   * confirmed.
   */
  stays: z.object({ by: z.string(), at: z.iso.datetime() }).nullable(),
});
export type LibraryEntry = z.infer<typeof LibraryEntry>;

/**
 * Returns true if an entry may answer. It must not be withdrawn, and no green build may contain its lines
 * unless a person lets it answer nevertheless.
 */
export function isInUse({
  withdrawn,
  flag,
  stays,
}: Pick<LibraryEntry, 'withdrawn' | 'flag' | 'stays'>): boolean {
  return withdrawn === null && (flag === null || stays !== null);
}

/** A curated document of the knowledge base. */
export const KnowledgeDocument = z.object({
  id: z.string(),
  title: z.string(),
  category: Category,
  kind: Kind,
  tools: z.array(z.string()),
  /** The literal phrases that real tools print for this kind. */
  signals: z.array(z.string()),
  /** The text of each section, by heading. */
  sections: z.record(z.string(), z.string()),
});
export type KnowledgeDocument = z.infer<typeof KnowledgeDocument>;

/** An entry in the form in which the vector index stores it. */
interface LibraryVector {
  readonly id: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Returns the index changes for an entry that answers from now on: adds the entry, and removes the entry that
 * it replaces.
 */
export function indexChanges(entry: LibraryEntry, replacedId: string | null): WorkRequest[] {
  const { id, text, metadata } = toLibraryVector(entry);
  const gone =
    replacedId === null || replacedId === id ? [] : [indexEntry('error_library', replacedId, null)];
  return [indexEntry('error_library', id, { text, metadata }), ...gone];
}

/**
 * Returns the index changes for an entry that stops answering: removes it, and adds the entry that now
 * answers in its place.
 */
export function indexChangesWithout(gone: LibraryEntry, answering: LibraryEntry | null): WorkRequest[] {
  const out = indexEntry('error_library', gone.id, null);
  return answering === null || answering.id === gone.id ? [out] : [out, ...indexChanges(answering, null)];
}

/**
 * Converts an entry to an index item. Search compares the failing line and excerpt; the reviewer's answer is
 * stored as metadata.
 */
export function toLibraryVector(entry: LibraryEntry): LibraryVector {
  const {
    id,
    message,
    test,
    fingerprint,
    repository,
    category,
    kind,
    title,
    rootCause,
    fixRecommendation,
    confirmedBy,
    confirmedAt,
  } = entry;
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
      ...(test === null ? {} : { test }),
    },
  };
}

/**
 * The maximum number of active rules of an installation. Every rule that may apply is tried on each failure
 * that no one has confirmed.
 */
export const MAX_RULES = 500;

/** A rule that a reviewer writes: failures whose message or excerpt matches the pattern have this cause. */
export const RuleInput = z.strictObject({
  /** The pattern in RE2's syntax. `^` and `$` match the ends of a line, and `.` does not match a line end. */
  pattern: z.string().min(4).max(300),
  /** Log lines that the pattern must match, as an example of the failure that the reviewer meant. */
  sample: z.string().min(1).max(4000),
  /** The repository. Null for all repositories. */
  repository: z.string().min(1).max(300).nullable(),
  category: Category,
  kind: Kind.default('unknown'),
  rootCause: createTypedText(4000),
  fixRecommendation: createTypedText(4000),
});
export type RuleInput = z.infer<typeof RuleInput>;

/** A stored version of a rule. At most one version of a rule is active. */
export const Rule = z.object({
  ...RuleInput.shape,
  kind: Kind,
  id: z.string(),
  version: z.int().min(1),
  title: z.string(),
  author: z.string(),
  createdAt: z.iso.datetime(),
  timesUsed: z.int(),
  lastUsedAt: z.iso.datetime().nullable(),
  withdrawn: Withdrawal.nullable(),
});
export type Rule = z.infer<typeof Rule>;
