import type { Analysis } from '../domain/analysis.ts';
import { TriageError } from '../domain/errors.ts';
import type { ChatModel, ChatReply } from '../ports/chat-model.ts';
import type { Stores } from '../ports/stores.ts';
import type { Metrics } from '../ports/telemetry.ts';
import type { Toolbox } from '../ports/toolbox.ts';

/** Every question to the model is timed; tokens, dollars and retries are added up. */
export function measuredChatModel(model: ChatModel, metrics: Metrics): ChatModel {
  const chat = async <Value>(ask: () => Promise<ChatReply<Value>>): Promise<ChatReply<Value>> => {
    const startedAt = performance.now();
    const ended = (outcome: string) =>
      metrics.observe('faultline_model_latency_seconds', { model: model.name, outcome }, (performance.now() - startedAt) / 1000);
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

function countReply({ model, inputTokens, outputTokens, costUsd, retries = 0 }: ChatReply<unknown>, metrics: Metrics): void {
  metrics.count('faultline_llm_tokens_total', { direction: 'input', model }, inputTokens);
  metrics.count('faultline_llm_tokens_total', { direction: 'output', model }, outputTokens);
  metrics.count('faultline_llm_cost_usd_total', { model }, costUsd);
  metrics.count('faultline_retries_total', { of: 'model' }, retries);
}

/** Every question to a tool is timed. */
export function measuredToolbox(toolbox: Toolbox, metrics: Metrics): Toolbox {
  return {
    ...toolbox,
    run: async (call, subject, category, signal) => {
      const startedAt = performance.now();
      // A model may name a tool that does not exist, in any words.
      const tool = toolbox.describe(call.tool)?.name ?? 'unknown';
      const ended = (outcome: string) =>
        metrics.observe('faultline_tool_latency_seconds', { tool, outcome }, (performance.now() - startedAt) / 1000);
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

/** How long jobs wait for a worker, and how often they are given back. */
export function measuredStores(stores: Stores, metrics: Metrics): Stores {
  const { triages } = stores;
  return {
    ...stores,
    triages: {
      ...triages,
      lease: async (jobId, leaseMs) => {
        const job = await triages.lease(jobId, leaseMs);
        // Later tries waited for other reasons. Both times are the database's.
        if (job !== null && job.owedAt !== undefined && job.attempts === 1 && job.retries === 0)
          metrics.observe('faultline_queue_wait_seconds', {}, secondsBetween(job.owedAt, job.updatedAt));
        return job;
      },
      release: async (job, error, delayMs) => {
        await triages.release(job, error, delayMs);
        if (delayMs > 0) metrics.count('faultline_retries_total', { of: 'triage' });
      },
    },
  };
}

/** Counts an analysis that has just been saved, with the time since its build arrived. */
export function countAnalysis(
  build: { readonly provider: string; readonly receivedAt: string },
  { category, analyst, verdict, milliseconds, createdAt }: Analysis,
  metrics: Metrics,
): void {
  metrics.count('faultline_actions_total', { action: verdict.action });
  metrics.count('faultline_failures_total', { source: build.provider, category });
  metrics.observe('faultline_analysis_duration_seconds', { category, analyst }, milliseconds / 1000);
  metrics.observe('faultline_webhook_to_answer_seconds', { category, analyst }, secondsBetween(build.receivedAt, createdAt));
}

function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}
