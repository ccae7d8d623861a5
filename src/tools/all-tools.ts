import type { BuildArchive } from '../ports/build-archive.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { HistoryStore, PassingLogs } from '../ports/stores.ts';
import type { ReviewerClient, WebSearch } from '../ports/toolbox.ts';
import type { Embedder, VectorIndex } from '../ports/vector-index.ts';
import { changedSinceGreen, readCommitDiff, readCommitHistory, readPastFixes } from './commits.ts';
import { diffWithGreen } from './diff-with-green.ts';
import { listRepositories, readFile, readRepositoryDocs, readTestFile } from './files.ts';
import { findFiles } from './find-files.ts';
import { grepLog } from './grep-log.ts';
import { countConsecutiveFailures, findSimilarFailures, readFailureHistory } from './history.ts';
import { askReviewer, searchWeb } from './last-resorts.ts';
import { readArtifact, readBuildLog, readConsoleOutput, viewLog } from './logs.ts';
import { readBlame } from './read-blame.ts';
import { searchCode } from './search-code.ts';
import { type KnowledgeSources, searchErrorLibrary, searchKnowledge } from './search-knowledge.ts';
import { searchSemantic } from './search-semantic.ts';
import { SEES_ALL, type Sight, type Tool } from './tool.ts';

/** Whom the tools ask. */
export interface ToolSources {
  readonly vectorIndex: VectorIndex;
  readonly archive: BuildArchive;
  readonly passingBuilds: PassingLogs;
  readonly codeHost: CodeHost;
  readonly history: HistoryStore;
  readonly webSearch: WebSearch;
  /** Where knowledge is found beside the curated documents. */
  readonly knowledge?: KnowledgeSources | undefined;
  /** What search_semantic ranks by; absent, or one that only hashes words: it ranks by words. */
  readonly embedder?: Embedder;
  /** Where people are asked; absent: nobody can be. */
  readonly reviewers?: ReviewerClient | undefined;
  /** What may be looked at of other repositories; absent: everything. */
  readonly sight?: Sight | undefined;
  /** Hides secrets in what leaves the house; absent: nothing does. */
  readonly mask?: (text: string) => Promise<string>;
}

/** Every question Faultline can ask. */
export function createTools(sources: ToolSources): Tool[] {
  const { vectorIndex, archive, passingBuilds, codeHost, history, webSearch, sight = SEES_ALL } = sources;
  return [
    searchKnowledge(vectorIndex, sources.knowledge),
    searchErrorLibrary(vectorIndex, sight),
    findFiles(codeHost),
    readFile(codeHost),
    readBlame(codeHost),
    searchCode(codeHost),
    readTestFile(codeHost),
    readCommitHistory(codeHost),
    readCommitDiff(codeHost),
    changedSinceGreen(codeHost, history),
    readPastFixes(codeHost, history),
    searchSemantic(codeHost, sources.embedder, sources.mask),
    readRepositoryDocs(codeHost),
    listRepositories(codeHost, sight),
    readBuildLog(archive),
    readConsoleOutput(archive),
    findSimilarFailures(history, sight),
    readFailureHistory(history),
    countConsecutiveFailures(history),
    searchWeb(webSearch, sources.mask),
    grepLog(archive),
    viewLog(archive),
    readArtifact(archive),
    diffWithGreen(archive, passingBuilds),
    askReviewer(sources.reviewers),
  ];
}
