import { randomUUID } from 'node:crypto';
import type { TriageGraph } from '../../graphs/triage/graph.ts';
import type { ToolOutcome } from '../domain/evidence.ts';
import type { ChatModel, ChatReply } from '../ports/chat-model.ts';
import type { Tracer } from '../ports/telemetry.ts';
import type { Toolbox } from '../ports/toolbox.ts';

/** Span names and facts follow OpenTelemetry's GenAI conventions; what those have no name for is `faultline.…`. No prompt, argument or answer. */

/** Every run of the graph, or part of one that was cut off or waited for a person, is an `invoke_agent` span. Changes the graph it is given. */
export function tracedGraph(graph: TriageGraph, tracer: Tracer): TriageGraph {
  const invoke = graph.invoke.bind(graph);
  const traced: typeof graph.invoke = (input, options) => {
    const facts = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'triage',
      'gen_ai.conversation.id': textOf(options?.configurable?.thread_id),
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

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Every question to the model is a `chat` span. What speaks OpenAI's protocol is "openai" to the conventions, whoever runs it. */
export function tracedChatModel(model: ChatModel, tracer: Tracer): ChatModel {
  const chat = <Value>(question: string, ask: () => Promise<ChatReply<Value>>): Promise<ChatReply<Value>> => {
    const facts = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': model.name,
      'faultline.question': question,
    };
    return tracer.span({ name: `chat ${model.name}`, kind: 'client', facts }, async (span) => {
      const reply = await ask();
      span.add(repliedFacts(reply));
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

function repliedFacts(reply: ChatReply<unknown>) {
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

/** Failures of a tool that are its provider's, not the asker's. */
const FAILED: readonly ToolOutcome['status'][] = ['failed', 'timed-out'];

/** Every question to a tool is an `execute_tool` span. */
export function tracedToolbox(toolbox: Toolbox, tracer: Tracer): Toolbox {
  return {
    ...toolbox,
    run: (call, subject, category, signal) => {
      // A model may name a tool that does not exist, in any words.
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
