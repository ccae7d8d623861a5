import { basename, resolve } from 'node:path';
import { compileAskGraph } from '../../graphs/ask/graph.ts';
import { createMaskingOptions } from '../config/masking.ts';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/time.ts';
import { createMasker } from '../log/mask/mask.ts';
import type { Converse, PlaceTopic } from '../ports/analyst.ts';
import type { Logger } from '../ports/telemetry.ts';
import { createExplorer, type ExploredPlace, type Explorer } from '../service/ask/explore.ts';
import type { SessionFiles } from '../stores/session-files.ts';
import { openClones } from './open-adapters.ts';
import { NO_MODEL, toConnectionOptions } from './open-models.ts';
import type { PlaceConfig, PlaceSource } from './place-tools.ts';
import { openToolThread } from './tool-thread.ts';

type ExploreConfig = PlaceConfig & Partial<Config>;

/** Opens the conversation about places of the configured analyst. Behind a model stand the rules. */
export async function openExploreConverse(
  config: Pick<Config, 'analyst'>,
  logger: Logger,
): Promise<Converse<PlaceTopic>> {
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

/** A repository of this machine, and the source that its tools read. */
export interface LocalRepository {
  readonly source: PlaceSource;
  readonly place: ExploredPlace;
}

/** Opens a folder of this machine as a repository: a clone at its last commit, or the files as they are. */
export async function openLocalRepository(folder: string, signal: AbortSignal): Promise<LocalRepository> {
  const path = resolve(folder);
  const name = basename(path);
  const clone = await openClones({ [name]: path });
  const { ref } = await clone.resolve({ repository: name, ref: null }, signal).catch(() => ({ ref: null }));
  const common = { kind: 'repository', name, repository: name } as const;
  if (ref !== null)
    return { source: { kind: 'clone', name, path }, place: { ...common, hasHistory: true, commit: ref } };
  const { FOLDER_COMMIT } = await import('../providers/git/folder.ts');
  return {
    source: { kind: 'folder', name, path },
    place: { ...common, hasHistory: false, commit: FOLDER_COMMIT },
  };
}

/** Opens the sessions that a folder keeps. */
export async function openSessions(folder: string): Promise<SessionFiles> {
  return (await import('../stores/session-files.ts')).createSessionFiles(folder);
}

/** Opens questions about a repository of this machine. */
export async function openRepositoryExplorer(
  config: ExploreConfig,
  { source, place }: LocalRepository,
  logger: Logger,
): Promise<Explorer> {
  return await openExplorer(config, place, source, logger);
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
  const path = resolve(folder);
  const name = basename(path);
  const place = { kind: 'documents', name, hasHistory: false, repository: name, commit: 'folder' } as const;
  return await openExplorer(config, place, { kind: 'documents', path, threads, previewCharacters }, logger);
}

async function openExplorer(
  config: ExploreConfig,
  place: ExploredPlace,
  source: PlaceSource,
  logger: Logger,
): Promise<Explorer> {
  const masking = createMaskingOptions(config);
  const masker = createMasker(masking);
  const { codeHost, embedder, analyst, triage } = config;
  const parts = { codeHost, embedder, analyst, triage };
  const [toolbox, converse] = await Promise.all([
    openToolThread({ source, config: parts, masking }),
    openExploreConverse(config, logger),
  ]);
  return createExplorer(
    {
      graph: compileAskGraph(),
      converse,
      toolbox,
      clock: systemClock,
      mask: async (text: string) => (await masker.mask(text)).text,
      timeLimitMs: config.triage.timeLimitMs,
    },
    place,
  );
}
