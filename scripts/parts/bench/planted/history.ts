import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Edit, PlannedCommit, Plant, Program } from './program.ts';
import { reformat } from './reformat.ts';

/** A real history with one planted fault, and the log of its failing tests. */
export interface PlantedHistory {
  readonly name: string;
  readonly language: Program['language'];
  readonly plant: Plant;
  /** True if the newest commit only formats the code. */
  readonly isReformatted: boolean;
  readonly folder: string;
  readonly green: string;
  readonly head: string;
  /** The commit at fault. */
  readonly culprit: string;
  /** The number of commits after the passing one. */
  readonly commits: number;
  readonly log: string;
}

const TEST_MS = 120_000;
const HOUR_MS = 3_600_000;

/**
 * Writes the history into a new folder below `parent`: the founding commits, of which the last is green, then
 * the harmless commits with the fault after the first `place` of them, and one that formats. Throws unless the tests pass at the
 * green commit, fail at the head, and pass with all commits but the fault.
 */
export function plantHistory(
  parent: string,
  program: Program,
  plant: Plant,
  place: number,
  isReformatted = false,
): PlantedHistory {
  const folder = mkdtempSync(join(parent, 'history-'));
  const repository = createRepository(folder);
  const name = `${program.name}, ${plant}${isReformatted ? ', reformatted' : ''}`;
  const green = program.founding.map(repository.commit).at(-1) ?? '';
  runTests(folder, program, true, `${name}, at the green commit`);
  const after = program.harmless.toSpliced(place, 0, program.plants[plant]);
  const ids = after.map(repository.commit);
  const culprit = ids[place] ?? '';
  if (isReformatted) {
    reformat(folder, program);
    ids.push(repository.commit({ author: 'Fay Ström', message: 'Format the code', edits: [] }));
  }
  const log = runTests(folder, program, false, `${name}, at the head`);
  const without = mkdtempSync(join(parent, 'without-fault-'));
  const others = [program.founding, program.harmless].flat();
  for (const edit of others.flatMap(({ edits }) => edits)) applyEdit(without, edit);
  if (isReformatted) reformat(without, program);
  runTests(without, program, true, `${name}, without the fault`);
  const { language } = program;
  const head = ids.at(-1) ?? '';
  return { name, language, plant, isReformatted, folder, green, head, culprit, commits: ids.length, log };
}

/** Creates an empty repository in the folder. A fixed clock and committer make its ids the same each time. */
export function createRepository(folder: string) {
  const email = 'somebody@planted.test';
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_NAME: 'Planter',
  };
  let at = Date.UTC(2026, 0, 5);
  const git = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    execFileSync('git', args, { cwd: folder, env: { ...environment, ...more }, encoding: 'utf8' }).trim();
  git(['init', '--quiet', '--initial-branch=main']);
  return {
    commit({ author, message, edits }: PlannedCommit): string {
      for (const edit of edits) applyEdit(folder, edit);
      at += HOUR_MS;
      const date = new Date(at).toISOString();
      git(['add', '--all']);
      const dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
      git(['commit', '--quiet', '-m', message], { ...dates, GIT_AUTHOR_NAME: author });
      return git(['rev-parse', 'HEAD']);
    },
  };
}

export function applyEdit(folder: string, { path, from, to }: Edit): void {
  const file = join(folder, path);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (!before.includes(from)) throw new Error(`${path} does not hold: ${from}`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    before.replace(from, () => to),
  );
}

/** Runs the tests and returns their output in the form of a CI system's log. */
function runTests(folder: string, { test }: Program, passes: boolean, when: string): string {
  const [command = '', ...args] = test;
  const options = {
    cwd: folder,
    encoding: 'utf8',
    timeout: TEST_MS,
    env: { ...process.env, CI: 'true', NO_COLOR: '1', FORCE_COLOR: '0', PYTHONDONTWRITEBYTECODE: '1' },
  } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (error !== undefined) throw new Error(`${when}: ${command} did not run`, { cause: error });
  const printed = `${stdout}${stderr}`;
  if ((status === 0) !== passes) throw new Error(`${when}: the tests ended with ${status}\n${printed}`);
  const asked = [command.split('/').at(-1), ...args].join(' ');
  return `$ ${asked}\n${printed}\n##[error]Process completed with exit code ${status}.\n`;
}
