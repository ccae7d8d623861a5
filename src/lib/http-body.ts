/**
 * Returns the whole body, or null as soon as it is larger than `most` bytes. The rest is then not read, and
 * the connection is closed.
 */
export async function readBytes(
  body: AsyncIterable<Uint8Array> | null,
  most: number,
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns the body as UTF-8 text without a byte order mark, with the same limit. */
export async function readText(body: AsyncIterable<Uint8Array> | null, most: number): Promise<string | null> {
  const bytes = await readBytes(body, most);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
