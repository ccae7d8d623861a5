import { migrateDatabase } from '../app/open-schema.ts';
import { createApp } from '../app.ts';
import { silentLogger } from '../ports/telemetry.ts';
import type { VectorMatch } from '../ports/vector-index.ts';
import { type DataOptions, dataDirectory, readStoreConfig } from './settings.ts';
import { print } from './terminal.ts';

const SHOWN = 5;
const SEARCHED = 50;

/** `faultline migrate`: brings the schema of the database up to date and says what was new. */
export async function runMigrate(options: DataOptions): Promise<void> {
  const { applied } = await migrateDatabase(readStoreConfig(dataDirectory(options.data)));
  const text = applied.length === 0 ? 'The schema is up to date.' : `The schema is up to date. Applied: ${applied.join(', ')}.`;
  await print(options.json ? JSON.stringify({ ok: true, applied }) : text);
}

/** `faultline knowledge load`: brings the index up to date with the folder of documents. */
export async function runKnowledgeLoad(options: DataOptions): Promise<void> {
  const app = await createApp(readStoreConfig(dataDirectory(options.data)), silentLogger);
  const counts = await app.loadKnowledge();
  await app.close();
  const text = `${counts.changed} documents loaded, ${counts.unchanged} unchanged, ${counts.removed} removed.`;
  await print(options.json ? JSON.stringify({ ok: true, ...counts }) : text);
}

/** `faultline knowledge search WORDS`: what the index would give an analyst. */
export async function runKnowledgeSearch(words: string, options: DataOptions): Promise<void> {
  const app = await createApp(readStoreConfig(dataDirectory(options.data)), silentLogger);
  await app.loadKnowledge();
  const matches = await app.vectorIndex.search('knowledge', { text: words, limit: SEARCHED });
  await app.close();
  const documents = bestOfEach(matches);
  const rows = documents.map((match) => `${match.score.toFixed(2)}  ${match.id}  ${match.metadata.title ?? ''}`);
  await print(options.json ? JSON.stringify({ ok: true, matches: documents }) : rows.join('\n') || 'No matches.');
}

/** A document is indexed whole and phrase by phrase; only its best match counts. */
function bestOfEach(matches: readonly VectorMatch[]): VectorMatch[] {
  const seen = new Set<string>();
  return matches
    .map((match) => ({ ...match, id: match.id.replace(/\/.*/, '') }))
    .filter(({ id }) => !seen.has(id) && seen.add(id))
    .slice(0, SHOWN);
}
