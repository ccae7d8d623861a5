import type { ChatDriver } from './driver.ts';

/** A protocol of model servers: Anthropic's Messages, Ollama's own chat, or OpenAI's chat completions. */
export type ChatProtocol = 'anthropic' | 'ollama' | 'openai';

/** Finds the protocol of the server at an address, which is known by how its path ends. */
export function findProtocol(url: string): ChatProtocol {
  const { pathname } = new URL(url);
  if (pathname.endsWith('/messages')) return 'anthropic';
  return pathname.endsWith('/api/chat') ? 'ollama' : 'openai';
}

/** Loads the driver for the protocol of the server at an address. */
export async function loadDriver(url: string): Promise<ChatDriver> {
  switch (findProtocol(url)) {
    case 'anthropic':
      return (await import('./anthropic.ts')).ANTHROPIC_DRIVER;
    case 'ollama':
      return (await import('./ollama.ts')).OLLAMA_DRIVER;
    case 'openai':
      return (await import('./completion.ts')).OPENAI_DRIVER;
  }
}
