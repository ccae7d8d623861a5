import { countTokens } from '../log/reduce/tokens.ts';

/** Whole lines of a file; 1-based, inclusive. */
export interface CodeChunk {
  readonly path: string;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly text: string;
}

/** About as much as one function with its surroundings. */
const CHUNK_TOKENS = 500;
/** Repeated from the chunk before, so that nothing is cut in two for good. */
const OVERLAP_TOKENS = 100;

/** Cuts consecutive lines of a file into chunks of about 500 tokens that overlap by about 100; a longer line is a chunk of its own. */
export function chunksOf(path: string, lineStart: number, lines: readonly string[]): CodeChunk[] {
  const sizes = lines.map((line) => countTokens(`${line}\n`));
  const chunks: CodeChunk[] = [];
  let from = 0;
  while (from < lines.length) {
    let to = from;
    let tokens = sizes[from] ?? 0;
    while (to + 1 < lines.length && tokens + (sizes[to + 1] ?? 0) <= CHUNK_TOKENS) {
      to += 1;
      tokens += sizes[to] ?? 0;
    }
    chunks.push({ path, lineStart: lineStart + from, lineEnd: lineStart + to, text: lines.slice(from, to + 1).join('\n') });
    if (to + 1 >= lines.length) break;
    from = Math.max(from + 1, overlapStart(sizes, to) + 1);
  }
  return chunks;
}

/** The line before the overlap: as many lines up to `to` as fit its size. */
function overlapStart(sizes: readonly number[], to: number): number {
  let at = to;
  for (let tokens = sizes[to] ?? 0; at >= 0 && tokens <= OVERLAP_TOKENS; tokens += sizes[at] ?? 0) at -= 1;
  return at;
}
