import type { Embedder } from '../ports/vector-index.ts';
import type { CodeChunk } from './code-chunks.ts';
import { codeWords } from './code-words.ts';

export interface RankedChunk {
  readonly chunk: CodeChunk;
  /** 0..1 */
  readonly score: number;
}

/** Saturation of repeated words and the weight of a chunk's length: the usual values (Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009). */
const K1 = 1.2;
const B = 0.75;
/** Chunks a question to an embedder holds. */
const BATCH = 64;

/** Ranks by the cosine of embeddings, best first. Throws what the embedder throws. */
export async function rankByMeaning(
  chunks: readonly CodeChunk[],
  query: string,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<RankedChunk[]> {
  const [asked] = await embedder.embed([query], signal);
  if (asked === undefined) return [];
  const ranked: RankedChunk[] = [];
  for (let start = 0; start < chunks.length; start += BATCH) {
    const batch = chunks.slice(start, start + BATCH);
    const vectors = await embedder.embed(
      batch.map(({ path, text }) => `${path}\n${text}`),
      signal,
    );
    for (const [index, chunk] of batch.entries()) ranked.push({ chunk, score: cosine(asked, vectors[index]) });
  }
  return ranked.sort((left, right) => right.score - left.score);
}

/**
 * Ranks by BM25 over the words of code, best first; a chunk's path counts as part of it. The score is the share of what a chunk could
 * reach that holds every word of the query often, so it is 0..1 and can be compared between questions.
 */
export function rankByWords(chunks: readonly CodeChunk[], query: string): RankedChunk[] {
  const asked = [...new Set(codeWords(query))];
  const documents = chunks.map((chunk) => countsOf(codeWords(`${chunk.path}\n${chunk.text}`)));
  const length = documents.reduce((sum, { total }) => sum + total, 0) / Math.max(1, documents.length);
  const weights = new Map(asked.map((word) => [word, rarity(documents.filter(({ counts }) => counts.has(word)).length, documents.length)]));
  const most = asked.reduce((sum, word) => sum + (weights.get(word) ?? 0) * (K1 + 1), 0);
  const ranked = chunks.map((chunk, index) => {
    const { counts, total } = documents[index] ?? { counts: new Map<string, number>(), total: 0 };
    const score = asked.reduce((sum, word) => {
      const count = counts.get(word) ?? 0;
      const frequency = (count * (K1 + 1)) / (count + K1 * (1 - B + (B * total) / Math.max(1, length)));
      return sum + (weights.get(word) ?? 0) * frequency;
    }, 0);
    return { chunk, score: most === 0 ? 0 : Math.min(1, score / most) };
  });
  return ranked.filter(({ score }) => score > 0).sort((left, right) => right.score - left.score);
}

/** How much a word tells that stands in `holding` of `all` chunks; never below zero. */
function rarity(holding: number, all: number): number {
  return Math.log(1 + (all - holding + 0.5) / (holding + 0.5));
}

function countsOf(words: readonly string[]): { counts: ReadonlyMap<string, number>; total: number } {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { counts, total: words.length };
}

/** Of two vectors of length 1; 0 where they point apart or one is missing. */
function cosine(left: Float32Array, right: Float32Array | undefined): number {
  if (right === undefined || right.length !== left.length) return 0;
  let sum = 0;
  for (let index = 0; index < left.length; index += 1) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return Math.min(1, Math.max(0, sum));
}
