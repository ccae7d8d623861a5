import type { BuildArchive } from '../ports/build-archive.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { GreenLogs, HistoryStore } from '../ports/stores.ts';
import type { ReviewerClient, WebSearch } from '../ports/toolbox.ts';
import type { Embedder, VectorIndex } from '../ports/vector-index.ts';
import { askReviewer } from './ask-reviewer.ts';
import { changedSinceGreen } from './changed-since-green.ts';
import { countConsecutiveFailures } from './count-consecutive-failures.ts';
import { diffWithGreen } from './diff-with-green.ts';
import { findFiles } from './find-files.ts';
import { findSimilarFailures } from './find-similar-failures.ts';
import { grepLog } from './grep-log.ts';
import { listRepositories } from './list-repositories.ts';
import { readArtifact } from './read-artifact.ts';
import { readBlame } from './read-blame.ts';
import { readBuildLog } from './read-build-log.ts';
import { readCommitDiff } from './read-commit-diff.ts';
import { readCommitHistory } from './read-commit-history.ts';
import { readConsoleOutput } from './read-console-output.ts';
import { readFailureHistory } from './read-failure-history.ts';
import { readFile } from './read-file.ts';
import { readPastFixes } from './read-past-fixes.ts';
import { readRepositoryDocs } from './read-repository-docs.ts';
import { readTestFile } from './read-test-file.ts';
import { searchCode } from './search-code.ts';
import { searchErrorLibrary } from './search-error-library.ts';
import { type KnowledgeSources, searchKnowledge } from './search-knowledge.ts';
import { searchSemantic } from './search-semantic.ts';
import { searchWeb } from './search-web.ts';
import { SEES_ALL, type Sight } from './sight.ts';
import type { Tool } from './tool.ts';
import { viewLog } from './view-log.ts';

/** Whom the tools ask. */
export interface ToolSources {
  readonly vectorIndex: VectorIndex;
  readonly archive: BuildArchive;
  readonly greens: GreenLogs;
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
  const { vectorIndex, archive, greens, codeHost, history, webSearch, sight = SEES_ALL } = sources;
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
    diffWithGreen(archive, greens),
    askReviewer(sources.reviewers),
  ];
}
