import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import type { Analysis } from '../../../src/domain/analysis.ts';
import type { AgentWorld } from './agent-world.ts';
import { startModelAside } from './model-aside.ts';

/**
 * Creates LangGraph's own agent with the same tools and the same checkpointer as ours: each step is stored
 * before the next begins. Its model is called as often, and makes the same tool calls as our run.
 */
export async function createPrebuiltAgent({ checkpointer, toolbox, subject }: AgentWorld, run: Analysis) {
  const toolCalls = run.steps.flatMap(({ outcomes = [] }) =>
    outcomes.map(({ call }) => ({ tool: call.tool, args: { ...call.args } })),
  );
  const server = await startModelAside({
    latencyMs: 0,
    rounds: 0,
    agent: { modelCalls: run.usage.modelCalls, toolCalls },
  });
  const about = subject();
  const tools = [...new Set(toolCalls.map((call) => call.tool))].map((name) =>
    tool(
      async (args: Record<string, unknown>, { signal }) => {
        const call = { tool: name, args, why: '' };
        const { summary, findings } = await toolbox.run(
          call,
          about,
          run.category,
          signal ?? AbortSignal.timeout(60_000),
        );
        return [summary, ...findings.map((finding) => finding.text)].join('\n\n');
      },
      {
        name,
        description: toolbox.describe(name)?.question ?? name,
        schema: toolbox.describe(name)?.parameters ?? {},
      },
    ),
  );
  const llm = new ChatOpenAI({
    model: 'gpt-4o-mini',
    apiKey: 'none',
    maxRetries: 0,
    temperature: 0,
    configuration: { baseURL: server.baseUrl },
  });
  const agent = createReactAgent({ llm, tools, checkpointSaver: checkpointer });
  let runs = 0;
  return {
    run: async () => {
      runs += 1;
      const config = {
        configurable: { thread_id: `prebuilt-${runs}` },
        recursionLimit: 4 * run.usage.modelCalls + 4,
        durability: 'sync' as const,
      };
      const { messages } = await agent.invoke(
        { messages: [{ role: 'user', content: 'Why did the build fail?' }] },
        config,
      );
      const asked = messages.filter((message) => message.getType() === 'tool').length;
      if (asked < toolCalls.length)
        throw new Error(`The prebuilt agent asked ${asked} of ${toolCalls.length} questions`);
    },
    close: () => server.close(),
  };
}
