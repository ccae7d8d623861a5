import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { LINEAR_FILES, listLinearRuns, listRuns, TABLES } from './ablation-plan.ts';
import { runAll } from './ablation-runs.ts';
import { formatLinearTables, renderTable } from './ablation-tables.ts';

/**
 * Prints every figure of docs/evidence/ablations.md as Markdown: the value of each stage, and the gain of the
 * loop over the linear baseline, with the rules analyst. The caller provides the data sets.
 */
const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    only: { type: 'string', multiple: true },
    threads: { type: 'string' },
  },
});
const GROUPS = [...new Set(TABLES.map(({ group }) => group)), 'linear' as const];
const data = values.data === undefined ? null : resolve(values.data);
const needed = [
  ...new Set([...TABLES.flatMap(({ columns }) => columns.map(({ file }) => file)), ...LINEAR_FILES]),
];
if (data === null)
  stop(
    `Say where the data sets are: --data FOLDER with ${needed.map((file) => `${file}.jsonl`).join(', ')}.`,
  );
const missing = needed.filter((file) => !existsSync(join(data, `${file}.jsonl`)));
if (missing.length > 0) stop(`${data} lacks ${missing.map((file) => `${file}.jsonl`).join(', ')}.`);
const chosen = values.only ?? GROUPS;
const unknown = chosen.find((name) => !GROUPS.some((group) => group === name));
if (unknown !== undefined) stop(`--only: there is no group "${unknown}"; choose among ${GROUPS.join(', ')}.`);

const tables = TABLES.filter(({ group }) => chosen.includes(group));
const isLinear = chosen.includes('linear');
const threads = Number(values.threads ?? Math.min(2, availableParallelism()));
const results = await runAll([...listRuns(tables), ...(isLinear ? listLinearRuns() : [])], data, threads);
for (const table of tables) console.log(renderTable(table, results));
if (isLinear) console.log(formatLinearTables(results));

function stop(sentence: string): never {
  console.error(`bench ablations: ${sentence}`);
  process.exit(2);
}
