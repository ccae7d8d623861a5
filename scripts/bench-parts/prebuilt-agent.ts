import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import type { Checkpointer } from './agent-world.ts';
import { type ScriptedBody, startScriptedModel } from './scripted-model.ts';

/** As many calls as ours makes. */
export interface PrebuiltCalls {
  readonly modelCalls: number;
  readonly toolCalls: number;
}

/** LangGraph's own agent with a tool that answers at once, checkpointed as ours is: each step is stored before the next begins. */
export async function createPrebuiltAgent(checkpointer: Checkpointer, calls: PrebuiltCalls) {
  const server = await startScriptedModel({ latencyMs: 0, rounds: 0, judge: (body) => turnOf(body, calls) });
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

/** The tool calls spread evenly over all turns but the last, which answers. */
function turnOf(body: ScriptedBody, { modelCalls, toolCalls }: PrebuiltCalls) {
  const turn = body.messages.filter((message) => message.role === 'assistant').length;
  const turns = modelCalls - 1;
  if (turn >= turns) return { text: 'It failed because a value was missing.', calls: [] };
  const share = Math.max(1, Math.floor(((turn + 1) * toolCalls) / turns) - Math.floor((turn * toolCalls) / turns));
  return { text: '', calls: Array.from({ length: share }, (_one, index) => ({ name: 'look', args: { question: `${turn}.${index}` } })) };
}
