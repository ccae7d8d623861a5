/** A document of a folder as a question reads it: lines that can be cited. Not masked. */
export interface ReadableDocument {
  /** Its path in the folder; inside a zip archive `archive.zip/path`. */
  readonly path: string;
  readonly title: string | null;
  /** The lines of a text file, or a line for each block of a document with pages, slides or sheets. */
  readonly lines: readonly string[];
  /** The place of each line in a document that has no lines of its own: "page 3", "sheet Costs, row 2". */
  readonly places: readonly (string | null)[];
}

/** A document that could not be read, and why. */
export interface UnreadDocument {
  readonly path: string;
  readonly why: string;
}

/** A folder of documents. It never writes, and never leaves the folder. */
export interface DocumentFolder {
  readonly name: string;
  /**
   * Reads all documents, those of zip archives too, `threads` at a time. The parsed documents are kept; a
   * file is parsed again only if its size or time changed. Throws `invalid-input` if there are none.
   */
  readAll(signal: AbortSignal): Promise<{
    readonly documents: readonly ReadableDocument[];
    readonly unread: readonly UnreadDocument[];
  }>;
}
