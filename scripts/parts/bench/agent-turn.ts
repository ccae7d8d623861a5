import type { ToolCall } from '../../../src/domain/evidence.ts';
import type { Judged } from './scripted-judgements.ts';
import type { ScriptedBody } from './scripted-model.ts';

/** What an agent asks: how often its model, and which questions of its tools. */
export interface AgentCalls {
  readonly modelCalls: number;
  readonly toolCalls: readonly Pick<ToolCall, 'tool' | 'args'>[];
}

/** The tool calls of an agent spread evenly over all its turns but the last, which answers. */
export function agentTurn(body: ScriptedBody, { modelCalls, toolCalls }: AgentCalls): Judged {
  const turn = body.messages.filter((message) => message.role === 'assistant').length;
  const turns = modelCalls - 1;
  if (turn >= turns) return { text: 'It failed because a value was missing.', calls: [] };
  const until = (turn: number) => Math.floor((turn * toolCalls.length) / turns);
  const share = toolCalls.slice(until(turn), Math.max(until(turn) + 1, until(turn + 1)));
  return { text: '', calls: share.map(({ tool, args }) => ({ name: tool, args })) };
}
