/** A body as it came, or null as soon as it is larger than `most` bytes: the rest is then not read, and the connection ends. */
export async function readBytes(body: AsyncIterable<Uint8Array> | null, most: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The same as text of UTF-8, without a byte order mark. */
export async function readText(body: AsyncIterable<Uint8Array> | null, most: number): Promise<string | null> {
  const bytes = await readBytes(body, most);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
