import type { Refusal } from './refusal.ts';

/**
 * How servers say that a question is too long: OpenAI and Azure ("maximum context length", context_length_exceeded), vLLM
 * (the same words), llama.cpp ("exceeds the available context size", exceed_context_size_error), llama-cpp-python ("exceed
 * context window"), Ollama ("exceeds the context length"), LiteLLM (ContextWindowExceededError), Groq and others behind
 * gateways ("reduce the length", "prompt is too long", "input token count").
 */
const WORDS =
  /context.?length|context.?size|context.?window|reduce the length|(?:prompt|input|request) (?:is |was )?too (?:long|large)|input token count|max_new_tokens.{0,40}must be/i;
/** The part of it that we asked for, rather than what we said. */
const OUTPUT = /completion|max_tokens|max_completion_tokens|max_new_tokens|output tokens/i;

/** Whether the server refused because question and answer do not fit the model's context. */
export function isTooLong({ status, code, kind, message }: Refusal): boolean {
  if (status === 413) return true;
  // OpenAI: a single request above the limit a minute is refused with 429, however long one waits.
  if (status === 429) return /request too large/i.test(message);
  return [400, 422, 500].includes(status) && WORDS.test(`${code} ${kind} ${message}`);
}

/** Whether a smaller allowance for the answer may be all it takes. */
export function countsOutput(refusal: Refusal): boolean {
  return OUTPUT.test(refusal.message);
}
