import type { App } from '../app/served-app.ts';
import { createApp } from '../app.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { type DataOptions, dataDirectory, readStoreConfig } from './settings.ts';
import { print } from './terminal.ts';

export interface ForgetOptions extends DataOptions {
  readonly repository: string;
  readonly olderThan?: number;
  readonly dryRun?: boolean;
}

export type RetainOptions = DataOptions;

export async function runDelete({ repository, olderThan = 0, dryRun = false, ...options }: ForgetOptions): Promise<void> {
  await withApp(options, async ({ retention }) => {
    if (dryRun) {
      const counts = await retention.count(repository, olderThan);
      const rows = Object.entries(counts).map(([name, count]) => `${String(count).padStart(8)}  ${name}`);
      await print(options.json ? JSON.stringify({ ok: true, dryRun: true, ...counts }) : ['Would be deleted:', ...rows].join('\n'));
      return;
    }
    const done = await retention.forget(repository, olderThan, new AbortController().signal);
    const text = `${done.builds} builds and ${done.libraryEntries} library entries of ${repository} are deleted.${owedText(done.owed)}`;
    await print(options.json ? JSON.stringify({ ok: true, ...done }) : text);
  });
}

export async function runRetain(options: RetainOptions): Promise<void> {
  await withApp(options, async ({ retention }) => {
    const done = await retention.retain(new AbortController().signal);
    const text = `${done.builds} builds are deleted, and the logs of ${done.logs} others.${owedText(done.owed)}`;
    await print(options.json ? JSON.stringify({ ok: true, ...done }) : text);
  });
}

function owedText({ logs, vectors }: { readonly logs: number; readonly vectors: boolean }): string {
  const owed = [logs > 0 ? `the logs of ${logs} builds in the archive` : '', vectors ? 'entries in the vector index' : ''];
  const rest = owed.filter((part) => part !== '');
  return rest.length === 0 ? '' : ` A store is unavailable: a worker will delete ${rest.join(' and ')} once it is back.`;
}

async function withApp(options: DataOptions, work: (app: App) => Promise<void>): Promise<void> {
  const app = await createApp(readStoreConfig(dataDirectory(options.data)), silentLogger);
  try {
    await work(app);
  } finally {
    await app.close({ drainMs: 0 });
  }
}
