import type { BuildArchive } from '../ports/build-archive.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { HistoryStore, PassingLogs } from '../ports/stores.ts';
import type { ReviewerClient, ToolDescription, WebSearch } from '../ports/toolbox.ts';
import type { Embedder, VectorIndex } from '../ports/vector-index.ts';
import { createChangedSinceGreen, readCommitDiff, readCommitHistory, readPastFixes } from './commits.ts';
import { diffWithGreen } from './diff-with-green.ts';
import { listRepositories, readFile, readRepositoryDocs, readTestFile } from './files.ts';
import { findFiles } from './find-files.ts';
import { grepLog } from './grep-log.ts';
import { countConsecutiveFailures, findSimilarFailures, readFailureHistory } from './history.ts';
import { askReviewer, searchWeb } from './last-resorts.ts';
import { createViewLog, readArtifact, readBuildLog, readConsoleOutput } from './logs.ts';
import { readBlame } from './read-blame.ts';
import { searchCode } from './search-code.ts';
import { searchErrorLibrary } from './search-error-library.ts';
import { type KnowledgeSources, searchKnowledge } from './search-knowledge.ts';
import { searchSemantic } from './search-semantic.ts';
import { ALL_REPOSITORIES, type RepositoryScope, type Tool } from './tool.ts';

/** The sources that the tools query. */
export interface ToolSources {
  readonly vectorIndex: VectorIndex;
  readonly archive: BuildArchive;
  readonly passingBuilds: PassingLogs;
  readonly codeHost: CodeHost;
  readonly history: HistoryStore;
  readonly webSearch: WebSearch;
  /** The sources of knowledge in addition to the curated documents. */
  readonly knowledge?: KnowledgeSources | undefined;
  /**
   * The embedder by which search_semantic ranks. Without one, or with one that only hashes words, the tool
   * ranks by words.
   */
  readonly embedder?: Embedder;
  /** The client that asks reviewers. Without it no person can be asked. */
  readonly reviewers?: ReviewerClient | undefined;
  /** The filter for other repositories; without it every repository is visible. */
  readonly scope?: RepositoryScope | undefined;
  /**
   * Masks secrets in outgoing text. Without it, web queries are sent unmasked and search_semantic ranks by
   * words only.
   */
  readonly mask?: (text: string) => Promise<string>;
}

/** Creates all tools of Faultline. */
export function createTools(sources: ToolSources): Tool[] {
  const {
    vectorIndex,
    archive,
    passingBuilds,
    codeHost,
    history,
    webSearch,
    scope = ALL_REPOSITORIES,
  } = sources;
  return [
    searchKnowledge(vectorIndex, sources.knowledge),
    searchErrorLibrary(vectorIndex, scope),
    findFiles(codeHost),
    readFile(codeHost),
    readBlame(codeHost),
    searchCode(codeHost),
    readTestFile(codeHost),
    readCommitHistory(codeHost),
    readCommitDiff(codeHost),
    createChangedSinceGreen(codeHost, history),
    readPastFixes(codeHost, history),
    searchSemantic(codeHost, sources.embedder, sources.mask),
    readRepositoryDocs(codeHost),
    listRepositories(codeHost, scope),
    readBuildLog(archive),
    readConsoleOutput(archive),
    findSimilarFailures(history, scope),
    readFailureHistory(history),
    countConsecutiveFailures(history),
    searchWeb(webSearch, sources.mask),
    grepLog(archive),
    createViewLog(archive),
    readArtifact(archive),
    diffWithGreen(archive, passingBuilds),
    askReviewer(sources.reviewers),
  ];
}

/** Describes all tools without connecting to their sources. */
export function describeTools(): ToolDescription[] {
  const source = { driver: 'none' };
  const names = ['vectorIndex', 'archive', 'passingBuilds', 'codeHost', 'history', 'webSearch'];
  const sources: unknown = Object.fromEntries(names.map((name) => [name, source]));
  return createTools(sources as ToolSources).map(({ description }) => description);
}
