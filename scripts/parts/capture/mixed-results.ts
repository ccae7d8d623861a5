import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { MixedBuild } from './mixed-row.ts';
import { type CapturedLog, describeBuild } from './mixed-truth.ts';

/** A row of `mixed.jsonl`: the facts of its table, and those that the capture added. */
export type MixedResult = ReturnType<typeof describeBuild> & {
  readonly id: string;
  readonly version: string | undefined;
  readonly log_path?: string | undefined;
  readonly logs?: ReadonlyArray<{ readonly name: string; readonly log_path: string }> | undefined;
  readonly report_path: string | undefined;
  readonly captured_at: string;
};

/**
 * Replaces one row of `mixed.jsonl`. Rows are in the order of the tables. Rows of deleted builds are removed.
 */
export async function keepRow(
  row: MixedResult,
  builds: readonly MixedBuild[],
  fixtures: string,
): Promise<void> {
  const rows = await readRows(fixtures);
  rows.set(row.id, row);
  const kept = builds.map(({ id }) => rows.get(id)).filter((result) => result !== undefined);
  await writeFile(
    join(fixtures, 'mixed.jsonl'),
    kept.map((mixedResult) => `${JSON.stringify(mixedResult)}\n`).join(''),
  );
}

/**
 * Labels the stored logs again by the current tables, without running a tool. Returns the ids of builds whose
 * logs contradict the tables.
 */
export async function labelAgain(builds: readonly MixedBuild[], fixtures: string): Promise<string[]> {
  const failed: string[] = [];
  const rows = await readRows(fixtures);
  for (const build of builds) {
    const row = rows.get(build.id);
    if (row === undefined) continue;
    try {
      await keepRow({ ...row, ...describeBuild(build, await readLogs(row, fixtures)) }, builds, fixtures);
    } catch (error) {
      failed.push(build.id);
      console.error(`${build.id}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failed;
}

async function readRows(fixtures: string): Promise<Map<string, MixedResult>> {
  const text = await readFile(join(fixtures, 'mixed.jsonl'), 'utf8').catch(() => '');
  const rows = text.split('\n').filter(Boolean);
  return new Map(rows.map((line): [string, MixedResult] => [readRowId(line), JSON.parse(line)]));
}

function readRowId(line: string): string {
  const row: { readonly id: string } = JSON.parse(line);
  return row.id;
}

/** Reads the logs of a row in the form in which they were captured. */
export async function readLogs(
  { log_path: path = '', logs }: Pick<MixedResult, 'log_path' | 'logs'>,
  fixtures: string,
): Promise<CapturedLog[]> {
  const named = logs ?? [{ name: 'log', log_path: path }];
  return await Promise.all(
    named.map(async (log) => ({
      name: log.name,
      path: log.log_path,
      text: await readFile(join(fixtures, log.log_path), 'utf8'),
    })),
  );
}
