import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { computeF1, computeRatio } from '../../../src/replay/figures/figure.ts';
import type { Adapter, Question, ToolAnswer } from './open/adapter.ts';
import { COVERAGES, measureRisk, type Scored, scoreAnswer } from './open/score.ts';
import { listSets } from './open/sets.ts';

/*
 * The open benchmark: every tool gets the same logs, and its answers are compared with the same labels.
 * Prints the tables of docs/evidence/open-benchmark.md.
 */
const USAGE = `usage: scripts/bench open [--data FOLDER] [--only SET] [--adapter FILE]… [--list]

  --data FOLDER    labelled public cases; without it, the sets of this repository alone
  --only SET       the sets whose name contains this
  --adapter FILE   another tool: a module that exports an \`adapter\` (scripts/parts/bench/open/adapter.ts)
  --list           name the answers of the last tool that are not good`;
const { values: asked, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string' },
    only: { type: 'string', default: '' },
    adapter: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (asked.help || positionals.length > 0) {
  console.error(USAGE);
  process.exit(2);
}

const OWN = ['last-lines', 'keyword-rules', 'faultline-rules'].map((name) => `./open/${name}.ts`);
const adapters: Adapter[] = [];
for (const path of OWN) adapters.push((await import(path)).adapter);
for (const path of asked.adapter) adapters.push((await import(resolve(path))).adapter);

const rows: string[] = [];
const curves: string[] = [];
for (const set of listSets(asked.data).filter(({ name }) => name.includes(asked.only))) {
  const scored = new Map(adapters.map(({ name }) => [name, [] as Scored[]]));
  let count = 0;
  for await (const question of set.questions()) {
    count++;
    for (const adapter of adapters)
      scored.get(adapter.name)?.push(scoreAnswer(question, await askTool(adapter, question)));
  }
  for (const [name, own] of scored) {
    const title = `${set.name}${set.isLearned ? ' *' : ''} (${count})`;
    rows.push(`| ${title} | ${name} | ${describe(own).join(' | ')} |`);
    const { at, mean } = measureRisk(own);
    curves.push(`| ${title} | ${name} | ${[...at, mean].map((risk) => risk.toFixed(2)).join(' | ')} |`);
  }
  if (asked.list)
    for (const { id, told, isRight } of scored
      .get(adapters.at(-1)?.name ?? '')
      ?.filter(({ isGood }) => !isGood) ?? [])
      console.error(`${set.name}: ${id} (category ${isRight}, told ${told?.toFixed(2)})`);
  console.error(`${set.name}: ${count} cases`);
}

console.log(
  '| set (cases) | tool | category right | useful | says half of it | published; wrong of it | F1 of re-runs |',
);
console.log('|---|---|---|---|---|---|---|');
for (const row of rows) console.log(row);
console.log(
  `\n| set (cases) | tool | ${COVERAGES.map((share) => `surest ${100 * share} %`).join(' | ')} | mean |`,
);
console.log(`|---|---|${'---|'.repeat(COVERAGES.length + 1)}`);
for (const curve of curves) console.log(curve);
process.exit(0);

/** Asks a tool. If the tool throws, its answer is empty. */
async function askTool(adapter: Adapter, question: Question): Promise<ToolAnswer> {
  try {
    return await adapter.answer(question);
  } catch (error) {
    console.error(`${adapter.name}, ${question.id}: ${error instanceof Error ? error.message : error}`);
    return { text: '' };
  }
}

/** Describes a tool's answers to a set in the columns of the table. */
function describe(own: readonly Scored[]): string[] {
  const judged = own.filter(({ isRight }) => isRight !== null);
  const told = own.filter((scored) => scored.told !== null);
  const published = own.filter((scored) => scored.published);
  const known = own.flatMap(({ rerun }) => rerun ?? []);
  const hits = known.filter(({ passes, said }) => passes && said).length;
  const recall = computeRatio(hits, known.filter(({ passes }) => passes).length);
  const precision = computeRatio(hits, known.filter(({ said }) => said).length);
  return [
    describeShare(judged.filter(({ isRight }) => isRight).length, judged.length),
    describeShare(told.filter(({ isUseful }) => isUseful).length, told.length),
    describeShare(told.filter((scored) => (scored.told ?? 0) >= 0.5).length, told.length),
    published.length === 0 ? '–' : `${published.length}; ${published.filter(({ isGood }) => !isGood).length}`,
    known.some(({ passes }) => passes) ? computeF1(precision, recall).toFixed(2) : '–',
  ];
}

function describeShare(part: number, of: number): string {
  return of === 0 ? '–' : (part / of).toFixed(2);
}
