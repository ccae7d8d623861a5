import type { Category } from '../domain/category.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import type { Finding, ToolCall, ToolOutcome } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { createRunLimiter, limitTime, type RunLimiter } from '../lib/resilience.ts';
import type { ToolCacheStore } from '../ports/stores.ts';
import { type Logger, silentLogger } from '../ports/telemetry.ts';
import type { Toolbox, ToolDescription } from '../ports/toolbox.ts';
import { boundFinding, cleanText, MAX_FINDINGS } from './findings.ts';
import { createResilience, isRefusal, type Resilience, type ResilienceOptions } from './resilience.ts';
import { createResultCache, type Reply, type ResultCache } from './result-cache.ts';
import type { Alternative, Tool, ToolContext, ToolRequest } from './tool.ts';

export interface ToolboxOptions {
  /** Masks secrets in every text that a tool returns. */
  readonly mask: (text: string) => string | Promise<string>;
  readonly logger?: Logger;
  readonly resilience?: Partial<ResilienceOptions>;
  /**
   * Returns the time limit of one request with its retries, in milliseconds; by default 20 times the usual
   * latency, 5 to 30 s.
   */
  readonly timeLimitMs?: (tool: ToolDescription) => number;
  /** The cache for answers of tools that allow caching; without it nothing is cached. */
  readonly cache?: ToolCacheStore;
  /** The number of concurrent requests per triage; further ones wait. Default 4. */
  readonly concurrency?: number;
}

const COST_ORDER = { low: 0, medium: 1, high: 2 } as const;
const MAX_SUMMARY = 500;
const CONCURRENCY = 4;
/** Time limit for a tool's availability check, in milliseconds. */
const ASKABLE_MS = 2_000;
const DEFAULT_RESILIENCE: ResilienceOptions = { firstDelayMs: 200, breakAfter: 6, restMs: 30_000 };

/**
 * Creates the registry of tools. `run` returns every failure of a tool as data; it throws only `cancelled`,
 * when the run's own
 * signal aborts. Findings are cleaned, masked and bounded: at most 10, each at most 4,000 characters.
 */
export function createToolbox(tools: readonly Tool[], options: ToolboxOptions): Toolbox {
  const byName = indexByName(tools);
  const resilience = createResilience({ ...DEFAULT_RESILIENCE, ...options.resilience });
  const logger = options.logger ?? silentLogger;
  const cache = createResultCache(options.cache ?? null, logger);
  const limiter = createRunLimiter(options.concurrency ?? CONCURRENCY);
  const deps: ToolboxDeps = { byName, resilience, options, logger, cache, limiter, askable: new WeakMap() };
  const offered = (category: Category) =>
    tools
      .filter(({ description }) => description.categories.includes(category))
      .sort((left, right) => compareCost(left.description, right.description));
  return {
    offered: (category) => offered(category).map((tool) => tool.description),
    askable: async (category, subject, signal) => {
      const described = await Promise.all(
        offered(category).map((tool) => describeFor(deps, tool, subject, signal)),
      );
      return described.filter((description) => description !== null);
    },
    describe: (name) => byName.get(name)?.description ?? null,
    breakers: () => resilience.breakers(),
    run: (call, subject, category, signal) => answer(deps, call, { subject, category, signal }),
  };
}

/**
 * Describes a tool for a subject, with its outlook. Returns null if it is unavailable. If the check fails,
 * the tool counts as available, and calling it shows the failure. A provider whose breaker is open is not
 * checked. The result is kept for the whole run.
 */
async function describeFor(
  deps: ToolboxDeps,
  tool: Tool,
  subject: TriageSubject,
  signal: AbortSignal,
): Promise<ToolDescription | null> {
  const { description } = tool;
  if (isLeftAlone(deps, tool)) return description;
  const known = deps.askable.get(subject) ?? new Map<Tool, ToolDescription | null>();
  deps.askable.set(subject, known);
  const answer = known.get(tool);
  if (answer !== undefined) return answer;
  const limit = { limitMs: ASKABLE_MS, signal };
  try {
    const isAway = (await limitTime(limit, () => tool.findUnavailableReason(subject))) !== null;
    const outlook = isAway
      ? undefined
      : await limitTime(limit, (within) => tool.estimateOutlook(subject, within));
    const described = outlook === undefined ? description : { ...description, outlook };
    known.set(tool, isAway ? null : described);
    return isAway ? null : described;
  } catch (error) {
    // Only the failure is reported, because some tools check without calling their provider.
    await deps.resilience.once(tool.provider, () => Promise.reject(error)).catch(() => undefined);
    return description;
  }
}

