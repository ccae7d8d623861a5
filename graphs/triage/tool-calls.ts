import type { JudgementTrace } from '../../src/domain/analysis.ts';
import { CATEGORIES, type Category } from '../../src/domain/category.ts';
import {
  type Evidence,
  type Finding,
  getCallKey,
  REPEATED_CALL,
  type ToolCall,
  type ToolOutcome,
} from '../../src/domain/evidence.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import { append } from '../../src/lib/collections.ts';
import type { Judgment } from '../../src/ports/analyst.ts';
import type { Toolbox, ToolDescription } from '../../src/ports/toolbox.ts';
import { askAnalyst, type RunBudget } from './ask-analyst.ts';
import { getTimeLeft, startDeadline } from './budget.ts';
import { getContext, type TriageRuntime } from './context.ts';
import { toJudgmentTrace } from './finished-step.ts';
import { ASK_REVIEWER } from './question.ts';
import { Investigator, type TriageStateValue, toInsight } from './state.ts';

/**
 * Lists the tools of the category that can be asked about this subject, cheapest first and fallback tools
 * last.
 */
export async function listAskableTools(
  toolbox: Toolbox,
  category: Category,
  subject: TriageSubject,
  signal: AbortSignal,
): Promise<readonly ToolDescription[]> {
  return toolbox.askable === undefined
    ? toolbox.offered(category)
    : await toolbox.askable(category, subject, signal);
}

/**
 * Lists the tools that may be called next: those of the category and then, if a model chooses, those of the
 * other categories, because the category is a guess until the cause is known. Web search is offered alone. A
 * person is asked only once, and a tool whose empty answer is final not again.
 */
export async function listOfferedTools(
  state: TriageStateValue,
  askWeb: boolean,
  runtime: TriageRuntime,
): Promise<ToolDescription[]> {
  const { classification, subject } = toInsight(state);
  const { toolbox, analyst, fallbackAnalyst = analyst } = getContext(runtime);
  const others =
    analyst.name === fallbackAnalyst.name || askWeb
      ? []
      : CATEGORIES.filter((category) => category !== classification.category);
  const offered = await Promise.all(
    [classification.category, ...others].map((category) =>
      listAskableTools(toolbox, category, subject, runtime.signal),
    ),
  );
  const byName = new Map(offered.flat().map((tool) => [tool.name, tool]));
  const empty = new Set(
    state.outcomes.filter(({ status }) => status === 'empty').map(({ call }) => call.tool),
  );
  const personAsked = state.outcomes.some(
    (outcome) => outcome.call.tool === ASK_REVIEWER && outcome.status !== 'refused',
  );
  return [...byName.values()].filter(
    (tool) =>
      tool.fallback === askWeb &&
      !(personAsked && tool.name === ASK_REVIEWER) &&
      !(tool.isEmptyFinal === true && empty.has(tool.name)),
  );
}

/** The tool that asks a search engine: the only one whose words leave the installation for a stranger. */
export const SEARCH_WEB = 'search_web';
/** Queries of one run. */
const MAX_WEB_QUERIES = 3;

/**
 * Returns the tools that a model may call without being offered them: the web, if it can be searched. Returns
 * none for the rules, which search it only after a weak answer.
 */
export async function findTolerated(state: TriageStateValue, runtime: TriageRuntime) {
  const { toolbox, analyst, fallbackAnalyst = analyst } = getContext(runtime);
  const { classification, subject } = toInsight(state);
  if (analyst.name === fallbackAnalyst.name) return [];
  const tools = await listAskableTools(toolbox, classification.category, subject, runtime.signal);
  return tools.filter(({ name }) => name === SEARCH_WEB);
}

/**
 * Keeps at most three different searches of the web in a run, and leaves the other calls as they are. Queries
 * are equal if they have the same words.
 */
export function limitWebQueries(chosen: readonly ToolCall[], outcomes: readonly ToolOutcome[]): ToolCall[] {
  const made = outcomes.filter(({ call, status }) => call.tool === SEARCH_WEB && status !== 'refused');
  const seen = new Set(made.map(({ call }) => queryKey(call)));
  return chosen.filter((call) => {
    if (call.tool !== SEARCH_WEB) return true;
    const key = queryKey(call);
    if (seen.has(key) || seen.size >= MAX_WEB_QUERIES) return false;
    seen.add(key);
    return true;
  });
}

function queryKey({ args: { query } }: ToolCall): string {
  const words = typeof query === 'string' ? (query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []) : [];
  return [...new Set(words)].sort().join(' ');
}

/** The investigators in the order in which their findings are numbered. */
export const INVESTIGATORS: readonly Investigator[] = Investigator.options;

/**
 * Returns the offered tools that this investigator may call. Includes fallback tools (the web) only if
 * `fallback` is true, which means that the other tools found nothing.
 */
