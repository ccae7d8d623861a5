import { basename, resolve } from 'node:path';
import { compileAskGraph } from '../../graphs/ask/graph.ts';
import { createMaskingOptions } from '../config/masking.ts';
import type { Config } from '../config/schema.ts';
import { omitUndefined } from '../lib/collections.ts';
import { systemClock } from '../lib/time.ts';
import { createMasker, type Masker } from '../log/mask/mask.ts';
import type { Converse, PlaceTopic } from '../ports/analyst.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { Logger } from '../ports/telemetry.ts';
import { createExplorer, type ExploredPlace, type Explorer } from '../service/ask/explore.ts';
import type { SessionFiles } from '../stores/session-files.ts';
import { createDocumentTools, createExploreTools } from '../tools/explore-tools.ts';
import { createMemoryToolCache } from '../tools/result-cache.ts';
import type { Tool } from '../tools/tool.ts';
import { createToolbox, type ToolboxOptions } from '../tools/toolbox.ts';
import { openClones } from './open-adapters.ts';
import { NO_MODEL, toConnectionOptions } from './open-models.ts';

type ExploreConfig = Pick<Config, 'analyst' | 'triage'> & Partial<Config>;

/** Opens the conversation about places of the configured analyst. Behind a model stand the rules. */
async function openExploreConverse(config: ExploreConfig, logger: Logger): Promise<Converse<PlaceTopic>> {
  const { createRulesExplore } = await import('../judge/explore/rules-explore.ts');
  if (config.analyst.driver === 'rules') return createRulesExplore();
  const options = toConnectionOptions(config.analyst.llm);
  if (options === null) return createRulesExplore({ note: NO_MODEL });
  const { openChatModel } = await import('./open-models.ts');
  const { createLlmExplore } = await import('../models/analyst/explore.ts');
  const { withExploreFallback } = await import('../models/analyst/with-fallback.ts');
  const { chatModel } = await openChatModel(config, 'Asking', logger);
  return withExploreFallback(createLlmExplore(chatModel), createRulesExplore(), logger);
}

/** Opens a folder of this machine as a repository: a clone at its last commit, or the files as they are. */
export async function openLocalRepository(
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly codeHost: CodeHost; readonly place: ExploredPlace }> {
  const path = resolve(folder);
  const name = basename(path);
  const clone = await openClones({ [name]: path });
  const { ref } = await clone.resolve({ repository: name, ref: null }, signal).catch(() => ({ ref: null }));
  const common = { kind: 'repository', name, repository: name } as const;
  if (ref !== null) return { codeHost: clone, place: { ...common, hasHistory: true, commit: ref } };
  const { createFolderHost, FOLDER_COMMIT } = await import('../providers/git/folder.ts');
  const codeHost = createFolderHost(name, path);
  return { codeHost, place: { ...common, hasHistory: false, commit: FOLDER_COMMIT } };
}

/** Opens the sessions that a folder keeps. */
export async function openSessions(folder: string): Promise<SessionFiles> {
  return (await import('../stores/session-files.ts')).createSessionFiles(folder);
}

/** Opens questions about a repository that a code host can read. */
export async function openRepositoryExplorer(
  config: ExploreConfig,
  { codeHost, place }: { readonly codeHost: CodeHost; readonly place: ExploredPlace },
  logger: Logger,
): Promise<Explorer> {
  const masker = createMasker(createMaskingOptions(config));
  const mask = async (text: string) => (await masker.mask(text)).text;
  const tools = createExploreTools({ codeHost, mask, hasHistory: place.hasHistory });
  return await openExplorer(config, place, tools, masker, logger);
}

/** The settings of the scan of documents. */
export interface ScanOptions {
  readonly threads?: number | undefined;
  /** The number of characters of a document that its preview shows. */
  readonly previewCharacters?: number | undefined;
}

const PREVIEW_CHARACTERS = 1_500;

/** Opens questions about a folder of documents on this machine. */
export async function openDocumentExplorer(
  config: ExploreConfig,
  folder: string,
  { threads, previewCharacters = PREVIEW_CHARACTERS }: ScanOptions,
  logger: Logger,
): Promise<Explorer> {
  const { openDocumentFolder } = await import('../adapters/document-folder/document-folder.ts');
  const { createDocumentReader } = await import('../adapters/document-reader/document-reader.ts');
  const reader = createDocumentReader();
  const documents = openDocumentFolder(folder, { reader, ...omitUndefined({ threads }) });
  const { name } = documents;
  const place = { kind: 'documents', name, hasHistory: false, repository: name, commit: 'folder' } as const;
  const masker = createMasker(createMaskingOptions(config));
  const tools = createDocumentTools(documents, previewCharacters);
  // The first call parses all documents, which takes as long as there are many.
  const timeLimitMs = () => config.triage.timeLimitMs;
  return await openExplorer(config, place, tools, masker, logger, { timeLimitMs });
}

async function openExplorer(
  config: ExploreConfig,
  place: ExploredPlace,
  tools: readonly Tool[],
  masker: Masker,
  logger: Logger,
  limits: Pick<ToolboxOptions, 'timeLimitMs'> = {},
): Promise<Explorer> {
  const mask = async (text: string) => (await masker.mask(text)).text;
  const toolbox = createToolbox(tools, {
    mask,
    logger,
    cache: createMemoryToolCache(),
    concurrency: config.triage.toolConcurrency,
    ...limits,
  });
  return createExplorer(
    {
      graph: compileAskGraph(),
      converse: await openExploreConverse(config, logger),
      toolbox,
      clock: systemClock,
      mask,
      timeLimitMs: config.triage.timeLimitMs,
    },
    place,
  );
}