function isLeftAlone({ resilience }: ToolboxDeps, { provider }: Tool): boolean {
  return resilience.breakers()[provider] === 'open';
}

interface ToolboxDeps {
  readonly byName: ReadonlyMap<string, Tool>;
  readonly resilience: Resilience;
  readonly options: ToolboxOptions;
  readonly logger: Logger;
  readonly cache: ResultCache;
  readonly limiter: RunLimiter;
  /** The results of availability checks by subject; each run has one subject. */
  readonly askable: WeakMap<TriageSubject, Map<Tool, ToolDescription | null>>;
}

/** Calls the tool, or its alternative if it failed or was too slow. */
async function answer(deps: ToolboxDeps, call: ToolCall, context: ToolContext): Promise<ToolOutcome> {
  const started = performance.now();
  const finish = ({ final: _final, ...reply }: Reply, answeredBy?: string): ToolOutcome => ({
    call,
    ...reply,
    summary: cleanText(reply.summary).slice(0, MAX_SUMMARY),
    milliseconds: Math.round(performance.now() - started),
    ...(answeredBy === undefined ? {} : { answeredBy }),
  });
  const tool = deps.byName.get(call.tool);
  if (tool === undefined) return finish(createRefusedReply(`There is no tool named ${call.tool}.`));
  const first = await ask(deps, tool, call, context);
  if (first.status !== 'failed' && first.status !== 'timed-out') return finish(first);
  deps.logger.warn(
    { tool: call.tool, status: first.status, attempts: first.attempts, summary: first.summary },
    'a tool failed',
  );
  const alternative = tool.alternative === null ? undefined : deps.byName.get(tool.alternative.tool);
  const fail = async (reply: Reply) =>
    finish(await addFallbackFindings(deps, tool.listFallbackFindings(context.subject), reply));
  if (tool.alternative === null || alternative === undefined) return await fail(first);
  // A refusal of our credentials or quota applies to every call of this provider.
  if (first.final === true && alternative.provider === tool.provider) return await fail(first);
  const name = alternative.description.name;
  const second = await askInstead(deps, tool.alternative, alternative, call, context);
  const attempts = first.attempts + second.attempts;
  if (second.status === 'ok' || second.status === 'empty') {
    return finish(
      { ...second, summary: `${first.summary} Instead, ${name}: ${second.summary}`, attempts },
      name,
    );
  }
  return await fail({
    ...first,
    summary: `${first.summary} ${name} could not help either: ${second.summary}`,
    attempts,
  });
}

/** Adds findings that need no call to a failed reply. The reply stays failed. */
async function addFallbackFindings(
  deps: ToolboxDeps,
  named: readonly Finding[],
  failed: Reply,
): Promise<Reply> {
  if (named.length === 0) return failed;
  const { findings, summary } = await createFoundReply(named, failed.attempts, deps);
  return { ...failed, findings, summary: `${failed.summary} Named instead, and not read: ${summary}` };
}

async function askInstead(
  deps: ToolboxDeps,
  { args }: Alternative,
  tool: Tool,
  call: ToolCall,
  context: ToolContext,
): Promise<Reply> {
  try {
    return await ask(deps, tool, { ...call, args: args(call, context.subject), why: '' }, context);
  } catch (error) {
    if (context.signal.aborted) throw error;
    return createFailureReply(error, 0, deps);
  }
}

/** Calls one tool, without its alternative. */
async function ask(deps: ToolboxDeps, tool: Tool, call: ToolCall, context: ToolContext): Promise<Reply> {
  const { description } = tool;
  if (!description.categories.includes(context.category) && call.why.trim() === '') {
    return createRefusedReply(
      `${description.name} serves ${description.categories.join(', ')}; ` +
        `for a ${context.category} it is asked only where the call says why.`,
    );
  }
  const request = tool.parseArguments(call.args);
  if ('error' in request)
    return { status: 'invalid-arguments', findings: [], summary: request.error, attempts: 0 };
  try {
    const refusal = request.findRefusal(context);
    if (refusal !== null) return createRefusedReply(refusal);
    return await answerRequest(deps, tool, request, context);
  } catch (error) {
    if (context.signal.aborted) throw createCancelledError(error);
    return createFailureReply(error, 0, deps);
  }
}

