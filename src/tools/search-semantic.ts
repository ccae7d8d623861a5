import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { Finding } from '../domain/evidence.ts';
import { append } from '../lib/lists.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { Embedder } from '../ports/vector-index.ts';
import { type CodeChunk, chunksOf } from './code-chunks.ts';
import { searchWords } from './code-words.ts';
import { failureHeadline } from './failure-text.ts';
import { keptByCommit } from './kept-by-commit.ts';
import { type RankedChunk, rankByMeaning, rankByWords } from './rank-chunks.ts';
import { codeUnavailable, type ResolvedCommit, resolveCommit, withNote } from './repository-file.ts';
import { defineTool, type Tool, type ToolContext } from './tool.ts';

/** Words that candidate files are searched by: what the port takes in one question. */
const MAX_WORDS = 16;
const MAX_CANDIDATES = 12;
/** What one question to a code host returns. */
const WINDOW = 200;
/** Windows read of each file: 800 lines. */
const MAX_WINDOWS = 4;
const FILES_AT_ONCE = 4;
const MAX_CODE = 4_000;
/** Less alike is no answer. */
const LEAST_SCORE = 0.05;
/** Nothing that a person wrote, or that a cause is looked for in. */
const SKIPPED =
  /(?:^|\/)(?:node_modules|vendor|third_party|dist|build|coverage|__snapshots__)\/|\.(?:lock|min\.js|map|snap|svg|csv|json|md|rst|txt|html|po|pb\.go)$|(?:^|\/)(?:package-lock\.json|go\.sum)$/i;

const SearchParameters = z.strictObject({
  code: z
    .string()
    .trim()
    .min(10)
    .max(MAX_CODE)
    .describe(
      'Code as it might stand in the repository where the fault is: a guess at the failing function, in its language and with its names',
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
  limit: z.int().min(1).max(10).default(5),
});
type Args = z.output<typeof SearchParameters>;

type Mask = (text: string) => Promise<string>;

/** Code may hold secrets, and the embedder may be somebody else's server. */
function maskedBefore(embedder: Embedder, mask: Mask): Embedder {
  return { ...embedder, embed: async (texts, signal) => embedder.embed(await Promise.all(texts.map(mask)), signal) };
}

/**
 * Which lines of the repository are like this guess at them? A guess at the code is nearer to the code than a question is (Gao, Ma, Lin,
 * Callan: Precise Zero-Shot Dense Retrieval without Relevance Labels, ACL 2023). Its identifiers find candidate files, their chunks of
 * about 500 tokens are ranked by embeddings; by BM25 where no embedder that knows meaning is configured or it does not answer.
 */
export function searchSemantic(codeHost: CodeHost, embedder: Embedder | null = null, mask: Mask | null = null): Tool {
  const meaning = embedder === null || mask === null || embedder.name.startsWith('hashing') ? null : maskedBefore(embedder, mask);
  return defineTool({
    name: 'search_semantic',
    question: 'Which lines of the repository are most like this guess at the code that fails?',
    categories: ['CODE_ERROR'],
    costClass: 'high',
    usualLatencyMs: 1500,
    provider: `code-host:${codeHost.driver}`,
    parameters: SearchParameters,
    cache: keptByCommit(codeHost),
    unavailable: (subject) => codeUnavailable(codeHost, subject),
    run: (args, context) => run(codeHost, meaning, args, context),
  });
}

async function run(codeHost: CodeHost, embedder: Embedder | null, args: Args, context: ToolContext): Promise<Finding[]> {
  const { subject, signal } = context;
  const { repository } = subject.build;
  const commit = await resolveCommit(codeHost, subject, signal);
  const words = args.words !== undefined && args.words.length > 0 ? args.words : searchWords(args.code, MAX_WORDS);
  if (words.length === 0) throw new TriageError('invalid-input', 'code: it holds no identifier to search for.');
  const hits = await codeHost.searchFiles({ repository, ref: commit.ref, words, limit: MAX_CANDIDATES * 3 }, signal);
  const paths = hits.map(({ path }) => path).filter((path) => !SKIPPED.test(path));
  const chunks = await chunksOfFiles(codeHost, { repository, ref: commit.ref }, paths.slice(0, MAX_CANDIDATES), signal);
  const { ranked, by } = await rank(chunks, `${failureHeadline(subject)}\n${args.code}`, embedder, signal);
  return apart(ranked)
    .slice(0, args.limit)
    .map((one) => findingOf(one, commit, by));
}

async function rank(chunks: readonly CodeChunk[], query: string, embedder: Embedder | null, signal: AbortSignal) {
  if (embedder === null || chunks.length === 0) return { ranked: rankByWords(chunks, query), by: 'words' };
  try {
    return { ranked: await rankByMeaning(chunks, query, embedder, signal), by: 'meaning' };
  } catch (error) {
    if (signal.aborted) throw error;
    return { ranked: rankByWords(chunks, query), by: 'words, because the embedder did not respond' };
  }
}

async function chunksOfFiles(
  codeHost: CodeHost,
  place: { repository: string; ref: string },
  paths: readonly string[],
  signal: AbortSignal,
): Promise<CodeChunk[]> {
  const chunks: CodeChunk[] = [];
  for (let start = 0; start < paths.length; start += FILES_AT_ONCE) {
    const batch = paths.slice(start, start + FILES_AT_ONCE);
    const read = await Promise.all(batch.map((path) => readLines(codeHost, { ...place, path }, signal)));
    for (const [index, lines] of read.entries()) append(chunks, chunksOf(batch[index] ?? '', 1, lines));
  }
  return chunks;
}

/** A file's first 800 lines; none where it is too large, binary or gone: one bad candidate spoils no answer. */
async function readLines(
  codeHost: CodeHost,
  query: { repository: string; ref: string; path: string },
  signal: AbortSignal,
): Promise<string[]> {
  const lines: string[] = [];
  for (let window = 0; window < MAX_WINDOWS; window += 1) {
    const lineStart = 1 + window * WINDOW;
    const file = await readWindow(codeHost, { ...query, lineStart, lineEnd: lineStart + WINDOW - 1 }, signal);
    if (file === null) break;
    append(lines, file.lines);
    if (file.totalLines < lineStart + WINDOW) break;
  }
  return lines;
}

async function readWindow(codeHost: CodeHost, query: Parameters<CodeHost['readFile']>[0], signal: AbortSignal) {
  try {
    return await codeHost.readFile(query, signal);
  } catch (error) {
    const unreadable = error instanceof TriageError && ['too-large', 'unsupported-type', 'not-found'].includes(error.code);
    if (unreadable) return null;
    throw error;
  }
}

/** Without chunks that overlap a better one of their file. */
function apart(ranked: readonly RankedChunk[]): RankedChunk[] {
  const kept: RankedChunk[] = [];
  for (const one of ranked) {
    const { path, lineStart, lineEnd } = one.chunk;
    const overlaps = kept.some(({ chunk }) => chunk.path === path && chunk.lineStart <= lineEnd && lineStart <= chunk.lineEnd);
    if (one.score >= LEAST_SCORE && !overlaps) kept.push(one);
  }
  return kept;
}

function findingOf({ chunk, score }: RankedChunk, commit: ResolvedCommit, by: string): Finding {
  const { path, lineStart, lineEnd, text } = chunk;
  return {
    title: withNote(`${path}:${lineStart}–${lineEnd}, matched by ${by}`, commit),
    text,
    source: path,
    lineStart,
    lineEnd,
    score: Math.round(score * 1_000) / 1_000,
    data: { path, line: lineStart, commit: commit.ref, by },
  };
}
