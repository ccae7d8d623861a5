import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { FindingFrom } from '../domain/finding-data.ts';
import { mapInParallel } from '../lib/collections.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { Clues } from '../ports/toolbox.ts';
import type { Embedder } from '../ports/vector-index.ts';
import { findHitLines, readAroundHits } from './code/hit-windows.ts';
import { type CodeChunk, extractCodeWords, searchWords, splitChunks } from './code-chunks.ts';
import { formatFailureHeadline } from './findings.ts';
import { type BuiltCode, defineCodeTool, findBuiltCode } from './repository.ts';
import type { Tool } from './tool.ts';

/**
 * The maximum number of words by which candidate files are searched. The code host accepts no more in one
 * request.
 */
const MAX_WORDS = 16;
/** The maximum number of files that hold most of the words. */
const MAX_CANDIDATES = 50;
const FILES_AT_ONCE = 4;
/** The maximum number of chunks that are embedded: those that share most words with the query. */
const MAX_EMBEDDED = 128;
const MAX_CODE = 4_000;
/** The minimum score of a result. */
const MIN_SCORE = 0.05;
/** Paths that are skipped: files that no person wrote, or that do not contain the cause. */
const SKIPPED = new RegExp(
  '(?:^|/)(?:node_modules|vendor|third_party|dist|build|coverage|__snapshots__)/|' +
    String.raw`\.(?:lock|min\.js|map|snap|svg|csv|json|md|rst|txt|html|po|pb\.go)$|` +
    String.raw`(?:^|/)(?:package-lock\.json|go\.sum)$`,
  'i',
);

const SearchParameters = z.strictObject({
  code: z
    .string()
    .trim()
    .min(10)
    .max(MAX_CODE)
    .describe(
      'Code as it might stand in the repository where the fault is: ' +
        'a guess at the failing function, in its language and with its names',
    ),
  words: z
    .array(
      z
        .string()
        .trim()
        .min(3)
        .max(100)
        .regex(/^[^\n\r\0]*$/, 'one line'),
    )
    .max(MAX_WORDS)
    .optional()
    .describe('Words that the file surely holds; by default the identifiers of the code'),
  about: z
    .string()
    .trim()
    .min(3)
    .max(500)
    .optional()
    .describe('The question that the code answers, in words; by default what failed'),
  limit: z.int().min(1).max(10).default(5),
});

type Mask = (text: string) => Promise<string>;

/**
 * Masks texts before they are embedded. Code may contain secrets, and the embedder may be a third party's
 * server.
 */
function createMaskedEmbedder(embedder: Embedder, mask: Mask): Embedder {
  return {
    ...embedder,
    embed: async (texts, signal) => embedder.embed(await Promise.all(texts.map(mask)), signal),
  };
}

/**
 * Creates the tool that finds lines of the repository similar to guessed code. A guess at the code is closer
 * to the code than a question is (Gao, Ma, Lin,
 * Callan: Precise Zero-Shot Dense Retrieval without Relevance Labels, ACL 2023). The identifiers of the guess
 * find candidate files, whose chunks of
 * about 500 tokens are ranked by embeddings, or by BM25 if no semantic embedder is configured or it does not
 * respond.
 */
export function searchSemantic(
  codeHost: CodeHost,
  embedder: Embedder | null = null,
  mask: Mask | null = null,
): Tool {
  const meaning =
    embedder === null || mask === null || embedder.name.startsWith('hashing')
      ? null
      : createMaskedEmbedder(embedder, mask);
  return defineCodeTool(codeHost, {
    name: 'search_semantic',
    question: 'Which lines of the repository are most like this guess at the code that fails?',
    serves: { CODE_ERROR: 7 },
    investigator: 'code',
    asks: 'code host',
    costClass: 'high',
    usualLatencyMs: 1500,
    parameters: SearchParameters,
    keptBy: 'failure',
    argumentsFrom(clues) {
      const code = guessCode(clues);
      return code === null ? null : { code };
    },
    async run({ code: guess, words: given = [], about, limit }, context) {
      const code = await findBuiltCode(codeHost, context);
      const words = given.length > 0 ? given : searchWords(guess, MAX_WORDS);
      if (words.length === 0)
        throw new TriageError('invalid-input', 'code: it holds no identifier to search for.');
      const hits = await codeHost.searchFiles({ ...code.at, words, limit: MAX_CANDIDATES * 3 }, code.signal);
      const paths = hits.map(({ path }) => path).filter((path) => !SKIPPED.test(path));
      const lines = await findHitLines(code, words);
      const parts = await mapInParallel(paths.slice(0, MAX_CANDIDATES), FILES_AT_ONCE, (path) =>
        readAroundHits(code, path, lines.get(path) ?? []),
      );
      const chunks = parts.flat().flatMap((part) => splitChunks(part.path, part.lineStart, part.lines));
      const query = `${about ?? formatFailureHeadline(context.subject)}\n${guess}`;
      const { ranked, by } = await rank(chunks, query, meaning, code.signal);
      return removeApart(ranked)
        .slice(0, limit)
        .map((rankedChunk) => toFinding(rankedChunk, code, by));
    },
  });
}

