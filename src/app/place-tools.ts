import type { Config } from '../config/schema.ts';
import { createMasker, type MaskerOptions } from '../log/mask/mask.ts';
import { silentLogger } from '../ports/telemetry.ts';
import type { Toolbox } from '../ports/toolbox.ts';
import { createDocumentTools, createExploreTools } from '../tools/explore-tools.ts';
import { createMemoryToolCache } from '../tools/result-cache.ts';
import type { Tool } from '../tools/tool.ts';
import { createToolbox } from '../tools/toolbox.ts';
import { openClones, openCodeHost, openModelEmbedder } from './open-adapters.ts';
import { openChatModel, toConnectionOptions } from './open-models.ts';

/** The part of the configuration that tools for places need. */
export type PlaceConfig = Pick<Config, 'codeHost' | 'embedder' | 'analyst' | 'triage'> &
  Partial<Pick<Config, 'buildSource' | 'providers'>>;

/** The source that the tools read: the configured code hosts, or a folder of this machine. */
export type PlaceSource =
  | { readonly kind: 'hosts' }
  | { readonly kind: 'clone' | 'folder'; readonly name: string; readonly path: string }
  | {
      readonly kind: 'documents';
      readonly path: string;
      readonly threads: number | undefined;
      /** The number of characters of a document that its preview shows. */
      readonly previewCharacters: number;
    };

/** The plain data with which a thread opens its tools. */
export interface PlaceOrder {
  readonly source: PlaceSource;
  readonly config: PlaceConfig;
  readonly masking: MaskerOptions;
}

/** Opens the tools for questions about a place, with a cache in memory. */
export async function openPlaceToolbox({ source, config, masking }: PlaceOrder): Promise<Toolbox> {
  const masker = createMasker(masking);
  const mask = async (text: string) => (await masker.mask(text)).text;
  // Files of a folder are read one by one, which takes as long as there are many.
  const limits = source.kind === 'hosts' ? {} : { timeLimitMs: () => config.triage.timeLimitMs };
  return createToolbox(await openTools(source, config, mask), {
    mask,
    cache: createMemoryToolCache(),
    concurrency: config.triage.toolConcurrency,
    ...limits,
  });
}

async function openTools(
  source: PlaceSource,
  config: PlaceConfig,
  mask: (text: string) => Promise<string>,
): Promise<Tool[]> {
  if (source.kind === 'documents') {
    const { openDocumentFolder } = await import('../adapters/document-folder/document-folder.ts');
    const { createDocumentReader } = await import('../adapters/document-reader/document-reader.ts');
    const { path, threads, previewCharacters } = source;
    const reader = createDocumentReader();
    const folder = openDocumentFolder(path, threads === undefined ? { reader } : { reader, threads });
    return createDocumentTools(folder, { previewCharacters, mask, summarize: await openSummarize(config) });
  }
  const codeHost = await openPlaceHost(source, config);
  const embedder = await openModelEmbedder(config, silentLogger);
  const summarize = await openSummarize(config);
  const common = { codeHost, mask, summarize, hasHistory: source.kind !== 'folder' };
  return createExploreTools(embedder === null ? common : { ...common, embedder });
}

/** Opens the summary by the configured model; undefined if the rules answer. */
async function openSummarize(config: PlaceConfig) {
  if (config.analyst.driver === 'rules' || toConnectionOptions(config.analyst.llm) === null) return undefined;
  const { createSummarize } = await import('../models/analyst/summarize.ts');
  return createSummarize((await openChatModel(config, 'Summarizing', silentLogger)).chatModel);
}

async function openPlaceHost(source: Exclude<PlaceSource, { kind: 'documents' }>, config: PlaceConfig) {
  if (source.kind === 'hosts') return await openCodeHost(config, silentLogger);
  if (source.kind === 'clone') return await openClones({ [source.name]: source.path });
  return (await import('../providers/git/folder.ts')).createFolderHost(source.name, source.path);
}
