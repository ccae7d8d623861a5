import { z } from 'zod';
import { Category } from '../domain/category.ts';

export const DocumentFormat = z.enum(['markdown', 'html', 'pdf', 'docx', 'pptx', 'xlsx', 'csv', 'text']);
export type DocumentFormat = z.infer<typeof DocumentFormat>;

/** The formats of files that are loaded from a folder, by file name extension. */
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
  /** The name by which the document is identified when it is replaced: a path or an address. */
  source: z.string(),
  title: z.string(),
  format: DocumentFormat,
  /** The category of its failures, if the importer stated one. */
  category: Category.nullable(),
  /** A hash of the content. If it is equal, the content does not have to be read again. */
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

/** A piece of a document that can be found and cited separately. Masked. */
export const Passage = z.object({
  /** The position in the document, from 1 on. */
  position: z.int(),
  /** The citation: "page 3", "slide 2", "sheet Costs, rows 2–40", "Disk full › Fix". */
  place: z.string(),
  text: z.string(),
});
export type Passage = z.infer<typeof Passage>;

export type PassageOf = Passage & {
  readonly document: Pick<TeamDocument, 'id' | 'source' | 'title' | 'category'>;
};

export type PassageMatch = PassageOf & {
  /** The share of the question's words and word pairs that the passage contains, from 0 to 1. */
  readonly score: number;
};

interface PassageQuery {
  readonly text: string;
  readonly limit: number;
  /** The category to search in. Documents without a category are searched as well. */
  readonly category?: Category;
}

/** The store of a team's documents, which are searched by their words. */
export interface TeamKnowledgeStore {
  /**
   * Stores a document completely or not at all. It replaces a document with the same source and keeps the id
   * of that document. Returns the id.
   */
  put(document: TeamDocument, passages: readonly Passage[]): Promise<string>;
  /** Finds a document by its id or source. */
  find(idOrSource: string): Promise<TeamDocument | null>;
  /**
   * Returns the passages of a document in their order. If `around` is given, returns at most 50 before and
   * after it.
   */
  passages(id: string, around?: number): Promise<Passage[]>;
  /** Lists the documents sorted by source. At most 10,000. */
  list(): Promise<TeamDocument[]>;
  /** Returns every passage of every document, at most 200,000. */
  all(): Promise<PassageOf[]>;
  /** Removes a document. Returns true if it existed. */
  remove(id: string): Promise<boolean>;
  /** Returns the passages that contain most of the question's words, best first. */
  search(query: PassageQuery): Promise<PassageMatch[]>;
}

/** A file to import. */
export interface NewDocument {
  /** The name by which the document is identified and replaced. */
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
  /**
   * Notes for the team: which parts could not be read, or why the document cannot be found by meaning yet.
   */
  notes: z.array(z.string()),
});
export type AddedDocument = z.infer<typeof AddedDocument>;

export const ShownDocument = z.object({ document: TeamDocument, passages: z.array(Passage) });
export type ShownDocument = z.infer<typeof ShownDocument>;

export const Embedded = z.object({
  /** The embedder. Null if none is configured, so that documents are found only by words. */
  embedder: z.string().nullable(),
  embedded: z.int(),
  removed: z.int(),
});
export type Embedded = z.infer<typeof Embedded>;

/** The service that adds, lists and removes a team's documents. Texts are masked before they are stored. */
export interface KnowledgeService {
  /** Stores a file. The same file is stored only once. Throws the reader's errors, and `storage-failed`. */
  add(file: NewDocument, signal?: AbortSignal): Promise<AddedDocument>;
  list(): Promise<TeamDocument[]>;
  show(idOrSource: string): Promise<ShownDocument | null>;
  /** Removes a document. Returns the removed document, or null if there was none. */
  remove(idOrSource: string): Promise<TeamDocument | null>;
  /**
   * Embeds everything that the current embedder has not embedded yet, including curated documents. The option
   * first deletes all vectors, including those of embedders that were configured before. Throws the
   * embedder's errors; vectors that are already stored stay.
   */
  embed(options?: { readonly anew?: boolean }, signal?: AbortSignal): Promise<Embedded>;
}

/** The position of a block in its document, as far as the format provides it. Numbers start at 1. */
export const DocumentPlace = z.object({
  page: z.int().optional(),
  slide: z.int().optional(),
  sheet: z.string().optional(),
  row: z.int().optional(),
});
export type DocumentPlace = z.infer<typeof DocumentPlace>;

/** A heading, a paragraph, a list, a table, or a row of a sheet. */
export const DocumentBlock = z.object({
  text: z.string(),
  /** The level of a heading, 1 to 6. Null for other blocks. */
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
   * Reads a document. Throws TriageError: `too-large` above a limit, also for an archive that grows too much
   * when it is unpacked; `unsupported-type`; `invalid-input` for a file that is broken, encrypted or without
   * text; `timeout`; `cancelled`.
   */
  read(
    file: { readonly name: string; readonly bytes: Uint8Array },
    signal?: AbortSignal,
  ): Promise<ReadDocument>;
}
