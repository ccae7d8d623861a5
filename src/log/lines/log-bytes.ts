/** A log's bytes, read piece by piece, so that a log need not be in memory: UTF-8, lines ended by `\n`. */
export interface LogBytes {
  /** Bytes in all. */
  readonly size: number;
  /** The bytes from `start` to before `end`, clipped to the log. Valid until the next call. */
  slice(start: number, end: number): Buffer;
  /** The same as text. Bytes that are no UTF-8 become U+FFFD. */
  text(start: number, end: number): string;
}

/** Bytes that are in memory already. */
export function bytesInMemory(bytes: Uint8Array): LogBytes {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    size: buffer.length,
    slice: (start, end) => buffer.subarray(start, end),
    text: (start, end) => buffer.toString('utf8', start, end),
  };
}

/** The bytes of a text. Halves of surrogate pairs, which no stored text can hold, become U+FFFD. */
export function bytesOfText(text: string): LogBytes {
  return Buffer.byteLength(text, 'utf8') === text.length ? bytesOfAscii(text) : bytesInMemory(Buffer.from(text, 'utf8'));
}

/** Characters and bytes are the same places: no copy of the whole is needed. */
function bytesOfAscii(text: string): LogBytes {
  let memory = Buffer.alloc(0);
  return {
    size: text.length,
    slice: (start, end) => {
      const part = text.slice(start, end);
      if (memory.length < part.length) memory = Buffer.allocUnsafeSlow(part.length);
      return memory.subarray(0, memory.write(part, 'latin1'));
    },
    text: (start, end) => text.slice(start, end),
  };
}

const RETURN = 13;
const FEED = 10;
const SPACE = 32;

/** The same bytes with each lone carriage return made a line end. Nothing moves. */
export function withReturnsAsLineEnds(bytes: LogBytes): LogBytes {
  const slice = (start: number, end: number) => {
    const wide = bytes.slice(start, end + 1);
    const wanted = Math.min(end, bytes.size) - start;
    const copy = Buffer.from(wide.subarray(0, Math.max(0, wanted)));
    for (let at = copy.indexOf(RETURN); at !== -1; at = copy.indexOf(RETURN, at + 1)) copy[at] = wide[at + 1] === FEED ? SPACE : FEED;
    return copy;
  };
  return { size: bytes.size, slice, text: (start, end) => slice(start, end).toString('utf8') };
}
