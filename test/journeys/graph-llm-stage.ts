import { compileTriageGraph } from '../../graphs/triage/graph.ts';
import { computeRecursionLimit } from '../../graphs/triage/routes.ts';
import type { TriageStateValue } from '../../graphs/triage/state.ts';
import type { CalibrationInUse } from '../../src/domain/calibration.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import { createRulesAnalyst } from '../../src/judge/rules-analyst.ts';
import { systemClock } from '../../src/lib/time.ts';
import { readCauses } from '../../src/log/causes/read-causes.ts';
import { createLlmAnalyst } from '../../src/models/analyst/llm-analyst.ts';
import { withFallback } from '../../src/models/analyst/with-fallback.ts';
import { createOpenAiChatModel } from '../../src/models/chat/openai.ts';
import { createHashingEmbedder } from '../../src/models/embedder/hashing.ts';
import type { BuildArchive } from '../../src/ports/build-archive.ts';
import type { CodeHost } from '../../src/ports/code-host.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import type { WebSearch } from '../../src/ports/toolbox.ts';
import { groupFailures } from '../../src/service/triage/group-failures.ts';
import { createSubject } from '../../src/service/triage/triage-subject.ts';
import { createEmptyHistory, createNoWebSearch } from '../../src/stores/memory.ts';
import { createMemoryIndex } from '../../src/stores/vectors/memory.ts';
import { createTools } from '../../src/tools/all-tools.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import {
  type ChatCompletionRequest,
  type OpenAiServer,
  type Script,
  TEST_KEY,
} from '../support/openai-server.ts';
import { sampleBuild } from '../support/subject.ts';

const LIMITS = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
export const SOURCE = 'test.log';
export const LOG = [
  '> cart@2.3.0 test',
  '> jest --ci',
  '',
  'FAIL test/cart.test.js',
  '  ● cart › takes the coupon off and rounds to the nearest cent',
  '',
  '    expect(received).toBe(expected) // Object.is equality',
  '',
  '    Expected: \u001b[32m43.43\u001b[39m',
  '    Received: \u001b[31m43.42\u001b[39m',
  '',
  '      at Object.toBe (test/cart.test.js:26:38)',
  '',
  'Test Suites: 1 failed, 1 passed, 2 total',
  'Tests:       1 failed, 24 passed, 25 total',
  'npm error code 1',
].join('\n');
/** Lines of the log. */
export const EXPECTED = 9;
const RECEIVED = 10;

function createSubjectFor(log: string): TriageSubject {
  const read = readCauses([{ name: SOURCE, kind: 'log', text: log, notes: [] }], { budgetTokens: 2000 });
  const build = sampleBuild();
  const [group] = groupFailures(read, build.id);
  return createSubject({
    triageId: 'tri_1',
    build,
    group: group!,
    reading: read.causes[0]!.reading,
    notes: [],
  });
}

function createArchive(log: string): BuildArchive {
  const lines = log.split('\n');
  return {
    driver: 'test',
    put: async () => undefined,
    list: async () => [{ name: SOURCE, kind: 'log', lines: lines.length, bytes: log.length, notes: [] }],
    read: async (_build, name) => (name === SOURCE ? log : null),
    lines: async (_build, _name, from, to) => ({ lineStart: from, lines: lines.slice(from - 1, to) }),
    remove: async () => undefined,
    pieces: async function* () {},
  };
}

/** A repository whose files cannot be read today, though its search answers. */
const halfBrokenHost: CodeHost = {
  driver: 'test',
  canRead: async () => true,
  resolve: async ({ ref }) => ({ ref: ref ?? 'main', note: null }),
  readFile: async () => {
    throw new TriageError('upstream-failed', 'The code host answered 502');
  },
  search: async () => [{ path: 'src/money.js', line: 12, text: '  return Math.floor(amount * 100) / 100;' }],
  findFiles: async () => ['src/money.js'],
  blame: async () => [],
  history: async () => [],
  lineHistory: async () => [],
  listRepositories: async () => [],
  listFiles: async () => ({ paths: ['src/money.js'], truncated: false }),
  searchFiles: async () => [],
  commitDiff: async () => null,
  compare: async () => null,
};

export interface Run {
  readonly log?: string;
  readonly timeoutMs?: number;
  readonly webSearch?: WebSearch;
  readonly calibrations?: CalibrationInUse[];
}

