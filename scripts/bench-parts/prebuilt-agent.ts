import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import type { AgentCalls } from './agent-turn.ts';
import type { Checkpointer } from './agent-world.ts';
import { startModelAside } from './model-aside.ts';

/** LangGraph's own agent with a tool that answers at once, checkpointed as ours is: each step is stored before the next begins. */
export async function createPrebuiltAgent(checkpointer: Checkpointer, calls: AgentCalls) {
  const server = await startModelAside({ latencyMs: 0, rounds: 0, agent: calls });
  const look = tool(async ({ question }) => `Nothing is known about ${question}.\n${'One line of what was found.\n'.repeat(20)}`, {
    name: 'look',
    description: 'Looks something up',
    schema: z.object({ question: z.string() }),
  });
  const llm = new ChatOpenAI({
    model: 'gpt-4o-mini',
    apiKey: 'none',
    maxRetries: 0,
    temperature: 0,
    configuration: { baseURL: server.baseUrl },
  });
  const agent = createReactAgent({ llm, tools: [look], checkpointSaver: checkpointer });
  let runs = 0;
  return {
    run: async () => {
      runs += 1;
      const config = {
        configurable: { thread_id: `prebuilt-${runs}` },
        recursionLimit: 4 * calls.modelCalls + 4,
        durability: 'sync' as const,
      };
      await agent.invoke({ messages: [{ role: 'user', content: 'Why did the build fail?' }] }, config);
    },
    close: () => server.close(),
  };
}
