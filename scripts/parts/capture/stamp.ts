/**
 * Creates a function that adds the time before every line, like GitHub's runner:
 * `2026-01-31T09:15:02.1234567Z `. A line gets the time of its first byte. If `enabled` is false, the bytes
 * are unchanged.
 */
export function createLineStamper(enabled: boolean): (chunk: Buffer) => Buffer {
  let atLineStart = true;
  return (chunk) => {
    if (!enabled) return chunk;
    const parts: Buffer[] = [];
    let from = 0;
    while (from < chunk.length) {
      if (atLineStart) parts.push(Buffer.from(`${computeStamp()} `));
      const newline = chunk.indexOf(0x0a, from);
      const to = newline === -1 ? chunk.length : newline + 1;
      parts.push(chunk.subarray(from, to));
      atLineStart = newline !== -1;
      from = to;
    }
    return Buffer.concat(parts);
  };
}

function computeStamp(): string {
  const now = performance.timeOrigin + performance.now();
  const ticks = String(Math.floor((now % 1) * 10_000)).padStart(4, '0');
  return new Date(now).toISOString().replace('Z', `${ticks}Z`);
}
