import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readMixedBuilds } from '../scripts/parts/capture/mixed.ts';
import { readLogs } from '../scripts/parts/capture/mixed-results.ts';
import type { MixedBuild } from '../scripts/parts/capture/mixed-row.ts';
import { describeBuild, splitByRunner } from '../scripts/parts/capture/mixed-truth.ts';
import { Category } from '../src/domain/category.ts';

const FOLDER = resolve(import.meta.dirname, 'fixtures/mixed');

const Failure = z
  .object({ message: z.string(), cause: z.string(), category: Category, also_ok: z.array(Category) })
  .loose();

const Row = z.object({
  id: z.string(),
  runner: z.string(),
  shape: z.enum(['tests', 'steps', 'findings', 'retried', 'green']),
  split: z.enum(['work', 'held']),
  log_path: z.string().optional(),
  logs: z.array(z.object({ name: z.string(), log_path: z.string() })).optional(),
  report_path: z.string().optional(),
  green: z.literal(true).optional(),
  tests_passed_on_retry: z.array(z.string()).optional(),
  failures: z.array(Failure),
});

const rows = readFileSync(join(FOLDER, 'mixed.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => Row.parse(JSON.parse(line)));

describe('the captured builds that fail in several ways', () => {
  let builds: ReadonlyMap<string, MixedBuild> = new Map();
  beforeAll(async () => {
    builds = new Map((await readMixedBuilds()).map((build) => [build.id, build]));
  });

  it('are all listed in the tables', () => {
    expect(rows.map(({ id }) => id)).toEqual([...builds.keys()]);
  });

  it.each(rows)('$id has the failures of its table, with messages that its logs contain', async (row) => {
    const build = builds.get(row.id);
    if (build === undefined) throw new Error(`no table has ${row.id}`);
    const told = describeBuild(build, await readLogs(row, FOLDER));

    expect(row).toMatchObject(JSON.parse(JSON.stringify(told)));
    expect(row.failures).toHaveLength(told.failures.length);
    expect(row.failures.length === 0).toBe(row.green === true);
  });

  it('have about half of the runners held out', () => {
    const runners = new Set(rows.map(({ runner }) => runner));
    const held = [...runners].filter((runner) => splitByRunner(runner) === 'held');

    expect(runners.size).toBeGreaterThanOrEqual(30);
    expect(held.length / runners.size).toBeGreaterThan(0.4);
    expect(held.length / runners.size).toBeLessThan(0.6);
  });
});
