import { randomUUID } from 'node:crypto';
import type { TriageGraph } from '../../graphs/triage/graph.ts';
import type { Answer, Publisher } from '../channels/channel.ts';
import { type Analysis, judgeCorrection, type Step } from '../domain/analysis.ts';
import { TriageError } from '../domain/errors.ts';
import type { ToolOutcome } from '../domain/evidence.ts';
import { TRIAGE, type WorkItem } from '../domain/work.ts';
import type { ChatModel, ChatReply } from '../ports/chat-model.ts';
import { type Logger, type Metrics, silentTracer, type Tracer, withFields } from '../ports/telemetry.ts';
import type { Toolbox } from '../ports/toolbox.ts';
import type { Stores } from '../stores/stores.ts';
import type { TriageStore } from '../stores/triages.ts';
import { toCicdFacts } from './cicd-facts.ts';

/** Measures every request to the model: its duration, tokens, dollars, and retries. */
export function measureChatModel(model: ChatModel, metrics: Metrics): ChatModel {
  const chat = async <Value>(ask: () => Promise<ChatReply<Value>>): Promise<ChatReply<Value>> => {
    const startedAt = performance.now();
    const ended = (outcome: string) =>
      metrics.observe(
        'faultline_model_latency_seconds',
        { model: model.name, outcome },
        (performance.now() - startedAt) / 1000,
      );
    try {
      const reply = await ask();
      ended('ok');
      countReply(reply, metrics);
      return reply;
    } catch (error) {
      ended('failed');
      throw error;
    }
  };
  return {
    ...model,
    ask: (request, signal) => chat(() => model.ask(request, signal)),
    chooseTools: (request, signal) => chat(() => model.chooseTools(request, signal)),
    stream: (request, signal) => chat(() => model.stream(request, signal)),
  };
}

function countReply(
  { model, inputTokens, outputTokens, costUsd, retries = 0 }: ChatReply<unknown>,
  metrics: Metrics,
): void {
  metrics.count('faultline_llm_tokens_total', { direction: 'input', model }, inputTokens);
  metrics.count('faultline_llm_tokens_total', { direction: 'output', model }, outputTokens);
  metrics.count('faultline_llm_cost_usd_total', { model }, costUsd);
  metrics.count('faultline_retries_total', { of: 'model' }, retries);
}

/** Measures the duration of every tool call. */
export function instrumentToolbox(toolbox: Toolbox, metrics: Metrics): Toolbox {
  return {
    ...toolbox,
    run: async (call, subject, category, signal) => {
      const startedAt = performance.now();
      // A model may invent the name of a tool. Each would become a label of its own.
      const tool = toolbox.describe(call.tool)?.name ?? 'unknown';
      const ended = (outcome: string) =>
        metrics.observe(
          'faultline_tool_latency_seconds',
          { tool, outcome },
          (performance.now() - startedAt) / 1000,
        );
      try {
        const outcome = await toolbox.run(call, subject, category, signal);
        ended(outcome.status);
        metrics.count('faultline_retries_total', { of: 'tool' }, outcome.attempts - 1);
        return outcome;
      } catch (error) {
        ended(error instanceof TriageError && error.code === 'cancelled' ? 'cancelled' : 'failed');
        throw error;
      }
    },
  };
}

/** Measures how long triages wait for a worker, and counts their retries. */
export function measureStores(stores: Stores, metrics: Metrics): Stores {
  const { work } = stores;
  return {
    ...stores,
    work: {
      ...work,
      take: async (wanted) => {
        const items = await work.take(wanted);
        // Retries waited for other reasons. `dueAt` and `changedAt` come from the same clock, the database's.
        for (const { topic, dueAt, changedAt, attempts, retries } of items)
          if (topic === TRIAGE && attempts === 1 && retries === 0)
            metrics.observe('faultline_queue_wait_seconds', {}, computeSecondsBetween(dueAt, changedAt));
        return items;
      },
      release: async (item, error, delayMs, newsRestarts) => {
        await work.release(item, error, delayMs, newsRestarts);
        if (item.topic === TRIAGE && delayMs > 0) metrics.count('faultline_retries_total', { of: 'triage' });
      },
    },
  };
}