async function rank(
  chunks: readonly CodeChunk[],
  query: string,
  embedder: Embedder | null,
  signal: AbortSignal,
) {
  const byWords = rankByWords(chunks, query);
  if (embedder === null || chunks.length === 0) return { ranked: byWords, by: 'words' };
  try {
    const isMany = chunks.length > MAX_EMBEDDED;
    const nearest = isMany ? byWords.slice(0, MAX_EMBEDDED).map(({ chunk }) => chunk) : chunks;
    return { ranked: await rankByMeaning(nearest, query, embedder, signal), by: 'meaning' };
  } catch (error) {
    if (signal.aborted) throw error;
    return { ranked: byWords, by: 'words, because the embedder did not respond' };
  }
}

/** Removes chunks that overlap a better one of the same file. */
function removeApart(ranked: readonly RankedChunk[]): RankedChunk[] {
  const kept: RankedChunk[] = [];
  for (const rankedChunk of ranked) {
    const { path, lineStart, lineEnd } = rankedChunk.chunk;
    const overlaps = kept.some(
      ({ chunk }) => chunk.path === path && chunk.lineStart <= lineEnd && lineStart <= chunk.lineEnd,
    );
    if (rankedChunk.score >= MIN_SCORE && !overlaps) kept.push(rankedChunk);
  }
  return kept;
}

function toFinding(
  { chunk, score }: RankedChunk,
  { at, titled }: BuiltCode,
  by: string,
): FindingFrom<'search_semantic'> {
  const { path, lineStart, lineEnd, text } = chunk;
  return {
    title: titled(`${path}:${lineStart}–${lineEnd}, matched by ${by}`),
    text,
    source: path,
    lineStart,
    lineEnd,
    score: Math.round(score * 1_000) / 1_000,
    data: { path, line: lineStart, commit: at.ref, by },
  };
}

interface RankedChunk {
  readonly chunk: CodeChunk;
  /** The score, 0..1. */
  readonly score: number;
}

/**
 * Saturation of repeated words and the weight of a chunk's length: the usual values (Robertson & Zaragoza,
 * The Probabilistic Relevance Framework, 2009).
 */
const K1 = 1.2;
const B = 0.75;
/** The number of chunks in one request to an embedder. */
const BATCH = 64;

/** Ranks by the cosine of embeddings, best first. Throws the errors of the embedder. */
async function rankByMeaning(
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
    for (const [index, chunk] of batch.entries())
      ranked.push({ chunk, score: computeCosine(asked, vectors[index]) });
  }
  return ranked.sort((left, right) => right.score - left.score);
}

/**
 * Ranks by BM25 over the words of code, best first. A chunk's path counts as part of it. The score is
 * relative to a chunk that contains every word of the query often, so it is 0..1 and comparable between
 * queries.
 */
export function rankByWords(chunks: readonly CodeChunk[], query: string): RankedChunk[] {
  const asked = [...new Set(extractCodeWords(query))];
  const documents = chunks.map((chunk) => countWords(extractCodeWords(`${chunk.path}\n${chunk.text}`)));
  const length = documents.reduce((sum, { total }) => sum + total, 0) / Math.max(1, documents.length);
  const weights = new Map(
    asked.map((word) => [
      word,
      computeRarity(documents.filter(({ counts }) => counts.has(word)).length, documents.length),
    ]),
  );
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

/**
 * Computes the inverse document frequency of a term that occurs in `holding` of `all` chunks; never below
 * zero.
 */
function computeRarity(holding: number, all: number): number {
  return Math.log(1 + (all - holding + 0.5) / (holding + 0.5));
}

function countWords(words: readonly string[]): { counts: ReadonlyMap<string, number>; total: number } {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { counts, total: words.length };
}

/** Computes the cosine of two unit vectors; 0 if it is negative or one vector is missing. */
function computeCosine(left: Float32Array, right: Float32Array | undefined): number {
  if (right === undefined || right.length !== left.length) return 0;
  let sum = 0;
  for (let index = 0; index < left.length; index += 1) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return Math.min(1, Math.max(0, sum));
}

/**
 * Guesses the failing code from the details of the failure: its functions, deepest first, and what they
 * threw.
 */
function guessCode({ subject, headline }: Clues): string | null {
  const [thrown] = subject.exceptions;
  const frames = [...(thrown?.frames ?? []), ...subject.failures.flatMap((failure) => failure.frames)].filter(
    ({ own }) => own,
  );
  const functions = [
    ...new Set(frames.flatMap((frame) => frame.function?.split(/[.#:]/).at(-1) ?? [])),
  ].slice(0, 6);
  const message = thrown === undefined ? headline : `${thrown.type}: ${thrown.message.slice(0, 300)}`;
  const test = subject.failingTests[0]?.name ?? '';
  const body = [...functions.map((name) => `${name}() {`), `  throw "${message}"`, '}'].join('\n');
  const code =
    functions.length === 0 && message === ''
      ? ''
      : [test === '' ? '' : `// ${test.slice(0, 200)}`, body].join('\n').trim();
  return code.length < 10 ? null : code;
}
