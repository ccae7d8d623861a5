import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import type { Analysis, Step } from '../../../src/domain/analysis.ts';
import { createSparseBuild } from '../../../src/domain/build.ts';
import { createId } from '../../../src/domain/ids.ts';
import type { TriageSubject } from '../../../src/domain/triage.ts';
import { createRulesAnalyst } from '../../../src/judge/rules-analyst.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { readCauses } from '../../../src/log/causes/read-causes.ts';
import { createLlmAnalyst } from '../../../src/models/analyst/llm-analyst.ts';
import { withFallback } from '../../../src/models/analyst/with-fallback.ts';
import { createOpenAiChatModel } from '../../../src/models/chat/openai.ts';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import type { Toolbox } from '../../../src/ports/toolbox.ts';
import { createNoCodeHost } from '../../../src/providers/combined-host.ts';
import { groupFailures } from '../../../src/service/triage/group-failures.ts';
import { type InvestigateDeps, investigate } from '../../../src/service/triage/investigate.ts';
import { createSubject } from '../../../src/service/triage/triage-subject.ts';
import { createPostgresArchive } from '../../../src/stores/archive/postgres.ts';
import { createPostgresCheckpointer } from '../../../src/stores/checkpointer.ts';
import { openPglite } from '../../../src/stores/database/pglite.ts';
import { createNoWebSearch } from '../../../src/stores/memory.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { createPgvectorIndex } from '../../../src/stores/vectors/pgvector.ts';
import { createTools } from '../../../src/tools/all-tools.ts';
import { loadKnowledge, readKnowledge } from '../../../src/tools/knowledge-base.ts';
import { createToolbox } from '../../../src/tools/toolbox.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FAILURE = 'loyalty-customer-null';
const LIMITS = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};

/** The parts of one worker on embedded stores, with the model at `baseUrl`. */
export interface AgentWorld {
  readonly checkpointer: PostgresSaver;
  readonly toolbox: Toolbox;
  /** Creates the subject of a run: the same failure under a new id. */
  subject(): TriageSubject;
  /** Runs the whole graph for a captured failure. Steps are reported as they finish. */
  run(onStep?: (step: Step) => void): Promise<Analysis>;
  close(): Promise<void>;
}

/** Opens the parts in an empty folder. */
export async function openAgentWorld(folder: string, baseUrl: string): Promise<AgentWorld> {
  const database = await openPglite({ dataDir: join(folder, 'database') });
  await database.migrate();
  const stores = createStores(database, systemClock);
  const archive = createPostgresArchive(database);
  const vectorIndex = await createPgvectorIndex(database, createHashingEmbedder());
  await loadKnowledge(vectorIndex, await readKnowledge(join(ROOT, 'knowledge')));
  const source = {
    name: 'log.txt',
    kind: 'log' as const,
    text: readFileSync(join(ROOT, 'test/fixtures/failures', FAILURE, 'log.txt'), 'utf8'),
    notes: [],
  };
  const { build } = await stores.builds.upsert(
    createSparseBuild({ repository: 'bench/agent', pipeline: 'ci', number: '1' }),
  );
  await archive.put(build.id, source);
  const read = readCauses([source], { budgetTokens: 2000 });
  const [group] = groupFailures(read, build.id);
  if (group === undefined) throw new Error(`${FAILURE} shows no failure`);
  const codeHost = createNoCodeHost();
  const tools = createTools({
    vectorIndex,
    archive,
    passingBuilds: { of: async () => null },
    history: stores.history,
    codeHost,
    webSearch: createNoWebSearch(),
  });
  const model = createOpenAiChatModel({
    baseUrl,
    apiKey: null,
    model: 'gpt-4o-mini',
    timeoutMs: 60_000,
    maxRetries: 0,
  });
  const checkpointer = await createPostgresCheckpointer(database);
  const toolbox = createToolbox(tools, { mask: (text) => text });
  const deps: InvestigateDeps = {
    analyst: withFallback(createLlmAnalyst({ model }), createRulesAnalyst(), silentLogger, {
      firstRound: 'fallback',
    }),
    toolbox,
    clock: systemClock,
    graph: compileTriageGraph(checkpointer),
    limits: LIMITS,
    timeLimitMs: 300_000,
    durable: true,
  };
  const subject = (): TriageSubject =>
    createSubject({ triageId: createId('tri', Date.now()), build, group, reading: read.reading, notes: [] });
  return {
    checkpointer,
    toolbox,
    subject,
    run: async (onStep) => {
      const analysis = await investigate(subject(), { ...deps, onStep }, AbortSignal.timeout(300_000));
      if (analysis === null) throw new Error('The run waits for a person.');
      return analysis;
    },
    close: () => database.close(),
  };
}
