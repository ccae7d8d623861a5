import { createTooLargeError } from './connect.ts';

/** Yields the lines of a body as they arrive. Throws `invalid-input` if the body is larger than the limit. */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  limit: number,
  onLife: () => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let rest = '';
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > limit) throw createTooLargeError(limit);
    onLife();
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.replace(/\r$/, '');
  }
  if (rest !== '') yield rest;
}
