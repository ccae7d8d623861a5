import type { ChatDriver } from './driver.ts';

/** Loads the driver for an address: Anthropic's Messages, Ollama's chat, or OpenAI's chat completions. */
export async function loadDriver(url: string): Promise<ChatDriver> {
  const { pathname } = new URL(url);
  if (pathname.endsWith('/messages')) return (await import('./anthropic.ts')).ANTHROPIC_DRIVER;
  if (pathname.endsWith('/api/chat')) return (await import('./ollama.ts')).OLLAMA_DRIVER;
  return (await import('./completion.ts')).OPENAI_DRIVER;
}