/**
 * Returns a cached or a new answer. A cached answer is masked again, because more secrets may be known now.
 */
async function answerRequest(
  deps: ToolboxDeps,
  tool: Tool,
  request: ToolRequest,
  context: ToolContext,
): Promise<Reply> {
  const { limiter, cache } = deps;
  const work = () =>
    limiter.run(context.subject.triageId, context.signal, () => runRequest(deps, tool, request, context));
  const reply = await cache.answer(tool, request, { ...context, isLeftAlone: isLeftAlone(deps, tool) }, work);
  if (reply.cached !== true) return reply;
  const again = await createFoundReply(reply.findings, reply.attempts, deps);
  return again.status === 'ok' ? { ...reply, findings: again.findings } : again;
}

async function runRequest(
  deps: ToolboxDeps,
  tool: Tool,
  request: ToolRequest,
  context: ToolContext,
): Promise<Reply> {
  const limitMs =
    deps.options.timeLimitMs?.(tool.description) ??
    Math.min(Math.max(tool.description.usualLatencyMs * 20, 5_000), 30_000);
  const asked = await deps.resilience.attempt(tool.provider, limitMs, context.signal, async (signal) => {
    const reason = await tool.findUnavailableReason(context.subject);
    if (reason !== null) return { unavailable: reason };
    return { findings: await request.run({ ...context, signal }) };
  });
  if ('error' in asked) return createFailureReply(asked.error, asked.attempts, deps);
  if ('unavailable' in asked.value) {
    return {
      status: 'unavailable',
      findings: [],
      summary: asked.value.unavailable,
      attempts: asked.attempts,
    };
  }
  return createFoundReply(asked.value.findings, asked.attempts, deps);
}

async function createFoundReply(
  all: readonly Finding[],
  attempts: number,
  deps: ToolboxDeps,
): Promise<Reply> {
  if (all.length === 0) return { status: 'empty', findings: [], summary: 'nothing found', attempts };
  const findings = await findWithheldOnError(() =>
    Promise.all(all.slice(0, MAX_FINDINGS).map((finding) => boundFinding(finding, deps.options.mask))),
  );
  if (findings === null) {
    return {
      status: 'failed',
      findings: [],
      summary: 'The result could not be masked, so it is withheld.',
      attempts,
    };
  }
  const count = findings.length === 1 ? '1 finding' : `${findings.length} findings`;
  return {
    status: 'ok',
    findings,
    summary: all.length > findings.length ? `${count} of ${all.length}` : count,
    attempts,
  };
}

async function findWithheldOnError<Value>(work: () => Promise<Value>): Promise<Value | null> {
  try {
    return await work();
  } catch {
    return null;
  }
}

async function createFailureReply(error: unknown, attempts: number, deps: ToolboxDeps): Promise<Reply> {
  const message = await findWithheldOnError(async () => deps.options.mask(cleanText(getErrorMessage(error))));
  const summary = message ?? 'The tool failed; its message could not be masked, so it is withheld.';
  const code = error instanceof TriageError ? error.code : null;
  if (code === 'timeout') return { status: 'timed-out', findings: [], summary, attempts };
  if (code === 'invalid-input') return { status: 'invalid-arguments', findings: [], summary, attempts };
  if (code === 'forbidden') return { status: 'refused', findings: [], summary, attempts };
  if (code === 'not-found') return { status: 'empty', findings: [], summary, attempts };
  return { status: 'failed', findings: [], summary, attempts, ...(isRefusal(error) && { final: true }) };
}

function createCancelledError(error: unknown): TriageError {
  if (error instanceof TriageError && error.code === 'cancelled') return error;
  return new TriageError('cancelled', 'The run was canceled during a tool call.', { cause: error });
}

function createRefusedReply(summary: string): Reply {
  return { status: 'refused', findings: [], summary, attempts: 0 };
}

function compareCost(left: ToolDescription, right: ToolDescription): number {
  const fallback = Number(left.fallback) - Number(right.fallback);
  const cost = COST_ORDER[left.costClass] - COST_ORDER[right.costClass];
  return fallback || cost || left.usualLatencyMs - right.usualLatencyMs;
}

function indexByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map(tools.map((tool) => [tool.description.name, tool]));
  if (byName.size < tools.length) throw new TriageError('internal', 'Two tools have the same name.');
  return byName;
}