/** Triages the log with the model behind the server and the rules behind it; real tools on memory. */
export async function runGraph(server: OpenAiServer, run: Run = {}): Promise<TriageStateValue> {
  const { log = LOG, timeoutMs = 5000, webSearch = createNoWebSearch(), calibrations = [] } = run;
  const limits = { ...LIMITS, calibrations };
  const vectorIndex = createMemoryIndex(createHashingEmbedder());
  const text =
    'A sum differs by one cent: an amount was rounded twice, or cut instead of rounded. Round once, at the end.';
  await vectorIndex.upsert('knowledge', [
    {
      id: 'ERR008',
      text,
      metadata: {
        documentId: 'ERR008',
        title: 'Rounding',
        category: 'TEST_FAILURE',
        kind: 'assertion',
        part: 'document',
      },
    },
  ]);
  const tools = createTools({
    vectorIndex,
    archive: createArchive(log),
    passingBuilds: { of: async () => null },
    codeHost: halfBrokenHost,
    history: createEmptyHistory(),
    webSearch,
  });
  const model = createOpenAiChatModel({
    baseUrl: server.baseUrl,
    apiKey: TEST_KEY,
    model: 'gpt-4o-mini',
    timeoutMs,
    maxRetries: 1,
    retryDelayMs: 5,
  });
  const analyst = withFallback(createLlmAnalyst({ model }), createRulesAnalyst(), silentLogger);
  const toolbox = createToolbox(tools, { mask: (masked) => masked, resilience: { firstDelayMs: 1 } });
  return compileTriageGraph().invoke(
    { subject: createSubjectFor(log), limits },
    {
      context: {
        analyst,
        fallbackAnalyst: createRulesAnalyst(),
        toolbox,
        clock: systemClock,
        onStep: undefined,
      },
      recursionLimit: computeRecursionLimit(limits),
    },
  );
}

const QUOTES = [
  { source: SOURCE, line: EXPECTED, text: 'Expected: 43.43' },
  { source: SOURCE, line: RECEIVED, text: 'Received: 43.42' },
];
export const CLASSIFIED = {
  because: 'The test expected 43.43 and received 43.42.',
  category: 'TEST_FAILURE',
  kind: 'assertion',
  confidence: 0.9,
  probabilities: { CODE_ERROR: 0.1, INFRA_ERROR: 0, CONFIG_ERROR: 0, DEPENDENCY_ERROR: 0, TEST_FAILURE: 0.9 },
  abstained: false,
};
export const ANSWER = {
  title: 'The coupon total is one cent too low',
  rootCause: 'The total is cut to cents instead of rounded (E1).',
  fixRecommendation: 'Round the total once, after the coupon.',
  claims: [{ text: 'The total is 43.42 where 43.43 was expected.', evidence: ['E1'], quotes: QUOTES }],
  suspects: [],
  hypotheses: [],
  confidence: 0.95,
};
export const GOOD_VERDICT = {
  grades: [{ evidence: 'E1', grade: 'relevant' }],
  unsupportedClaims: [],
  gaps: [],
  against: [],
  confidence: 0.97,
};
export const BOTH_SEARCHES = [
  {
    tool: 'search_knowledge',
    args: { query: 'a sum differs by one cent', category: null, limit: null },
    why: 'known kinds',
  },
  { tool: 'search_error_library', args: { query: 'total differs by a cent' }, why: 'past decisions' },
];

export type Turns = Readonly<Record<string, readonly (object | Script)[]>>;

/** Says for each judgement what is replied, turn by turn; the last reply holds on. A `do` makes it a script. */
export function playOn(server: OpenAiServer, turns: Turns): void {
  server.script(createScript(turns));
}

/** What `playOn` plays. */
export function createScript(turns: Turns): (request: ChatCompletionRequest) => Script {
  const next = new Map<string, number>();
  return (request) => {
    const name = findJudgment(request);
    const replies = { ...DEFAULTS, ...turns }[name] ?? [{}];
    const turn = next.get(name) ?? 0;
    next.set(name, turn + 1);
    const reply = replies[Math.min(turn, replies.length - 1)] ?? {};
    return 'do' in reply ? (reply as Script) : { do: 'reply', value: reply };
  };
}

/** By the name of the schema, by the functions, or by the schema in words. */
function findJudgment({ schemaName, tools, messages }: ChatCompletionRequest): string {
  if (tools.length > 0) return 'select-tool';
  if (schemaName !== '') return schemaName;
  const told = messages[0]?.content ?? '';
  const [name] = Object.entries(MARKS).find(([, mark]) => told.includes(mark)) ?? ['unknown'];
  return name;
}

const MARKS = {
  'select-tool': '{"calls": [',
  classify: '"probabilities":{',
  reason: '"revised":{',
  verify: '"unsupportedClaims":{',
  answer: '"rootCause":{',
};

export const DEFAULTS: Turns = {
  classify: [CLASSIFIED],
  reason: [
    {
      thought: 'A value differs by a cent; what is known about that?',
      confidence: 0.6,
      gaps: [],
      revised: null,
      next: 'look',
    },
    { thought: 'Rounding explains it.', confidence: 0.8, gaps: [], revised: null, next: 'answer' },
  ],
  'select-tool': [{ calls: BOTH_SEARCHES }],
  answer: [ANSWER],
  verify: [GOOD_VERDICT],
};

/** Who gave each judgement, in order. */
export const judges = (state: TriageStateValue) =>
  state.steps.flatMap((step) => (step.by === undefined ? [] : [`${step.node} ${step.by}`]));