export function pickInvestigatorTools(
  investigator: Investigator,
  offered: readonly ToolDescription[],
  fallback: boolean,
): ToolDescription[] {
  return offered.filter((tool) => tool.investigator === investigator && (fallback || !tool.fallback));
}

/** Calls that are made at once. */
const MAX_CALLS = 6;
/** Refusals that the next round sees one by one; a hundred of them would fill its prompt. */
const MAX_REFUSALS = 4;

export interface CheckedCalls {
  readonly calls: ToolCall[];
  /** Calls for the next round, because no more can be made at once. */
  readonly surplus: ToolCall[];
  /** Calls that are not made, each with the reason as its outcome. */
  readonly refused: ToolOutcome[];
  /** Notes for people. Empty if nothing was refused. */
  readonly notes: readonly string[];
}

/**
 * Accepts calls of offered tools that were not made yet. The six with the highest precedence are made now,
 * and up to `later` more in the next round. All others are refused; at most four refusals are reported one by
 * one.
 */
export function checkCalls(
  chosen: readonly ToolCall[],
  offered: readonly ToolDescription[],
  outcomes: readonly ToolOutcome[],
  later = MAX_CALLS,
): CheckedCalls {
  const names = new Set(offered.map((tool) => tool.name));
  const seen = new Set(
    outcomes.filter((outcome) => outcome.status !== 'refused').map((outcome) => getCallKey(outcome.call)),
  );
  const accepted: ToolCall[] = [];
  const refused: ToolOutcome[] = [];
  for (const call of chosen) {
    if (!names.has(call.tool)) refused.push(refuse(call, describeForeign(call, names)));
    else if (seen.has(getCallKey(call))) refused.push(refuse(call, REPEATED_CALL));
    else accepted.push(call);
    seen.add(getCallKey(call));
  }
  const sorted = sortByWorth(accepted, offered);
  const rest = sorted.slice(MAX_CALLS + later);
  append(
    refused,
    rest.map((call) => refuse(call, `Too many calls were chosen: only ${MAX_CALLS + later} are kept.`)),
  );
  const others = refused.filter((outcome) => names.has(outcome.call.tool)).length;
  const notes = [
    ...describeForeignTools(chosen, names, MAX_REFUSALS),
    ...(others > 0
      ? [`${others} repeated or surplus ${others === 1 ? 'call was' : 'calls were'} not made.`]
      : []),
  ];
  const surplus = sorted.slice(MAX_CALLS, MAX_CALLS + later);
  return { calls: sorted.slice(0, MAX_CALLS), surplus, refused: refused.slice(0, MAX_REFUSALS), notes };
}

function describeForeign({ tool }: ToolCall, names: ReadonlySet<string>): string {
  return `${tool.slice(0, 80)} is not one of the tools offered now; choose one of: ${[...names].join(', ')}.`;
}

/** Returns the outcome of a call that is not made. */
function refuse(call: ToolCall, summary: string): ToolOutcome {
  return { call, status: 'refused', findings: [], summary, milliseconds: 0, attempts: 0 };
}

/** The ranks of tools without a precedence, and of those that have little to say about this failure. */
const [LATER, LAST] = [1_000, 1_001];

/**
 * Sorts calls if not all can be made now: by the precedence of their tools, and those of one rank in the
 * order in which they were chosen.
 */
function sortByWorth(calls: readonly ToolCall[], offered: readonly ToolDescription[]): ToolCall[] {
  if (calls.length <= MAX_CALLS) return [...calls];
  const rank = (call: ToolCall) => {
    const tool = offered.find(({ name }) => name === call.tool);
    return tool?.outlook === 'poor' ? LAST : (tool?.precedence ?? LATER);
  };
  return calls.toSorted((left, right) => rank(left) - rank(right));
}

/** Says which of the chosen tools are not among the offered ones. */
export function describeForeignTools(
  chosen: readonly ToolCall[],
  offered: ReadonlySet<string>,
  most?: number,
): string[] {
  const foreign = [...new Set(chosen.map(({ tool }) => tool).filter((tool) => !offered.has(tool)))].slice(
    0,
    most,
  );
  return foreign.length === 0 ? [] : [`Not offered, so not used: ${foreign.join(', ')}.`];
}

/** The replies of several parallel calls, in the order of the calls. */
export interface ToolReplies {
  readonly replies: readonly ToolOutcome[];
  readonly corrections: readonly Judgment<ToolCall | null>[];
  readonly judgements: readonly JudgementTrace[];
}

export interface ToolRun extends RunBudget {
  readonly subject: TriageSubject;
  readonly category: Category;
}

/**
 * Asks independent questions side by side. A tool's failure is a reply like any other, and so is the end of
 * the time.
 */
