import type { CodeHost } from '../ports/code-host.ts';
import type { DocumentFolder } from '../ports/document-folder.ts';
import type { Summarize } from '../ports/summarize.ts';
import type { Embedder } from '../ports/vector-index.ts';
import { readCommitDiff, readCommitHistory } from './commits.ts';
import { describeStack } from './describe-stack.ts';
import { readDocument } from './documents/read-document.ts';
import { scanDocuments } from './documents/scan-documents.ts';
import { searchDocuments } from './documents/search-documents.ts';
import { readFile, readRepositoryDocs } from './files.ts';
import { findDefinition } from './find-definition.ts';
import { findUses } from './find-uses.ts';
import { listFiles } from './list-files.ts';
import { createOutlineFile } from './outline-file.ts';
import { readBlame } from './read-blame.ts';
import { searchCode } from './search-code.ts';
import { searchSemantic } from './search-semantic.ts';
import { createSummarizeDocument, createSummarizeFile } from './summarize-text.ts';
import type { Tool } from './tool.ts';

/** The sources of the tools that explore a repository. */
export interface ExploreSources {
  readonly codeHost: CodeHost;
  readonly embedder?: Embedder;
  readonly mask: (text: string) => Promise<string>;
  /** Summarizes with a model. Without one, the tool is not offered. */
  readonly summarize?: Summarize | undefined;
  /** False for a folder without commits. */
  readonly hasHistory: boolean;
}

/** Creates the tools that answer questions about a repository without a failure. */
export function createExploreTools(sources: ExploreSources): Tool[] {
  const { codeHost, embedder, mask, hasHistory, summarize } = sources;
  const history = [readBlame(codeHost), readCommitHistory(codeHost), readCommitDiff(codeHost)];
  return [
    readRepositoryDocs(codeHost),
    describeStack(codeHost),
    listFiles(codeHost),
    createOutlineFile(codeHost),
    findDefinition(codeHost),
    findUses(codeHost),
    searchCode(codeHost),
    readFile(codeHost),
    searchSemantic(codeHost, embedder, mask),
    ...(summarize === undefined ? [] : [createSummarizeFile(codeHost, { summarize, mask })]),
    ...(hasHistory ? history : []),
  ];
}

/** Creates the tools that answer questions about a folder of documents. */
export function createDocumentTools(
  folder: DocumentFolder,
  { previewCharacters, summarize, mask }: DocumentSources,
): Tool[] {
  return [
    scanDocuments(folder, previewCharacters),
    searchDocuments(folder),
    readDocument(folder),
    ...(summarize === undefined ? [] : [createSummarizeDocument(folder, { summarize, mask })]),
  ];
}

type DocumentSources = Pick<ExploreSources, 'summarize' | 'mask'> & {
  /** The number of characters of a document that its preview shows. */
  readonly previewCharacters: number;
};