/** Counts an analysis that has just been saved, with the time since its build arrived. */
export function countAnalysis(
  build: { readonly provider: string; readonly receivedAt: string; readonly finishedAt: string | null },
  { category, analyst, verdict, corrections = [], milliseconds, createdAt }: Analysis,
  metrics: Metrics,
): void {
  metrics.count('faultline_actions_total', { action: verdict.action });
  for (const correction of corrections) {
    const { action } = correction.before;
    metrics.count('faultline_corrections_total', { action, result: judgeCorrection(correction) });
  }
  metrics.count('faultline_failures_total', { source: build.provider, category });
  metrics.observe('faultline_analysis_duration_seconds', { category, analyst }, milliseconds / 1000);
  // An imported build counts as received when it ended, so the time to its answer is unknown.
  if (build.finishedAt === build.receivedAt) return;
  metrics.observe(
    'faultline_webhook_to_answer_seconds',
    { category, analyst },
    computeSecondsBetween(build.receivedAt, createdAt),
  );
}

function computeSecondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}

/**
 * Traces every run of the graph as an `invoke_agent` span. A run that was interrupted or waited for a person
 * has several. The given graph is modified. Spans of runs, model calls and tool calls follow OpenTelemetry's
 * GenAI conventions; attributes that these do not name begin with `faultline.`. No prompt, argument or answer
 * is recorded.
 */
export function traceGraph(graph: TriageGraph, tracer: Tracer): TriageGraph {
  const invoke = graph.invoke.bind(graph);
  const traced: typeof graph.invoke = (input, options) => {
    const facts = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'triage',
      'gen_ai.conversation.id': toText(options?.configurable?.thread_id),
    };
    return tracer.span({ name: 'invoke_agent triage', kind: 'internal', facts }, async (span) => {
      const state = await invoke(input, options);
      span.add({
        'gen_ai.usage.input_tokens': state.usage.inputTokens,
        'gen_ai.usage.output_tokens': state.usage.outputTokens,
        'gen_ai.request.model': state.model,
        'faultline.cost_usd': state.usage.costUsd,
        'faultline.model_calls': state.usage.modelCalls,
        'faultline.tool_calls': state.usage.toolCalls,
        'faultline.iterations': state.rounds,
        'faultline.category': state.classification?.category,
        'faultline.termination': state.termination,
        'faultline.action': state.verdict?.action,
        'faultline.confidence': state.verdict?.confidence,
      });
      return state;
    });
  };
  return Object.assign(graph, { invoke: traced });
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * Traces every request to the model as a `chat` span. The provider is the one whose protocol is spoken, so
 * any server with OpenAI's is called "openai".
 */
export function traceChatModel(model: ChatModel & { readonly protocol: string }, tracer: Tracer): ChatModel {
  const chat = <Value>(question: string, ask: () => Promise<ChatReply<Value>>): Promise<ChatReply<Value>> => {
    const facts = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': model.protocol,
      'gen_ai.request.model': model.name,
      'faultline.question': question,
    };
    return tracer.span({ name: `chat ${model.name}`, kind: 'client', facts }, async (span) => {
      const reply = await ask();
      span.add(describeReply(reply));
      return reply;
    });
  };
  return {
    ...model,
    ask: (request, signal) => chat(request.name, () => model.ask(request, signal)),
    chooseTools: (request, signal) => chat(request.name, () => model.chooseTools(request, signal)),
    stream: (request, signal) => chat(request.name, () => model.stream(request, signal)),
  };
}

function describeReply(reply: ChatReply<unknown>) {
  return {
    'gen_ai.response.model': reply.model,
    'gen_ai.usage.input_tokens': reply.inputTokens,
    'gen_ai.usage.output_tokens': reply.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': reply.cachedInputTokens,
    'faultline.model_calls': reply.calls ?? 1,
    'faultline.retries': reply.retries,
    'faultline.cost_usd': reply.costKnown === false ? undefined : reply.costUsd,
  };
}

