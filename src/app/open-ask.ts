import { compileAskGraph } from '../../graphs/ask/graph.ts';
import type { Build } from '../domain/build.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Analyst } from '../ports/analyst.ts';
import { type Ask, type AskDeps, createAsk } from '../service/ask/ask.ts';
import { type StoredTopicDeps, storedTopics, topicsAtHand } from '../service/ask/topic.ts';
import type { TriagedReading } from '../service/triage/triage-reading.ts';
import type { Stores } from '../stores/stores.ts';

/** A person waits: an answer that takes longer than this is none, whatever an analysis may take. */
const LONGEST_MS = 120_000;

interface AskParts extends Pick<AskDeps, 'toolbox' | 'clock' | 'timeLimitMs'> {
  readonly analyst: Pick<Analyst, 'converse' | 'name'>;
  readonly masker: Masker;
}

/** Follow-up questions about what is stored, with the same tools and analyst that triage has. */
export function openAsk(parts: AskParts & StoredTopicDeps & { readonly stores: Pick<Stores, 'conversations'> }): Ask {
  return createAsk({ ...sharedOf(parts), topics: storedTopics(parts), conversations: parts.stores.conversations });
}

/** Follow-up questions about what was analysed in memory; its threads end with the process. */
export async function openAskAtHand(build: Build, { analyses, reading }: TriagedReading, parts: AskParts): Promise<Ask> {
  const { createMemoryConversations } = await import('../stores/memory.ts');
  return createAsk({ ...sharedOf(parts), topics: topicsAtHand(build, analyses, reading), conversations: createMemoryConversations() });
}

function sharedOf({ analyst, toolbox, clock, masker, timeLimitMs }: AskParts): Omit<AskDeps, 'topics' | 'conversations'> {
  return {
    graph: compileAskGraph(),
    converse: analyst.converse,
    toolbox,
    clock,
    mask: async (text) => (await masker.mask(text)).text,
    byRules: analyst.name === 'rules',
    timeLimitMs: Math.min(timeLimitMs, LONGEST_MS),
  };
}
