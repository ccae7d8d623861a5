import { z } from 'zod';
import { Category } from './category.ts';
import { Fingerprint } from './failure.ts';
import { Kind } from './kind.ts';

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
});
export type LibraryEntry = z.infer<typeof LibraryEntry>;

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
