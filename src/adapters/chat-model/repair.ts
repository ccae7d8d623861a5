import type { Message } from './connect.ts';

const MAX_QUOTED = 8_000;

/** Sends a reply back with what is wrong with it. In plain messages, which every server and chat template understands. */
export function repair(said: string, problem: string, how: string): Message[] {
  const quoted: Message[] = said.trim() === '' ? [] : [{ role: 'assistant', content: said.slice(0, MAX_QUOTED) }];
  return [...quoted, { role: 'user', content: `Your reply could not be used: ${problem}\n${how}` }];
}
