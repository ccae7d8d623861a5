import { z } from 'zod';
import { Category } from './category.ts';
import { Fingerprint } from './failure.ts';
import { Kind } from './kind.ts';

/** Who took something that was taught out of use. */
export const Withdrawal = z.object({ by: z.string(), at: z.iso.datetime(), reason: z.string() });
export type Withdrawal = z.infer<typeof Withdrawal>;

/** Green builds in which all telling lines of an entry stand too. */
export const GreenFlag = z.object({
  builds: z.int().min(1),
  /** When the first of them was seen. */
  since: z.iso.datetime(),
  /** The newest of them, by id. */
  last: z.string(),
});
export type GreenFlag = z.infer<typeof GreenFlag>;

/** A past failure whose cause a person decided. Only these outrank a machine's answer. */
export const LibraryEntry = z.object({
  id: z.string(),
  fingerprint: Fingerprint,
  /** The failing line and excerpt it was learnt from; what near-match search compares with. Masked. */
  message: z.string(),
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
  /** The decision that it came from; null where that is not known. */
  decisionId: z.string().nullable(),
  /** The log's lines that say what it is about; an entry whose lines all stand in a green build says nothing of failures. */
  telling: z.array(z.string()),
  /** Who took it out, when, and why; it answers no more. */
  withdrawn: Withdrawal.nullable(),
  /** Green builds that say the same; until a person confirms that it stays, it does not answer. */
  flag: GreenFlag.nullable(),
  /** Who lets it answer although green builds say the same. */
  stays: z.object({ by: z.string(), at: z.iso.datetime() }).nullable(),
});
export type LibraryEntry = z.infer<typeof LibraryEntry>;

/** Whether an entry may answer: nobody withdrew it, and no green build says the same, or a person lets it answer all the same. */
export function answers({ withdrawn, flag, stays }: Pick<LibraryEntry, 'withdrawn' | 'flag' | 'stays'>): boolean {
  return withdrawn === null && (flag === null || stays !== null);
}

/** A curated document of the knowledge base. */
export const KnowledgeDocument = z.object({
  id: z.string(),
  title: z.string(),
  category: Category,
  kind: Kind,
  tools: z.array(z.string()),
  /** Literal phrases that real tools print for this kind. */
  signals: z.array(z.string()),
  /** Section heading → its text. */
  sections: z.record(z.string(), z.string()),
});
export type KnowledgeDocument = z.infer<typeof KnowledgeDocument>;
