import type { Judged } from './scripted-judgements.ts';
import type { ScriptedBody } from './scripted-model.ts';

/** How many calls an agent makes. */
export interface AgentCalls {
  readonly modelCalls: number;
  readonly toolCalls: number;
}

/** The tool calls of an agent spread evenly over all its turns but the last, which answers. */
export function agentTurn(body: ScriptedBody, { modelCalls, toolCalls }: AgentCalls): Judged {
  const turn = body.messages.filter((message) => message.role === 'assistant').length;
  const turns = modelCalls - 1;
  if (turn >= turns) return { text: 'It failed because a value was missing.', calls: [] };
  const share = Math.max(1, Math.floor(((turn + 1) * toolCalls) / turns) - Math.floor((turn * toolCalls) / turns));
  return { text: '', calls: Array.from({ length: share }, (_one, index) => ({ name: 'look', args: { question: `${turn}.${index}` } })) };
}
