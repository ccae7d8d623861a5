import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Analysis } from '../../../src/domain/analysis.ts';
import { sumNumbers } from '../../../src/lib/collections.ts';
import { openServicePath, openTerminalPath, type Path } from './planted/answers.ts';
import { GO_PROGRAMS } from './planted/go-programs.ts';
import { type PlantedHistory, plantHistory } from './planted/history.ts';
import { JAVASCRIPT_PROGRAMS } from './planted/javascript-programs.ts';
import { LATER_PROGRAMS } from './planted/later-programs.ts';
import { PHP_PROGRAMS } from './planted/php-programs.ts';
import { PLANTS, type Program } from './planted/program.ts';
import { PYTHON_PROGRAMS } from './planted/python-programs.ts';
import { RUBY_PROGRAMS } from './planted/ruby-programs.ts';

/**
 * Faults planted in real git histories, with the logs of tests that really fail: how often the commit at
 * fault is that of the first suspect, in the terminal and in an embedded service. `--only WORDS` takes the
 * histories whose names hold the words, `--without-green` asks again without a known green build, `--list`
 * prints each answer, and `--keep FOLDER` leaves the histories there for the next run.
 */
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    'without-green': { type: 'boolean', default: false },
    keep: { type: 'string' },
  },
});
const SCRIPTED = [JAVASCRIPT_PROGRAMS, PYTHON_PROGRAMS, RUBY_PROGRAMS, PHP_PROGRAMS];
const FIRST_PROGRAMS = [...SCRIPTED, GO_PROGRAMS].flat();

interface Outcome {
  readonly history: PlantedHistory;
  readonly isRight: boolean;
  /** True if the cause names what the commit removed, and the fix says to restore it. */
  readonly isRestored: boolean;
}

const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-regressions-'));
try {
  const histories = plantOrReuse().filter((plantedHistory) =>
    `${plantedHistory.language} ${plantedHistory.name}`.includes(options.only),
  );
  const commits = sumNumbers(histories.map((history) => history.commits)) / histories.length;
  console.log(`${histories.length} histories, on average ${commits.toFixed(1)} commits after the green one`);
  await measure(histories);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(histories: readonly PlantedHistory[]): Promise<void> {
  const terminal = await openTerminalPath(join(folder, 'terminal'));
  const service = await openServicePath(join(folder, 'service'), histories);
  const inTerminal = await answerAll('terminal', terminal, histories, true);
  const inService = await answerAll('service', service, histories, true);
  const same = inTerminal.filter(({ isRight }, at) => inService[at]?.isRight === isRight).length;
  console.log(`terminal and service agree on ${same} of ${histories.length}`);
  const both = [...inTerminal, ...inService];
  for (const plant of PLANTS)
    printShare(
      `both, ${plant}`,
      both.filter(({ history }) => history.plant === plant),
    );
  const removed = both.filter(({ history, isRight }) => history.plant === 'removed check' && isRight);
  const restored = removed.filter(({ isRestored }) => isRestored).length;
  console.log(`the cause names a removed check, and the fix restores it: ${restored} of ${removed.length}`);
  if (options['without-green']) {
    await answerAll('terminal, no green build known', terminal, histories, false);
    await answerAll('service, no green build known', service, histories, false);
  }
  await service.close();
  await terminal.close();
}

function plantOrReuse(): PlantedHistory[] {
  if (options.keep === undefined) return plantAll(folder);
  const list = join(options.keep, 'histories.json');
  mkdirSync(options.keep, { recursive: true });
  if (!existsSync(list)) writeFileSync(list, JSON.stringify(plantAll(resolve(options.keep))));
  return JSON.parse(readFileSync(list, 'utf8'));
}

function plantAll(parent: string): PlantedHistory[] {
  const programs = [...FIRST_PROGRAMS, ...LATER_PROGRAMS].filter(canRun);
  const plantEach = (isReformatted: boolean) =>
    programs.flatMap((program, row) =>
      // The fault is planted at every position among the harmless commits. Every second history is
      // reformatted as well.
      PLANTS.flatMap((plant, column) => {
        const place = (row + column) % (program.harmless.length + 1);
        const isLeftOut = isReformatted && (row + column) % 2 === 1;
        return isLeftOut ? [] : [plantHistory(parent, program, plant, place, isReformatted)];
      }),
    );
  return [false, true].flatMap(plantEach);
}

function canRun({ test: [command = ''], language }: Program): boolean {
  const exists = spawnSync(command, ['--version']).error === undefined;
  if (!exists) console.error(`bench: ${language} is left out, because ${command} is not installed`);
  return exists;
}

type Histories = readonly PlantedHistory[];

async function answerAll(path: string, { answer }: Path, histories: Histories, knowsGreen: boolean) {
  const outcomes: Outcome[] = [];
  for (const history of histories) {
    const analysis = await answer(history, knowsGreen);
    const { suspects, rootCause, fixRecommendation } = analysis.answer;
    const isRight = suspects[0]?.commit === history.culprit;
    const isRestored = rootCause.includes(' removed the ') && fixRecommendation.startsWith('Restore ');
    outcomes.push({ history, isRight, isRestored });
    if (options.list) printAnswer(path, history, analysis, isRight);
  }
  printShare(path, outcomes);
  const later = LATER_PROGRAMS.map(({ name }) => `${name}, `);
  const isLater = ({ history }: Outcome) => later.some((name) => history.name.startsWith(name));
  const plain = outcomes.filter(({ history }) => !history.isReformatted);
  printShare(
    `${path}, programs written before`,
    plain.filter((outcome) => !isLater(outcome)),
  );
  printShare(`${path}, programs written after`, plain.filter(isLater));
  printShare(
    `${path}, all code reformatted after the fault`,
    outcomes.filter(({ history }) => history.isReformatted),
  );
  return outcomes;
}

function printAnswer(path: string, history: PlantedHistory, analysis: Analysis, isRight: boolean): void {
  const { category, answer } = analysis;
  const [suspect] = answer.suspects;
  const named = `${history.language} ${history.name}`;
  console.log(`${isRight ? 'right' : 'WRONG'} ${path}: ${named} (${category}, ${answer.confidence})`);
  if (suspect !== undefined)
    console.log('     ', suspect.path, suspect.line, suspect.author, suspect.score, suspect.reason);
  console.log(`      ${answer.rootCause}\n      ${answer.fixRecommendation}`);
}

function printShare(what: string, outcomes: readonly Outcome[]): void {
  if (outcomes.length === 0) return;
  const right = outcomes.filter(({ isRight }) => isRight).length;
  const share = `${(right / outcomes.length).toFixed(3)} (${right} of ${outcomes.length})`;
  console.log(`${`the commit at fault is the first suspect: ${what}`.padEnd(84)} ${share}`);
}
