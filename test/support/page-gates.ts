import type { Answer, Classification } from '../../src/domain/analysis.ts';
import type { Evidence, ToolOutcome } from '../../src/domain/evidence.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import { classifyRole } from '../../src/log/line-roles.ts';
import { cleanLine, stripEscapes } from '../../src/log/lines/clean.ts';
import { normalizeRepeat } from '../../src/models/analyst/choose-lines.ts';
import { createLlmAnalyst } from '../../src/models/analyst/llm-analyst.ts';
import type { ChatModel } from '../../src/ports/chat-model.ts';
import type { ToolDescription } from '../../src/ports/toolbox.ts';
import { createSubjectFrom } from './judging-gates.ts';
import { type CapturedFailure, createFigure, type GateFigure } from './reading-gates.ts';

/** The maximum number of log tokens that an analysis with a model sees. */
const BUDGET_TOKENS = 4_000;
/** The number of lines of a log that are requested at once. */
const WINDOW = 120;
const NOISE: ReadonlySet<string> = new Set(['echo', 'progress', 'passing']);
/**
 * The pattern of the failed command as the system prints it before running it. It is part of the informative
 * lines.
 */
const HEAD = /^(?:##\[(?:group\]Run |endgroup\])|shell: |\[command\]|\+ )/;

/** A failure with its log and the lines that say why it failed. */
export type Labelled = Pick<CapturedFailure, 'name' | 'text' | 'telling'> & {
  readonly subject?: TriageSubject;
};

/** The user message of each judgment that a model makes about a failure. */
export type Requests = Readonly<Record<'classify' | 'reason' | 'select-tool' | 'answer' | 'verify', string>>;

/**
 * The function that creates the requests for a failure. The gates are also tested with analysts that show
 * less.
 */
export type Ask = (failure: Labelled) => Promise<Requests>;

/**
 * Measures the share of failures that show a model what it must see (informative lines, the lines it
 * requested, and cited lines), and how little else.
 */
export async function measurePages(
  failures: readonly Labelled[],
  ask: Ask = askAbout,
): Promise<GateFigure[]> {
  const missed = {
    classify: [] as string[],
    answer: [] as string[],
    requested: [] as string[],
    cited: [] as string[],
  };
  let [shown, junk] = [0, 0];
  for (const failure of failures) {
    const requests = await ask(failure);
    const telling = listLines(failure.telling, failure.text);
    const window = listLines([findWindow(failure)], failure.text);
    if (!isShown(telling, requests.classify)) missed.classify.push(failure.name);
    if (!isShown(telling, requests.answer)) missed.answer.push(failure.name);
    if (!isShown(telling, requests.verify)) missed.cited.push(failure.name);
    if (!isAccountedFor(window, requests.reason) || !isAccountedFor(window, requests['select-tool']))
      missed.requested.push(failure.name);
    const lines = listShownLines(requests.classify);
    shown += lines.size;
    junk += findJunk(requests.classify).filter((line) => !telling.includes(line)).length;
  }
  const count = failures.length;
  return [
    createFigure('telling lines shown to the model that classifies', 0.97, count, missed.classify),
    createFigure('telling lines shown to the model that answers', 0.98, count, missed.answer),
    createFigure(
      'requested lines shown in the next question, or named as the rest',
      1,
      count,
      missed.requested,
    ),
    createFigure('cited lines shown to the model that verifies', 1, count, missed.cited),
    {
      name: 'shown lines of a log that have a role and repeat no other',
      value: 1 - junk / Math.max(1, shown),
      bar: 0.95,
      cases: shown,
      missed: [],
    },
  ];
}

/**
 * Returns the requests of a run in which the second round reads 120 lines far from the end, and whose answer
 * quotes every informative line.
 */
export const askAbout: Ask = async (failure) => {
  const subject = failure.subject ?? createSubjectFrom(failure.text, { budgetTokens: BUDGET_TOKENS });
  const evidence: Evidence[] = subject.excerpts.map((excerpt, i) => ({
    ...excerpt,
    id: `E${i + 1}`,
    tool: 'log',
    title: excerpt.reason,
  }));
  const window = createEvidence(failure, findWindow(failure), `E${evidence.length + 1}`);
  const cited = failure.telling.map((range, i) =>
    createEvidence(failure, range, `E${evidence.length + 2 + i}`),
  );
  const known = [...evidence, ...cited, window];
  const outcomes: ToolOutcome[] = [
    {
      call: call('grep_log'),
      status: 'ok',
      findings: [],
      summary: '',
      milliseconds: 1,
      attempts: 1,
      round: 1,
      evidence: cited.map(({ id }) => id),
    },
    {
      call: call('view_log'),
      status: 'ok',
      findings: [],
      summary: '1 finding',
      milliseconds: 1,
      attempts: 1,
      round: 2,
      evidence: [window.id],
    },
  ];
  const sent: Record<string, string> = {};
  const analyst = createLlmAnalyst({ model: waitForListening(sent) });
  const signal = new AbortController().signal;
  const insight = { subject, classification: CLASSIFIED, evidence: known, outcomes, round: 3, gaps: [] };
  await analyst.classify({ subject }, signal);
  await analyst.plan({ ...insight, offered: [TOOL] }, signal);
  await analyst.chooseTools(
    { ...insight, plan: { thought: '', confidence: 0.5, enough: false, retrieval: 0 }, offered: [TOOL] },
    signal,
  );
  await analyst.answer({ ...insight, evidence, outcomes: [] }, signal);
  const claims = cited.map((item) => ({
    text: 'It says so.',
    evidence: [item.id],
    quotes: [{ source: item.source, line: item.lineStart ?? 1, text: 'x' }],
  }));
  await analyst.verify({ ...insight, answer: { ...ANSWER, claims } }, signal);
  const { classify = '', reason = '', answer = '', verify = '' } = sent;
  return { classify, reason, 'select-tool': sent['select-tool'] ?? '', answer, verify };
};

/** Checks whether the words of a log line say nothing about the failure. */
function isNoise(text: string): boolean {
  return NOISE.has(classifyRole(text)) && !HEAD.test(text);
}

/** Returns the numbered lines of a request that are noise or repeat an earlier one. */
export function findJunk(request: string): number[] {
  const seen = new Set<string>();
  return [...request.matchAll(/^(\d+)\| (.*)$/gm)].flatMap(([, line, text = '']) => {
    const words = normalizeRepeat(text);
    const isRepeated = words.length >= 12 && seen.has(words);
    seen.add(words);
    return isRepeated || isNoise(text) || words === '' ? [Number(line)] : [];
  });
}

/**
 * Returns the numbered lines of the log in a request, including those that repeat one of them and are only
 * counted there.
 */
export function listShownLines(request: string): Map<number, string> {
  const shown = new Map<number, string>();
  let last = '';
  for (const [, line, text = '', repeats] of request.matchAll(
    /^(?:(\d+)\| (.*)| {3}\[repeats on lines? ([\d, ]+).*)$/gm,
  )) {
    if (line !== undefined) shown.set(Number(line), text);
    for (const number of repeats?.match(/\d+/g) ?? []) shown.set(Number(number), last);
    last = repeats === undefined ? text : last;
  }
  return shown;
}

function isShown(lines: readonly number[], request: string): boolean {
  const shown = listShownLines(request);
  return lines.every((line) => shown.has(line));
}

/**
 * Checks whether each line is shown, or is in the ranges that the request names as too long to be shown at
 * once.
 */
function isAccountedFor(lines: readonly number[], request: string): boolean {
  const shown = listShownLines(request);
  const rest = [...request.matchAll(/^Too long to be shown at once: .*$/gm)].flatMap(([words]) =>
    [...words.matchAll(/lines (\d+)-(\d+)/g)].map(([, from, to]) => [Number(from), Number(to)] as const),
  );
  return lines.every((line) => shown.has(line) || rest.some(([from, to]) => line >= from && line <= to));
}

/** Returns the non-empty lines of ranges. */
function listLines(ranges: readonly (readonly [number, number])[], text: string): number[] {
  const all = text.split('\n');
  const isBlank = (line: number) => classifyRole(cleanLine(stripEscapes(all[line - 1] ?? ''))) === 'blank';
  return ranges
    .flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
    .filter((line) => !isBlank(line));
}

/** Returns a range of lines in the middle of the log, which no excerpt needs to contain. */
function findWindow({ text }: Labelled): readonly [number, number] {
  const count = text.split('\n').length;
  const from = Math.max(1, Math.floor(count / 2) - WINDOW / 2);
  return [from, Math.min(count, from + WINDOW - 1)];
}

function createEvidence(
  { text }: Labelled,
  [lineStart, lineEnd]: readonly [number, number],
  id: string,
): Evidence {
  const lines = text
    .split('\n')
    .slice(lineStart - 1, lineEnd)
    .join('\n');
  return {
    id,
    tool: 'view_log',
    title: `lines ${lineStart}–${lineEnd}`,
    source: 'log',
    lineStart,
    lineEnd,
    text: lines,
  };
}

function call(tool: string) {
  return { tool, args: {}, why: 'to see more' };
}

function waitForListening(sent: Record<string, string>): ChatModel {
  const cost = { model: 'm', inputTokens: 0, outputTokens: 0, costUsd: 0, calls: 1 };
  const plan = { thought: '', gaps: [], revised: null, confidence: 0.5, next: 'look' };
  const verdict = { grades: [], unsupportedClaims: [], gaps: [], against: [], confidence: 0.5 };
  const replies: Readonly<Record<string, unknown>> = {
    classify: CLASSIFIED,
    reason: plan,
    answer: ANSWER,
    verify: verdict,
  };
  return {
    name: 'm',
    ask: async (request) => {
      sent[request.name] = request.user;
      return { value: request.parse(replies[request.name]), ...cost };
    },
    chooseTools: async (request) => {
      sent[request.name] = request.user;
      return { value: [], ...cost };
    },
    stream: async () => ({ value: '', ...cost }),
  };
}

const TOOL: ToolDescription = {
  name: 'view_log',
  question: 'What stands on these lines of the log?',
  categories: ['CODE_ERROR'],
  always: false,
  costClass: 'low',
  usualLatencyMs: 100,
  fallback: false,
  parameters: {},
};

const CLASSIFIED: Classification = {
  because: 'it says so',
  category: 'CODE_ERROR',
  kind: 'compile_error',
  confidence: 0.9,
  probabilities: { CODE_ERROR: 0.9, INFRA_ERROR: 0.1, CONFIG_ERROR: 0, DEPENDENCY_ERROR: 0, TEST_FAILURE: 0 },
  abstained: false,
};

const ANSWER: Answer = {
  title: 't',
  rootCause: '',
  fixRecommendation: '',
  claims: [],
  suspects: [],
  hypotheses: [],
  confidence: 0.5,
};
