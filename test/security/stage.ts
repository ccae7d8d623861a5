import { MemorySaver } from '@langchain/langgraph';
import { compileTriageGraph } from '../../graphs/triage/graph.ts';
import { createAddressGuard } from '../../src/adapters/web-search/address-guard.ts';
import { createSearxngSearch } from '../../src/adapters/web-search/services.ts';
import type { Analysis } from '../../src/domain/analysis.ts';
import type { Category } from '../../src/domain/category.ts';
import type { ToolCall } from '../../src/domain/evidence.ts';
import type { FailureRow } from '../../src/domain/failure.ts';
import { createRulesAnalyst } from '../../src/judge/rules-analyst.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createMasker, type Masker } from '../../src/log/mask/mask.ts';
import { createLlmAnalyst } from '../../src/models/analyst/llm-analyst.ts';
import { withFallback } from '../../src/models/analyst/with-fallback.ts';
import { createOpenAiChatModel } from '../../src/models/chat/openai.ts';
import { createHashingEmbedder } from '../../src/models/embedder/hashing.ts';
import type { Analyst } from '../../src/ports/analyst.ts';
import type { CodeHost } from '../../src/ports/code-host.ts';
import type { TeamKnowledgeStore } from '../../src/ports/knowledge.ts';
import type { HistoryStore } from '../../src/ports/stores.ts';
import type { ReviewerClient, Toolbox } from '../../src/ports/toolbox.ts';
import { createLocalGitHost } from '../../src/providers/git/clone.ts';
import { useGivenGreen } from '../../src/service/triage/passing-builds.ts';
import { triageSources } from '../../src/service/triage/triage-build.ts';
import { createMemoryArchive } from '../../src/stores/archive/memory.ts';
import { createEmptyHistory } from '../../src/stores/memory.ts';
import { createMemoryIndex } from '../../src/stores/vectors/memory.ts';
import { createTools } from '../../src/tools/all-tools.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { createRecordingLogger, type LogLine } from '../support/http-deps.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../support/loopback-server.ts';
import { type OpenAiServer, startOpenAiServer, TEST_KEY } from '../support/openai-server.ts';
import { sampleFailure } from '../support/sample-analysis.ts';
import { sampleBuild } from '../support/subject.ts';
import { CANARIES } from './canaries.ts';
import type { World } from './channels.ts';
import { createHostileRepository, type HostileRepository } from './repository.ts';

/** What a run did, seen from outside of it. */
export interface Witness {
  readonly analysis: Analysis;
  /** Calls that reached the toolbox, with the category they were made for. */
  readonly asked: readonly { readonly call: ToolCall; readonly category: Category }[];
  /** Questions that reached the code host. */
  readonly hosted: readonly {
    readonly question: string;
    readonly query: Readonly<Record<string, unknown>>;
  }[];
  /** Questions put to people. */
  readonly people: readonly string[];
  /** Paths asked of the web. */
  readonly web: readonly string[];
  readonly logged: readonly LogLine[];
  readonly toolbox: Toolbox;
  readonly masker: Masker;
}

export interface Stage {
  readonly model: OpenAiServer;
  readonly repository: HostileRepository;
  run(world: World, by: 'rules' | 'llm'): Promise<Witness>;
  analyst(by: 'rules' | 'llm', logged: LogLine[]): Analyst;
  close(): Promise<void>;
}

