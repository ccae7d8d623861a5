import { spawnSync } from 'node:child_process';
import type { Category } from '../../../../src/domain/category.ts';
import { GO_PROGRAMS } from '../planted/go-programs.ts';
import { plantHistory } from '../planted/history.ts';
import { JAVASCRIPT_PROGRAMS } from '../planted/javascript-programs.ts';
import { LATER_PROGRAMS } from '../planted/later-programs.ts';
import { PHP_PROGRAMS } from '../planted/php-programs.ts';
import { PLANTS, type PlannedCommit, type Plant, type Program } from '../planted/program.ts';
import { PYTHON_PROGRAMS } from '../planted/python-programs.ts';
import { RUBY_PROGRAMS } from '../planted/ruby-programs.ts';
import type { LoopCase, Spellings } from './case.ts';

const PROGRAMS: readonly Program[] = [
  JAVASCRIPT_PROGRAMS,
  PYTHON_PROGRAMS,
  RUBY_PROGRAMS,
  PHP_PROGRAMS,
  GO_PROGRAMS,
  LATER_PROGRAMS,
].flat();
/** The number of faults per program. Programs take turns, so that all faults occur. */
const EACH = 2;

/**
 * Plants faults in the histories of small programs after a known passing build. Their tests are really run.
 */
export function plantCases(parent: string): LoopCase[] {
  return PROGRAMS.filter(canRun).flatMap((program, row) =>
    PLANTS.filter((_, column) => (row + column) % (PLANTS.length / EACH) === 0).map((plant, column) =>
      plantCase(parent, program, plant, (row + column) % (program.harmless.length + 1)),
    ),
  );
}

function canRun({ test: [command = ''], language }: Program): boolean {
  const exists = spawnSync(command, ['--version']).error === undefined;
  if (!exists) console.error(`bench: ${language} is left out, because ${command} is not installed`);
  return exists;
}

function plantCase(parent: string, program: Program, plant: Plant, place: number): LoopCase {
  const { folder, green, head, culprit, log: printed } = plantHistory(parent, program, plant, place);
  const slug = program.name.replaceAll(' ', '-');
  // The folder is replaced by that of a runner, so that no answer depends on where the set was written.
  const log = printed.replaceAll(folder, `/home/runner/work/${slug}/${slug}`);
  const guilty = program.plants[plant];
  const [{ path, from } = { path: '', from: '' }] = guilty.edits;
  const names = listChangedNames(guilty);
  const unseen = names.filter((name) => !log.includes(name));
  const oldLine = from.trim().split('\n', 1)[0] ?? '';
  return {
    name: `${program.name}, ${plant}`,
    project: program.name,
    repository: `planted/${slug}-${plant.replaceAll(' ', '-')}`,
    log,
    clone: folder,
    commit: head,
    past: [{ status: 'passed', commit: green }],
    documents: [],
    truth: {
      categories: categorize(log),
      cause: [names],
      ...(unseen.length === 0 ? {} : { beyondLog: [unseen] }),
      suspect: { commit: culprit, path },
      fix: [[culprit.slice(0, 10), oldLine]],
      settledBy: ['changed_since_green'],
      proof: culprit.slice(0, 10),
      because: `the ${plant} is one of several commits since the passing build; the log shows none`,
    },
  };
}

/** Returns the categories: an exception in a test is a code error, a failed expectation a test failure. */
function categorize(log: string): [Category, Category] {
  const threw = /TypeError|AttributeError|KeyError|NoMethodError|NameError|panic:|IndexError|ZeroDivision/;
  return threw.test(log) ? ['CODE_ERROR', 'TEST_FAILURE'] : ['TEST_FAILURE', 'CODE_ERROR'];
}

const COMMON = new Set(
  'const return undefined null None self this else function continue throw with'.split(' '),
);

/** Lists the identifiers of the lines that a commit changes. */
function listChangedNames({ edits }: PlannedCommit): Spellings {
  const words = edits.flatMap(({ from, to }) => `${from}\n${to}`.match(/[A-Za-z_]\w{2,}/g) ?? []);
  return [...new Set(words)].filter((word) => !COMMON.has(word));
}
