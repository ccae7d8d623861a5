import { z } from 'zod';

/** An address with one of these schemes; the message says what is missing. */
function address(...schemes: readonly string[]) {
  const start = new RegExp(`^(?:${schemes.map((scheme) => scheme.replace('+', '\\+')).join('|')})://.`);
  return z.string('is not set').regex(start, `must be an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
}

export const DatabaseConfig = z.discriminatedUnion('driver', [
  z.object({ driver: z.literal('pglite'), dataDir: z.string().min(1) }),
  z.object({
    driver: z.literal('postgres'),
    url: address('postgres', 'postgresql'),
    /** Of a role that may only read; null: the same role, in sessions that cannot write. */
    readerUrl: address('postgres', 'postgresql').nullable(),
    /** Of the role that owns the tables, for migrations; null: the same role. */
    ownerUrl: address('postgres', 'postgresql').nullable(),
    poolSize: z.int().min(2).max(200),
  }),
]);

/** What every job queue has: how many builds one process triages at once, and whether `serve` does so beside its HTTP server. */
const WORK = { concurrency: z.int().min(1).max(64), inServe: z.boolean() };

export const JobQueueConfig = z.discriminatedUnion('driver', [
  z.object({ driver: z.literal('pg-boss'), ...WORK }),
  z.object({ driver: z.literal('bullmq'), ...WORK, url: address('redis', 'rediss'), prefix: z.string().min(1).max(100) }),
]);

export const BuildArchiveConfig = z.discriminatedUnion('driver', [
  z.object({ driver: z.literal('postgres') }),
  z.object({ driver: z.literal('mongodb'), url: address('mongodb', 'mongodb+srv'), database: z.string().min(1).max(60) }),
]);

export const VectorIndexConfig = z.discriminatedUnion('driver', [
  z.object({ driver: z.literal('pgvector') }),
  z.object({
    driver: z.literal('pinecone'),
    apiKey: z.string('is not set').min(1, 'is not set'),
    /** Name of an index with cosine metric and as many dimensions as the embedder makes. */
    index: z.string().min(1).max(45),
    /** Of the control plane; another one for Pinecone's local emulator or a proxy. */
    baseUrl: z.url({ protocol: /^https?$/ }).nullable(),
  }),
]);