/** The failures that the provider of a tool causes, not the caller. */
const FAILED: readonly ToolOutcome['status'][] = ['failed', 'timed-out'];

/** Traces every tool call as an `execute_tool` span. */
export function traceToolbox(toolbox: Toolbox, tracer: Tracer): Toolbox {
  return {
    ...toolbox,
    run: (call, subject, category, signal) => {
      // A model may invent the name of a tool. Each would become a label of its own.
      const name = toolbox.describe(call.tool)?.name ?? 'unknown';
      const facts = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': `call_${randomUUID()}`,
        'faultline.category': category,
      };
      return tracer.span({ name: `execute_tool ${name}`, kind: 'internal', facts }, async (span) => {
        const outcome = await toolbox.run(call, subject, category, signal);
        span.add({
          'faultline.tool.status': outcome.status,
          'faultline.tool.attempts': outcome.attempts,
          'faultline.tool.cached': outcome.cached ?? false,
          'faultline.tool.answered_by': outcome.answeredBy,
          'faultline.tool.findings': outcome.findings.length,
        });
        if (FAILED.includes(outcome.status)) span.fail(outcome.status);
        return outcome;
      });
    },
  };
}

/** The parts of an app that a watched triage needs. */
interface WatchParts {
  readonly tracer: Tracer;
  readonly logger: Logger;
  readonly stores: { readonly builds: Pick<Stores['builds'], 'find'> };
}

/**
 * Traces the triage of a build as part of the request that caused it, with the attributes of its pipeline,
 * and adds the build's id to every log line. The time until its first attempt is a separate span.
 */
export async function watchTriage<Value>(
  { key: buildId, payload, attempts, retries, dueAt, changedAt }: WorkItem,
  { tracer, logger, stores }: WatchParts,
  work: () => Promise<Value>,
): Promise<Value> {
  const parent = toText(payload.traceparent) ?? null;
  const build = tracer === silentTracer ? null : await stores.builds.find(buildId).catch(() => null);
  const facts = {
    'faultline.build.id': buildId,
    'faultline.attempts': attempts,
    ...(build !== null && toCicdFacts(build)),
  };
  if (attempts === 1 && retries === 0) {
    const period = { startedAt: Date.parse(dueAt), endedAt: Date.parse(changedAt) };
    tracer.record({ name: 'queue wait', kind: 'internal', facts, parent }, period);
  }
  return await withFields(logger, { buildId }, () =>
    tracer.span({ name: 'triage build', kind: 'consumer', facts, parent }, work),
  );
}

export function recordNode(
  tracer: Tracer,
  { node, round, startedAt, milliseconds, by, investigator }: Step,
): void {
  const facts = {
    'faultline.node': node,
    'faultline.round': round,
    'faultline.judged_by': by,
    'faultline.investigator': investigator,
  };
  const start = Date.parse(startedAt);
  tracer.record(
    { name: `node ${node}`, kind: 'internal', facts },
    { startedAt: start, endedAt: start + milliseconds },
  );
}

/** Traces every publication as a span in the trace of its build, no matter how much later it happens. */
export function tracePublisher<Known extends Answer>(
  channel: string,
  publisher: Publisher<Known, null>,
  tracer: Tracer,
  triages: Pick<TriageStore, 'findByBuild'>,
): Publisher<Known, null> {
  if (tracer === silentTracer) return publisher;
  const traced: Publisher<Known, null, { readonly answer: Answer; readonly content: object }> = {
    render: (answer) => {
      const content = publisher.render(answer);
      return content === null ? null : { answer, content };
    },
    send: async ({ answer: { build, analysis }, content }, call) => {
      const job = await triages.findByBuild(build.id).catch(() => null);
      const facts = {
        ...toCicdFacts(build),
        'faultline.publisher': channel,
        'faultline.build.id': build.id,
        'faultline.analysis.id': analysis.id,
        'faultline.category': analysis.category,
      };
      const outline = {
        name: `publish ${channel}`,
        kind: 'client' as const,
        facts,
        parent: job?.traceparent ?? null,
      };
      return await tracer.span(outline, () => publisher.send(content, call));
    },
  };
  return traced;
}
