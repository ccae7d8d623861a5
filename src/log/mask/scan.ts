import { bytesInMemory, bytesOfText, type LogBytes } from '../lines/log-bytes.ts';
import { beginningsOf, buildMatcher } from '../scan/matcher.ts';
import { type ScannedChunk, scanChunks } from '../scan/scan-chunks.ts';

/** Told of each line that holds a literal: where it stands, and a bit for each group of literals that it holds. */
export type Candidate = (from: number, to: number, groups: number) => void;

/**
 * The first stage: one pass over a text that finds the lines worth a second look. Every line with a literal is told, however
 * many there are. At most 31 groups; the case of ASCII letters does not count. Terminal escapes are text like any other: a secret may
 * stand inside of one. Who has the text's bytes at hand gives them, too.
 */
export function createScan(groups: readonly (readonly string[])[]): (text: string, candidate: Candidate, bytes?: Buffer) => void {
  const matcher = buildMatcher(groups.map(beginningsOf), { throughEscapes: false });
  return (text, candidate, bytes) => {
    const lines = lineWalker(text);
    let open = 0;
    let openLine = 0;
    for (const chunk of scanChunks(bytes === undefined ? encoded(text) : bytesInMemory(bytes), matcher)) {
      for (const [line, bits] of bitsByLine(chunk)) {
        const number = chunk.firstLine + line;
        if (open !== 0 && number !== openLine) lines.tell(openLine, open, candidate);
        open = number === openLine ? open | bits : bits;
        openLine = number;
      }
    }
    if (open !== 0) lines.tell(openLine, open, candidate);
  };
}

/** Texts up to this size are encoded into the same memory each time. */
const SHARED = 1 << 22;
let shared: Buffer | undefined;

/** Valid until the next call; scanning a text is done before another begins. */
function encoded(text: string): LogBytes {
  if (text.length * 3 > SHARED) return bytesOfText(text);
  shared ??= Buffer.allocUnsafeSlow(SHARED);
  return bytesInMemory(shared.subarray(0, shared.write(text, 'utf8')));
}

function bitsByLine({ hits, lineEnds }: ScannedChunk): [line: number, bits: number][] {
  const bits = new Uint32Array(lineEnds.length + 1);
  const lines: number[] = [];
  for (const [group, list] of hits.entries()) {
    for (const line of list) {
      if (bits[line] === 0) lines.push(line);
      bits[line] = (bits[line] ?? 0) | (1 << group);
    }
  }
  return lines.sort((a, b) => a - b).map((line) => [line, bits[line] ?? 0]);
}

/** Finds lines in a text by their numbers, which only grow: bytes and characters are not the same places. */
function lineWalker(text: string): { tell(line: number, bits: number, candidate: Candidate): void } {
  let at = 1;
  let from = 0;
  return {
    tell(line, bits, candidate) {
      for (; at < line; at++) from = text.indexOf('\n', from) + 1;
      const end = text.indexOf('\n', from);
      candidate(from, end === -1 ? text.length : end, bits);
    },
  };
}