export async function runTools(
  calls: readonly ToolCall[],
  run: ToolRun,
  runtime: TriageRuntime,
): Promise<ToolReplies> {
  const left = getTimeLeft(run.spent, run.limits);
  const late = left === null ? null : startDeadline(left);
  const asked = await Promise.all(calls.map((call) => ask(call, run, runtime, late?.signal ?? null))).finally(
    () => late?.stop(),
  );
  return {
    replies: asked.map((result) => result.reply),
    corrections: asked.flatMap((result) => result.correction ?? []),
    judgements: asked.flatMap((result) => result.judgement ?? []),
  };
}

/** Runs one call; arguments that the tool refuses go back to the analyst once, with the tool's own words. */
async function ask(call: ToolCall, run: ToolRun, runtime: TriageRuntime, late: AbortSignal | null) {
  const { toolbox, clock } = getContext(runtime);
  const { subject } = run;
  const reply = await put(call, run, runtime, late);
  const tool = toolbox.describe(call.tool);
  if (reply.status !== 'invalid-arguments' || tool === null) return { reply };
  const startedAt = clock.now();
  const correction = await askAnalyst(runtime, run, (analyst, signal) =>
    analyst.correctCall({ call, error: reply.summary, tool, subject }, signal),
  );
  const judgment = toJudgmentTrace('correct_call', clock.now() - startedAt, correction);
  if (correction.value === null) return { reply, correction, judgement: judgment };
  // A correction fixes arguments; another tool would come past what `select_tool` offered.
  const second = await put({ ...correction.value, tool: call.tool }, run, runtime, late);
  return {
    reply: { ...second, attempts: second.attempts + reply.attempts },
    correction,
    judgement: judgment,
  };
}

async function put(
  call: ToolCall,
  run: ToolRun,
  runtime: TriageRuntime,
  late: AbortSignal | null,
): Promise<ToolOutcome> {
  const { toolbox, clock } = getContext(runtime);
  const startedAt = clock.now();
  try {
    const signal = late === null ? runtime.signal : AbortSignal.any([runtime.signal, late]);
    return await toolbox.run(call, run.subject, run.category, signal);
  } catch (error) {
    if (late === null || !late.aborted || runtime.signal.aborted) throw error;
    return createTimeoutOutcome(call, Math.max(0, clock.now() - startedAt));
  }
}

/** Returns the reply to a call that the time limit of the run interrupted. */
export function createTimeoutOutcome(call: ToolCall, milliseconds: number): ToolOutcome {
  const summary = 'The run reached its time limit before this tool answered.';
  return { call, status: 'timed-out', findings: [], summary, milliseconds, attempts: 1 };
}

/** Returns the results of calls for the step of the node that made them. */
export function createCallsStep({
  replies,
  judgements: judgments,
}: Pick<ToolReplies, 'replies' | 'judgements'>) {
  return {
    summary: replies.map((reply) => `${reply.call.tool}: ${reply.summary}`).join(' · '),
    outcomes: replies.map(withoutFindings),
    ...(judgments.length === 0 ? {} : { judgements: [...judgments] }),
  };
}

export function withoutFindings({
  findings: _findings,
  ...outcome
}: ToolOutcome): Omit<ToolOutcome, 'findings'> {
  return outcome;
}

/**
 * Numbers the findings in the order of the replies, starting after the highest known number. The same lines
 * of the same source are the same evidence, no matter which tool found them. The outcomes are the replies
 * without their findings, each with the numbers of its evidence.
 */
export function numberEvidence(replies: readonly ToolOutcome[], known: readonly Evidence[], round: number) {
  const ids = new Map(known.map((item) => [computeIdentity(item), item.id]));
  const last = known.reduce((most, { id }) => Math.max(most, Number(id.slice(1))), 0);
  const found: Evidence[] = [];
  const outcomes = replies.map((reply): ToolOutcome => {
    const brought = reply.findings.map((finding) => {
      const identity = computeIdentity(finding);
      const id = ids.get(identity) ?? `E${last + found.length + 1}`;
      if (!ids.has(identity)) found.push({ ...finding, id, tool: reply.answeredBy ?? reply.call.tool });
      ids.set(identity, id);
      return id;
    });
    return { ...reply, findings: [], round, evidence: [...new Set(brought)] };
  });
  return { found, outcomes };
}

function computeIdentity(finding: Finding): string {
  return JSON.stringify([finding.source, finding.lineStart ?? null, finding.lineEnd ?? null, finding.text]);
}

/** Describes new evidence for the step of the node that numbered it: "2 new: E7, E8". */
export function describeNewEvidence(found: readonly Evidence[]): string {
  return found.length === 0
    ? 'nothing new'
    : `${found.length} new: ${found.map((item) => item.id).join(', ')}`;
}
