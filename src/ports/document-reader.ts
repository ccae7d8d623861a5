import { z } from 'zod';
import { DocumentFormat } from './team-knowledge.ts';

/** Where in a document something stands, as far as its format knows. Numbers count from 1. */
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

/** What a document says, in the order in which a person reads it, without what a person does not see. Not masked. */
export const ReadDocument = z.object({
  format: DocumentFormat,
  title: z.string().nullable(),
  blocks: z.array(DocumentBlock),
  /** What could not be read of it. */
  notes: z.array(z.string()),
});
export type ReadDocument = z.infer<typeof ReadDocument>;

/** Reads documents of people. */
export interface DocumentReader {
  /**
   * Throws TriageError: `too-large` above a limit, also for an archive that grows too much; `unsupported-type`; `invalid-input` for what is
   * broken, encrypted or without text; `timeout`; `cancelled`.
   */
  read(file: { readonly name: string; readonly bytes: Uint8Array }, signal?: AbortSignal): Promise<ReadDocument>;
}