const LIMITS = {
  maxIterations: 2,
  maxCorrections: 0,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
const signal = new AbortController().signal;

/** One set-up for all texts: a clone, a model's server, a web; each run has the real road, tools and masking. */
export async function openStage(): Promise<Stage> {
  const repository = createHostileRepository();
  const model = await startOpenAiServer();
  let page = '';
  const web = await startLoopback((request, response) => {
    if (!request.url?.startsWith('/search'))
      return void response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<p>${page.replace(/</g, '&lt;')}</p>`);
    const found = [
      'http://pages.example.com:8/page',
      'http://10.0.0.5/admin',
      'http://localhost:6379/',
      'http://169.254.169.254/latest',
      'javascript:alert(1)',
    ];
    const url = (address: string) => address.replace(':8/', `:${new URL(web.url).port}/`);
    sendJson(response, 200, {
      results: found.map((address) => ({ title: 'The gremlin', url: url(address), content: page })),
    });
  });
  const host = recordHost(createLocalGitHost({ clones: { 'shop/api': repository.folder } }));
  const masker = createMasker({ known: [TEST_KEY, CANARIES.codeHostToken] });
  const analyst = (by: 'rules' | 'llm', logged: LogLine[]) => {
    const chat = createOpenAiChatModel({
      baseUrl: model.baseUrl,
      apiKey: TEST_KEY,
      model: 'gpt-4o-mini',
      timeoutMs: 20_000,
      maxRetries: 0,
      retryDelayMs: 1,
    });
    return by === 'rules'
      ? createRulesAnalyst()
      : withFallback(
          createLlmAnalyst({ model: chat, room: 6 }),
          createRulesAnalyst(),
          createRecordingLogger(logged),
        );
  };
  return {
    model,
    repository,
    analyst,
    close: async () => {
      repository.remove();
      await model.close();
      await web.close();
    },
    run: async (world, by) => {
      page = world.page ?? '';
      const logged: LogLine[] = [];
      const people: string[] = [];
      const before = web.requests.length;
      const build = sampleBuild(world.build);
      const archive = createMemoryArchive();
      const { codeHost, hosted } = watchHost(host);
      const mask = async (text: string) => (await masker.mask(text)).text;
      const tools = createTools({
        vectorIndex: createMemoryIndex(createHashingEmbedder()),
        archive,
        passingBuilds: useGivenGreen(null),
        codeHost,
        history: readHistory(world.past),
        webSearch: searchOn(web),
        knowledge: { team: createDocuments(world.document) },
        reviewers: createAskClient(people),
        mask,
      });
      const { toolbox, asked } = watchToolbox(
        createToolbox(tools, {
          mask,
          logger: createRecordingLogger(logged),
          resilience: { firstDelayMs: 1 },
        }),
      );
      const investigation = {
        analyst: analyst(by, logged),
        fallbackAnalyst: createRulesAnalyst(),
        toolbox,
        clock: systemClock,
        graph: compileTriageGraph(new MemorySaver()),
        limits: LIMITS,
        timeLimitMs: 60_000,
        durable: true,
      };
      const { analyses } = await triageSources(
        build,
        world.sources,
        { archive, masker, investigation, budgetTokens: 2_000 },
        signal,
        {
          maxGroups: 1,
        },
      );
      const [analysis] = analyses;
      if (analysis === undefined) throw new Error('no analysis');
      return {
        analysis,
        asked,
        hosted,
        people,
        web: web.requests.slice(before).map(({ path }) => path),
        logged,
        toolbox,
        masker,
      };
    },
  };
}

function watchToolbox(toolbox: Toolbox) {
  const asked: { call: ToolCall; category: Category }[] = [];
  const run: Toolbox['run'] = (call, subject, category, stop) => {
    asked.push({ call, category });
    return toolbox.run(call, subject, category, stop);
  };
  return { asked, toolbox: { ...toolbox, run } };
}

/** The clone never changes, so a question that was asked with the same words has the same answer; git is started for the first only. */
function recordHost(host: CodeHost): CodeHost {
  const answers = new Map<string, unknown>();
  return new Proxy(host, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        const key = JSON.stringify([name, ...args.filter((arg) => !(arg instanceof AbortSignal))]);
        // A failure is not kept: it may be of the moment.
        if (!answers.has(key)) answers.set(key, await Reflect.apply(value, target, args));
        return structuredClone(answers.get(key));
      };
    },
  });
}

function watchHost(host: CodeHost) {
  const hosted: { question: string; query: Readonly<Record<string, unknown>> }[] = [];
  const codeHost = new Proxy(host, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const [query] = args;
        if (typeof query === 'object' && query !== null)
          hosted.push({ question: String(name), query: { ...query } });
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { codeHost, hosted };
}

function searchOn(web: LoopbackServer) {
  const guard = createAddressGuard({
    resolve: async (name) => (name === 'pages.example.com' ? ['127.0.0.1'] : ['10.0.0.1']),
    isPublic: (address) => address === '127.0.0.1',
  });
  return createSearxngSearch({ baseUrl: web.url, apiKey: null, timeoutMs: 5_000, pages: 3, guard });
}

/** As the port promises: the first question stands. Nobody answers. */
function createAskClient(people: string[]): ReviewerClient {
  return {
    ask: async ({ text }) => {
      if (people.length === 0) people.push(text);
      return { id: 'q1', text: people[0] ?? text };
    },
  };
}

function readHistory(past: string | undefined): HistoryStore {
  if (past === undefined) return createEmptyHistory();
  const row: FailureRow = {
    failure: sampleFailure({ buildId: 'bld_0', message: `expect(received).toBe(expected)\n${past}` }),
    repository: 'shop/api',
    pipeline: 'ci',
    number: '640',
    branch: 'main',
    commit: null,
    category: null,
    analysisId: null,
    seenAt: '2026-01-02T00:00:00.000Z',
  };
  return {
    ...createEmptyHistory(),
    kept: true,
    failureHistory: async () => [row],
    similarFailures: async () => [{ ...row, score: 0.9 }],
  };
}

function createDocuments(text: string | undefined): TeamKnowledgeStore | undefined {
  if (text === undefined) return undefined;
  const none = async () => [];
  const document = { id: 'doc_1', source: 'runbooks/cart.md', title: 'Runbook of the cart', category: null };
  const match = { position: 1, place: 'Coupons › Fix', text: `Coupons\n\n${text}`, document, score: 0.9 };
  return {
    put: async () => 'doc_1',
    find: async () => null,
    passages: none,
    list: none,
    all: none,
    remove: async () => false,
    search: async () => [match],
  };
}
