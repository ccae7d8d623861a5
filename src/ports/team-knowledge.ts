import { z } from 'zod';
import { Category } from '../domain/category.ts';

export const DocumentFormat = z.enum(['markdown', 'html', 'pdf', 'docx', 'pptx', 'xlsx', 'text']);
export type DocumentFormat = z.infer<typeof DocumentFormat>;

/** The formats that a folder is searched for. */
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
  '.txt': 'text',
  '.text': 'text',
  '.rst': 'text',
  '.adoc': 'text',
};

/** A runbook, a post-mortem: what a team wrote itself, as it is kept. */
export const TeamDocument = z.object({
  id: z.string(),
  /** The name under which it came and under which it is replaced: a path or an address. */
  source: z.string(),
  title: z.string(),
  format: DocumentFormat,
  /** What its failures are, where whoever brought it said so. */
  category: Category.nullable(),
  /** Equal for what need not be read again. */
  hash: z.string(),
  /** Of the file. */
  bytes: z.int(),
  passages: z.int(),
  /** What could not be read of it. */
  notes: z.array(z.string()),
  importedBy: z.string(),
  importedAt: z.iso.datetime(),
});
export type TeamDocument = z.infer<typeof TeamDocument>;

/** A piece of a document that is found and cited by itself. Masked. */
export const Passage = z.object({
  /** From 1, in the order of the document. */
  position: z.int(),
  /** Its citation: "page 3", "slide 2", "sheet Costs, rows 2–40", "Disk full › Fix". */
  place: z.string(),
  text: z.string(),
});
export type Passage = z.infer<typeof Passage>;

export type PassageOf = Passage & { readonly document: Pick<TeamDocument, 'id' | 'source' | 'title' | 'category'> };

export type PassageMatch = PassageOf & {
  /** 0..1: the share of the question's words and word pairs that the passage says. */
  readonly score: number;
};

export interface PassageQuery {
  readonly text: string;
  readonly limit: number;
  /** Leaves out documents of every other category; those without one stay. */
  readonly category?: Category;
}

/** What a team wrote, searched by its words. */
export interface TeamKnowledgeStore {
  /** Stores a document in place of the one with the same source, whose id it keeps; all of it or nothing. Resolves to its id. */
  put(document: TeamDocument, passages: readonly Passage[]): Promise<string>;
  /** By id or source. */
  find(idOrSource: string): Promise<TeamDocument | null>;
  passages(id: string): Promise<Passage[]>;
  /** By source. At most 10,000. */
  list(): Promise<TeamDocument[]>;
  /** Every passage of every document, at most 200,000. */
  all(): Promise<PassageOf[]>;
  /** Says whether there was one. */
  remove(id: string): Promise<boolean>;
  /** The passages that say most of the question's words, best first. */
  search(query: PassageQuery): Promise<PassageMatch[]>;
}
