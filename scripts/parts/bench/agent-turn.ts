import type { ToolCall } from '../../../src/domain/evidence.ts';
import type { Judged } from './scripted-judgements.ts';
import type { ScriptedBody } from './scripted-model.ts';

/** The calls of an agent: the number of model calls, and its tool calls. */
export interface AgentCalls {
  readonly modelCalls: number;
  readonly toolCalls: readonly Pick<ToolCall, 'tool' | 'args'>[];
}

/**
 * Returns the reply of an agent. Its tool calls are spread evenly over all turns except the last one, which
 * answers.
 */
export function answerAsAgent(body: ScriptedBody, { modelCalls, toolCalls }: AgentCalls): Judged {
  const turn = body.messages.filter((message) => message.role === 'assistant').length;
  const turns = modelCalls - 1;
  if (turn >= turns) return { text: 'It failed because a value was missing.', calls: [] };
  const until = (turn: number) => Math.floor((turn * toolCalls.length) / turns);
  const share = toolCalls.slice(until(turn), Math.max(until(turn) + 1, until(turn + 1)));
  return { text: '', calls: share.map(({ tool, args }) => ({ name: tool, args })) };
}
