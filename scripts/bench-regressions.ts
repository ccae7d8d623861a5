import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openServicePath, openTerminalPath, type Path } from './bench-parts/planted/answers.ts';
import { GO_PROGRAMS } from './bench-parts/planted/go-programs.ts';
import { type PlantedHistory, plantHistory } from './bench-parts/planted/history.ts';
import { JAVASCRIPT_PROGRAMS } from './bench-parts/planted/javascript-programs.ts';
import { PHP_PROGRAMS } from './bench-parts/planted/php-programs.ts';
import { PLANTS, type Program } from './bench-parts/planted/program.ts';
import { PYTHON_PROGRAMS } from './bench-parts/planted/python-programs.ts';
import { RUBY_PROGRAMS } from './bench-parts/planted/ruby-programs.ts';

/**
 * Faults planted in real git histories, with the logs of tests that really fail: how often the commit at fault
 * is the first suspect, in the terminal and in an embedded service, with and without a known green build.
 * `--only WORDS` takes the histories whose names hold the words, `--list` prints each answer, and `--keep FOLDER`
 * leaves the histories there for the next run.
 */
const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, list: { type: 'boolean', default: false }, keep: { type: 'string' } },
});
const PROGRAMS = [...JAVASCRIPT_PROGRAMS, ...PYTHON_PROGRAMS, ...GO_PROGRAMS, ...RUBY_PROGRAMS, ...PHP_PROGRAMS];

interface Outcome {
  readonly history: PlantedHistory;
  readonly path: string;
  readonly isRight: boolean;
}

const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-regressions-'));
try {
  const histories = plantOrReuse().filter((one) => `${one.language} ${one.name}`.includes(options.only));
  const authors = 'each by another author';
  console.log(
    `${histories.length} histories, ${sum(histories.map(({ commits }) => commits)) / histories.length} commits after the green one on average, ${authors}`,
  );
  const terminal = await openTerminalPath(join(folder, 'terminal'));
  const service = await openServicePath(join(folder, 'service'), histories);
  const outcomes: Outcome[] = [];
  for (const knowsGreen of options['without-green'] ? [true, false] : [true]) {
    for (const [name, path] of Object.entries({ terminal, service })) {
      const told = `${name}, ${knowsGreen ? 'green build known' : 'no green build known'}`;
      const answered = await answerAll(told, path, histories, knowsGreen);
      printShare(told, answered);
      outcomes.push(...answered);
    }
  }
  for (const plant of PLANTS)
    printShare(
      `  ${plant}`,
      outcomes.filter(({ history, path }) => history.plant === plant && !path.includes('no green')),
    );
  for (const language of new Set(histories.map((one) => one.language)))
    printShare(
      `  ${language}`,
      outcomes.filter(({ history, path }) => history.language === language && !path.includes('no green')),
    );
  await service.close();
  await terminal.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function plantOrReuse(): PlantedHistory[] {
  if (options.keep === undefined) return plantAll(folder);
  const list = join(options.keep, 'histories.json');
  mkdirSync(options.keep, { recursive: true });
  if (!existsSync(list)) writeFileSync(list, JSON.stringify(plantAll(resolve(options.keep))));
  return JSON.parse(readFileSync(list, 'utf8'));
}

function plantAll(parent: string): PlantedHistory[] {
  return PROGRAMS.filter(canRun).flatMap((program, row) =>
    // The fault takes every place among the harmless commits.
    PLANTS.map((plant, column) => plantHistory(parent, program, plant, (row + column) % (program.harmless.length + 1))),
  );
}

function canRun({ test: [command = ''], language }: Program): boolean {
  const exists = spawnSync(command, ['--version']).error === undefined;
  if (!exists) console.error(`bench: ${language} is left out, because ${command} is not installed`);
  return exists;
}

async function answerAll(path: string, { answer }: Path, histories: readonly PlantedHistory[], knowsGreen: boolean): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const history of histories) {
    const analysis = await answer(history, knowsGreen);
    const { suspects, rootCause, fixRecommendation, confidence } = analysis.answer;
    const [suspect] = suspects;
    const isRight = suspect?.commit === history.culprit;
    outcomes.push({ history, path, isRight });
    if (!options.list) continue;
    console.log(`${isRight ? 'right' : 'WRONG'} ${path}: ${history.language} ${history.name} (${analysis.category}, ${confidence})`);
    console.log(
      `      ${suspect?.path}:${suspect?.line} ${suspect?.commit?.slice(0, 10)} ${suspect?.author} ${suspect?.score} ${suspect?.reason}`,
    );
    console.log(`      ${rootCause}\n      ${fixRecommendation}`);
  }
  return outcomes;
}

function printShare(what: string, outcomes: readonly Outcome[]): void {
  const right = outcomes.filter(({ isRight }) => isRight).length;
  console.log(
    `${`the commit at fault is the first suspect: ${what}`.padEnd(78)} ${(right / outcomes.length).toFixed(3)} (${right} of ${outcomes.length})`,
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
