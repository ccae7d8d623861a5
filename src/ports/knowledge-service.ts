import { z } from 'zod';
import type { Category } from '../domain/category.ts';
import { Passage, TeamDocument } from './team-knowledge.ts';

/** A file that somebody brings. */
export interface NewDocument {
  /** The name under which it is known and replaced. */
  readonly source: string;
  readonly bytes: Uint8Array;
  readonly category: Category | null;
  readonly importedBy: string;
  /** Reads and cuts it, and stores nothing. */
  readonly dryRun?: boolean;
}

export const AddedDocument = z.object({
  outcome: z.enum(['added', 'changed', 'unchanged']),
  document: TeamDocument,
  /** What the team should know: what could not be read, or why it cannot be found by meaning yet. */
  notes: z.array(z.string()),
});
export type AddedDocument = z.infer<typeof AddedDocument>;

export const ShownDocument = z.object({ document: TeamDocument, passages: z.array(Passage) });
export type ShownDocument = z.infer<typeof ShownDocument>;

export const Embedded = z.object({
  /** The embedder, or null where none is configured and all is found by words alone. */
  embedder: z.string().nullable(),
  embedded: z.int(),
  removed: z.int(),
});
export type Embedded = z.infer<typeof Embedded>;

/** Where a team's documents come in and go out. Texts are masked before they are stored. */
export interface KnowledgeService {
  /** The same file twice is stored once. Throws what the reader throws, and `storage-failed`. */
  add(file: NewDocument, signal?: AbortSignal): Promise<AddedDocument>;
  list(): Promise<TeamDocument[]>;
  show(idOrSource: string): Promise<ShownDocument | null>;
  /** Resolves to what was removed, or null where there was no such document. */
  remove(idOrSource: string): Promise<TeamDocument | null>;
  /**
   * Embeds what the embedder has not embedded yet, curated documents too; `anew` forgets all vectors first, also those of embedders that
   * were configured before. Throws what the embedder throws; what was embedded until then stays.
   */
  embed(options?: { readonly anew?: boolean }, signal?: AbortSignal): Promise<Embedded>;
}
