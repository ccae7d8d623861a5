import { createApp } from '../app.ts';
import { silentLogger } from '../ports/logger.ts';
import { type DataOptions, dataDirectory, readConfig } from './settings.ts';
import { print } from './terminal.ts';

/** `faultline migrate`: brings the schema of the data directory up to date; opening it does just that. */
export async function runMigrate(options: DataOptions): Promise<void> {
  const app = await createApp(readConfig(dataDirectory(options.data)), silentLogger);
  const { applied } = await app.database.migrate();
  await app.close();
  await print(options.json ? JSON.stringify({ ok: true, pending: applied.length }) : 'The schema is up to date.');
}

/** `faultline knowledge load`: brings the index up to date with the folder of documents. */
export async function runKnowledgeLoad(options: DataOptions): Promise<void> {
  const app = await createApp(readConfig(dataDirectory(options.data)), silentLogger);
  const counts = await app.loadKnowledge();
  await app.close();
  const text = `${counts.changed} documents loaded, ${counts.unchanged} unchanged, ${counts.removed} removed.`;
  await print(options.json ? JSON.stringify({ ok: true, ...counts }) : text);
}

/** `faultline knowledge search WORDS`: what the index would give an analyst. */
export async function runKnowledgeSearch(words: string, options: DataOptions): Promise<void> {
  const app = await createApp(readConfig(dataDirectory(options.data)), silentLogger);
  await app.loadKnowledge();
  const matches = await app.vectorIndex.search('knowledge', { text: words, limit: 5 });
  await app.close();
  const rows = matches.map((match) => `${match.score.toFixed(2)}  ${match.id}  ${match.metadata.title ?? ''}`);
  await print(options.json ? JSON.stringify({ ok: true, matches }) : rows.join('\n') || 'Nothing fits.');
}
