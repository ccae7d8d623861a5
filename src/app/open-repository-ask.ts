import { compileAskGraph } from '../../graphs/ask/graph.ts';
import { createMaskingOptions } from '../config/masking.ts';
import type { Config } from '../config/schema.ts';
import { isInScope } from '../domain/access.ts';
import { mapInParallel } from '../lib/collections.ts';
import { type Clock, settleOrAbort } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { Logger } from '../ports/telemetry.ts';
import {
  createRepositoryAsk,
  type RepositoryAsk,
  type RepositoryQuery,
} from '../service/ask/ask-repository.ts';
import type { Stores } from '../stores/stores.ts';
import { openExploreConverse } from './explore-app.ts';
import { openToolThread, type ThreadToolbox } from './tool-thread.ts';

interface RepositoryAskParts {
  readonly config: Config;
  readonly stores: Pick<Stores, 'repositoryThreads'> & {
    readonly builds: Pick<Stores['builds'], 'repositories'>;
  };
  readonly codeHost: Pick<CodeHost, 'canRead' | 'resolve'>;
  readonly masker: Masker;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The time in which a list checks what can be read, in milliseconds; 3 s by default. */
  readonly checkMs?: number;
}

/** The maximum time for an answer to a waiting person, in milliseconds. */
const MAX_ANSWER_MS = 120_000;
const MAX_CHECKS_AT_ONCE = 4;
const CHECK_MS = 3_000;

/** Opens questions about repositories of a service. Its tools start with the first question. */
export async function openRepositoryAsk(
  parts: RepositoryAskParts,
): Promise<{ readonly repositoryAsk: RepositoryAsk; readonly close: () => Promise<void> }> {
  const { config, stores, codeHost, masker, clock, logger } = parts;
  let tools: Promise<ThreadToolbox> | undefined;
  const openToolbox = () => {
    tools ??= openTools(config).catch((error: unknown) => {
      tools = undefined;
      throw error;
    });
    return tools;
  };
  const repositoryAsk = createRepositoryAsk({
    graph: compileAskGraph(),
    converse: await openExploreConverse(config, logger),
    clock,
    mask: async (text) => (await masker.mask(text)).text,
    timeLimitMs: Math.min(config.triage.timeLimitMs, MAX_ANSWER_MS),
    threads: stores.repositoryThreads,
    openToolbox,
    listKnown: (query, limit) => listKnown(parts, query, limit),
    findCommit: async (repository, signal) => (await codeHost.resolve({ repository, ref: null }, signal)).ref,
    byRules: config.analyst.driver === 'rules',
  });
  return { repositoryAsk, close: async () => (await tools?.catch(() => undefined))?.close() };
}

async function openTools(config: Config): Promise<ThreadToolbox> {
  const { codeHost, embedder, analyst, triage, buildSource, providers } = config;
  const parts = { codeHost, embedder, analyst, triage, buildSource, providers };
  const masking = createMaskingOptions(config);
  return await openToolThread({ source: { kind: 'hosts' }, config: parts, masking });
}

/**
 * Lists the repositories with a clone or with builds whose code can be read, by name. Those that were not
 * checked in time are listed too; a question about them says what is wrong.
 */
async function listKnown(
  { config, stores, codeHost, checkMs = CHECK_MS }: RepositoryAskParts,
  { words, repositories }: RepositoryQuery,
  limit: number,
): Promise<string[]> {
  const cloned = Object.keys(config.codeHost.clones).filter(
    (name) => isInScope(repositories, name) && name.toLowerCase().includes(words.toLowerCase()),
  );
  const filter = repositories === undefined ? { words } : { words, repositories };
  const names = [...new Set([...cloned, ...(await stores.builds.repositories(filter, limit))])].sort();
  const late = AbortSignal.timeout(checkMs);
  const canRead = async (name: string): Promise<boolean> => {
    if (late.aborted) return true;
    return await settleOrAbort(codeHost.canRead(name), late).catch((error: unknown) => {
      if (late.aborted) return true;
      throw error;
    });
  };
  const readable = await mapInParallel(names, MAX_CHECKS_AT_ONCE, async (name) =>
    (await canRead(name)) ? [name] : [],
  );
  return readable.flat().slice(0, limit);
}
