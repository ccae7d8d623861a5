import { z } from 'zod';
import { Category } from '../domain/category.ts';

export const DocumentFormat = z.enum(['markdown', 'html', 'pdf', 'docx', 'pptx', 'xlsx', 'csv', 'text']);
export type DocumentFormat = z.infer<typeof DocumentFormat>;

/** The formats of files that are loaded from a folder, by ending. */
export const FORMAT_BY_ENDING: Readonly<Record<string, DocumentFormat>> = {
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.mdx': 'markdown',
  '.html': 'html',
  '.htm': 'html',
  '.xhtml': 'html',
  '.pdf': 'pdf',
  '.docx': 'docx',
  '.pptx': 'pptx',
  '.xlsx': 'xlsx',
  '.csv': 'csv',
  '.tsv': 'csv',
  '.txt': 'text',
  '.text': 'text',
  '.rst': 'text',
  '.adoc': 'text',
};

/** A stored document that a team wrote itself, such as a runbook or a post-mortem. */
export const TeamDocument = z.object({
  id: z.string(),
  /** The name under which it came and under which it is replaced: a path or an address. */
  source: z.string(),
  title: z.string(),
  format: DocumentFormat,
  /** The category of its failures, if the importer stated one. */
  category: Category.nullable(),
  /** A hash that is equal for content that does not have to be read again. */
  hash: z.string(),
  /** The size of the file, in bytes. */
  bytes: z.int(),
  passages: z.int(),
  /** Notes on what could not be read in the document. */
  notes: z.array(z.string()),
  importedBy: z.string(),
  importedAt: z.iso.datetime(),
});
export type TeamDocument = z.infer<typeof TeamDocument>;

/** A piece of a document that is found and cited by itself. Masked. */
export const Passage = z.object({
  /** 1-based position, in the order of the document. */
  position: z.int(),
  /** Its citation: "page 3", "slide 2", "sheet Costs, rows 2–40", "Disk full › Fix". */
  place: z.string(),
  text: z.string(),
});
export type Passage = z.infer<typeof Passage>;

export type PassageOf = Passage & {
  readonly document: Pick<TeamDocument, 'id' | 'source' | 'title' | 'category'>;
};

export type PassageMatch = PassageOf & {
  /** 0..1: the share of the question's words and word pairs that the passage says. */
  readonly score: number;
};

interface PassageQuery {
  readonly text: string;
  readonly limit: number;
  /** The category to search in. Documents without a category are searched, too. */
  readonly category?: Category;
}

/** The store of a team's documents, searched by their words. */
export interface TeamKnowledgeStore {
  /**
   * Stores a document in place of the one with the same source, whose id it keeps; all of it or nothing.
   * Resolves to its id.
   */
  put(document: TeamDocument, passages: readonly Passage[]): Promise<string>;
  /** Finds a document by its id or source. */
  find(idOrSource: string): Promise<TeamDocument | null>;
  /**
   * Returns the passages of a document in their order; of those, at most 50 before and after `around`, if it
   * is given.
   */
  passages(id: string, around?: number): Promise<Passage[]>;
  /** Lists the documents in order of their source; at most 10,000. */
  list(): Promise<TeamDocument[]>;
  /** Returns every passage of every document, at most 200,000. */
  all(): Promise<PassageOf[]>;
  /** Removes a document. Resolves to true if there was one. */
  remove(id: string): Promise<boolean>;
  /** Returns the passages that contain most of the question's words, best first. */
  search(query: PassageQuery): Promise<PassageMatch[]>;
}

/** A file to import. */
export interface NewDocument {
  /** The name under which it is known and replaced. */
  readonly source: string;
  readonly bytes: Uint8Array;
  readonly category: Category | null;
  readonly importedBy: string;
  /** True if the document is only read and cut into passages, and nothing is stored. */
  readonly dryRun?: boolean;
}

export const AddedDocument = z.object({
  outcome: z.enum(['added', 'changed', 'unchanged']),
  document: TeamDocument,
  /** Notes for the team: what could not be read, or why the document cannot be found by meaning yet. */
  notes: z.array(z.string()),
});
export type AddedDocument = z.infer<typeof AddedDocument>;

export const ShownDocument = z.object({ document: TeamDocument, passages: z.array(Passage) });
export type ShownDocument = z.infer<typeof ShownDocument>;

export const Embedded = z.object({
  /** The embedder; null if none is configured and everything is found by words alone. */
  embedder: z.string().nullable(),
  embedded: z.int(),
  removed: z.int(),
});
export type Embedded = z.infer<typeof Embedded>;

/** The service that adds, lists and removes a team's documents. Texts are masked before they are stored. */
export interface KnowledgeService {
  /** Stores a file; the same file is stored only once. Throws the reader's errors, and `storage-failed`. */
  add(file: NewDocument, signal?: AbortSignal): Promise<AddedDocument>;
  list(): Promise<TeamDocument[]>;
  show(idOrSource: string): Promise<ShownDocument | null>;
  /** Removes a document. Resolves to the removed document, or to null if there was none. */
  remove(idOrSource: string): Promise<TeamDocument | null>;
  /**
   * Embeds everything that the current embedder has not embedded yet, curated documents included. The option
   * first deletes all vectors, also those of embedders that were configured before. Throws the embedder's
   * errors; vectors that are already stored stay.
   */
  embed(options?: { readonly anew?: boolean }, signal?: AbortSignal): Promise<Embedded>;
}

/** The position of a block in its document, as far as the format provides it. Numbers count from 1. */
export const DocumentPlace = z.object({
  page: z.int().optional(),
  slide: z.int().optional(),
  sheet: z.string().optional(),
  row: z.int().optional(),
});
export type DocumentPlace = z.infer<typeof DocumentPlace>;

/** A heading, a paragraph, a list, a table, a row of a sheet. */
export const DocumentBlock = z.object({
  text: z.string(),
  /** 1 to 6 for a heading, or null. */
  heading: z.int().nullable(),
  place: DocumentPlace,
});
export type DocumentBlock = z.infer<typeof DocumentBlock>;

/** The visible content of a document, in reading order. Not masked. */
export const ReadDocument = z.object({
  format: DocumentFormat,
  title: z.string().nullable(),
  blocks: z.array(DocumentBlock),
  /** Notes on what could not be read in the document. */
  notes: z.array(z.string()),
});
export type ReadDocument = z.infer<typeof ReadDocument>;

export interface DocumentReader {
  /**
   * Reads a document. Throws TriageError: `too-large` above a limit, also for an archive that grows too much;
   * `unsupported-type`; `invalid-input` for a file that is broken, encrypted or without text; `timeout`;
   * `cancelled`.
   */
  read(
    file: { readonly name: string; readonly bytes: Uint8Array },
    signal?: AbortSignal,
  ): Promise<ReadDocument>;
}
