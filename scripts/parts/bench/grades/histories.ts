import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { applyEdit, createRepository } from '../planted/history.ts';
import { create, type Edit, type Program, replace } from '../planted/program.ts';
import { type Run, runJob } from '../whose/lab.ts';
import { type Fault, listFaults, setUp } from './faults.ts';

/** The ways in which a red branch becomes green. */
export const WAYS = [
  'mended by one commit',
  'mended beside other changes',
  'taken back',
  'mended at the second try',
  'mended by a force push',
  'mended in a merge',
  'mended in a squash that touches everything',
  'two causes mended by one commit',
  'mended, without a green build before',
  'mended, but the clocks disagree',
  'the test is skipped',
  'an assertion is removed',
  'the test is removed',
  'run again',
  'passes with the next commit',
] as const;
export type Way = (typeof WAYS)[number];

/** A red branch that became green. Its builds were really run, and its truth is known. */
export interface FixedHistory {
  readonly name: string;
  readonly way: Way;
  readonly fault: Fault;
  /** Another fault that the same commit fixes. */
  readonly second: Fault | null;
  readonly folder: string;
  /** The commit before the fault, which passes. */
  readonly base: string;
  /** The failed runs, oldest first. */
  readonly reds: readonly Run[];
  readonly green: Run;
}

/** The ways in which lasting faults are fixed. Each fault gets some of them in turn. */
const LASTING: readonly Way[] = [
  'mended by one commit',
  'mended beside other changes',
  'taken back',
  'mended at the second try',
  'mended by a force push',
  'mended in a merge',
  'mended in a squash that touches everything',
  'mended, without a green build before',
];
const SILENCING: readonly Way[] = ['the test is skipped', 'an assertion is removed', 'the test is removed'];
/** The number of ways for each lasting fault, and of histories for each transient one. */
const [OF_EACH, AGAIN] = [4, 3];

/** Creates the histories of a program in a new repository below a folder. They are the same each time. */
export function makeFixedHistories(parent: string, program: Program, row: number): FixedHistory[] {
  const folder = mkdtempSync(join(parent, 'repository-'));
  const repository = createRepository(folder);
  for (const one of program.founding.concat(program.harmless)) repository.commit(one);
  const base = repository.commit({ author: 'Ada Brook', message: 'Set up the job', edits: setUp(program) });
  const shop: Shop = { folder, repository, program, base, runs: new Map() };
  const faults = listFaults(program, findCode(folder));
  expectRun(shop, base, {}, 'passed');
  return faults.flatMap((fault, column) =>
    chooseWays(fault, row + column).map((way, at) => make(shop, fault, way, at, faults)),
  );
}

interface Shop {
  readonly folder: string;
  readonly repository: ReturnType<typeof createRepository>;
  readonly program: Program;
  readonly base: string;
  /** The runs so far, by the files and the variables of the job. */
  readonly runs: Map<string, Run>;
}

function chooseWays(fault: Fault, turn: number): Way[] {
  if (fault.isTransient)
    return [...take(['run again'], AGAIN), ...take(['passes with the next commit'], AGAIN)];
  const ways = Array.from({ length: OF_EACH }, (_, at) => LASTING[(turn * OF_EACH + at) % LASTING.length]);
  const silenced = fault.test === null ? undefined : SILENCING[turn % SILENCING.length];
  const once: Way[] =
    fault.name === 'off-by-one' ? ['two causes mended by one commit', 'mended, but the clocks disagree'] : [];
  return [...ways, silenced, ...once].filter((way) => way !== undefined);
}

function take(ways: readonly Way[], count: number): Way[] {
  return ways.flatMap((way) => Array.from({ length: count }, () => way));
}

let branches = 0;

function make(shop: Shop, fault: Fault, way: Way, at: number, faults: readonly Fault[]): FixedHistory {
  const wrong = faults.find(({ name }) => name === 'wrong test');
  const second = way === 'two causes mended by one commit' && wrong !== undefined ? wrong : null;
  const branch = openBranch(shop, fault, way, [...fault.edits, ...(second?.edits ?? [])], wrong?.files[0]);
  const reds = [expectRun(shop, branch.broken, fault.environment, 'failed')];
  if (way === 'mended at the second try') {
    const tried = branch.commit('Try it', [branch.tool('try')]);
    reds.push(expectRun(shop, tried, fault.environment, 'failed'));
  }
  const green = expectRun(shop, turnGreen(shop, fault, way, branch, at), {}, 'passed');
  runGit(shop.folder, 'checkout', '--quiet', 'main');
  const name = `${shop.program.name}: ${fault.name}, ${way}`;
  return { name, way, fault, second, folder: shop.folder, base: shop.base, reds, green };
}

function runGit(folder: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
}

type Branch = ReturnType<typeof openBranch>;

/** Opens a branch with the fault. */
function openBranch(
  { folder, repository, base }: Shop,
  fault: Fault,
  way: Way,
  edits: readonly Edit[],
  wrongTest: string | undefined,
) {
  branches += 1;
  const number = branches;
  runGit(folder, 'checkout', '--quiet', '-b', `change-${number}`, base);
  const commit = (message: string, changes: readonly Edit[]) =>
    repository.commit({ author: 'Mia Berg', message, edits: changes });
  const note = (name: string) => create(`notes/${number}-${name}.md`, `Note ${name}.`);
  return {
    number,
    broken: commit('Change the program', edits.length === 0 ? [note('red')] : edits),
    commit,
    note,
    /** Creates a script that no job reads. */
    tool: (name: string) => create(`tools/${name}_${number}.sh`, 'echo tool'),
    /** Fixes the fault, or reverts its files. */
    mend: () => {
      if (fault.mend !== undefined && way !== 'taken back') {
        for (const one of fault.mend) applyEdit(folder, one);
        return;
      }
      const known = new Set(runGit(folder, 'ls-tree', '-r', '--name-only', base).split('\n'));
      for (const path of new Set(edits.map((one) => one.path))) {
        if (known.has(path)) runGit(folder, 'checkout', '--quiet', base, '--', path);
        else if (path === wrongTest) applyEdit(folder, correct(path));
        else rmSync(join(folder, path));
      }
    },
  };
}

/** Makes the branch pass, and returns the commit that passes. */
function turnGreen(shop: Shop, fault: Fault, way: Way, branch: Branch, at: number): string {
  const { commit, note, tool, broken } = branch;
  switch (way) {
    case 'run again':
      return broken;
    case 'passes with the next commit':
      return commit('Go on', [at % 2 === 0 ? note('green') : tool('next')]);
    case 'the test is skipped':
    case 'an assertion is removed':
    case 'the test is removed':
      return createSilentBuild(shop, fault, way, commit);
    case 'mended by a force push':
      branch.mend();
      runGit(shop.folder, 'reset', '--quiet', '--soft', shop.base);
      return commit('Change the program', [tool('kept')]);
    default:
      branch.mend();
      return commitFix(branch, MESSAGES[way]?.(branch));
  }
}

function commitFix(
  { commit }: Branch,
  [message, edits]: readonly [string, readonly Edit[]] = ['Mend it', []],
): string {
  return commit(message, edits);
}

/** The message of the fixing commit, and its other changes. */
const MESSAGES: Readonly<Partial<Record<Way, (branch: Branch) => readonly [string, readonly Edit[]]>>> = {
  'mended beside other changes': ({ note, tool }) => ['Mend it, and more', [note('beside'), tool('beside')]],
  'taken back': () => ['Revert "Change the program"', []],
  'mended in a merge': ({ number, note, tool }) => [
    `Merge branch 'main' into change-${number}`,
    [note('merged'), tool('main')],
  ],
  'mended in a squash that touches everything': () => [
    'Version 2 (#7)',
    Array.from({ length: 25 }, (_, nth) => create(`src/parts/part-${nth}.dat`, `part ${nth}`)),
  ],
};

/** Corrects the number that the wrong test expects. */
function correct(path: string): Edit {
  return replace(path, '13', '12');
}

/** Makes the failing test pass without fixing what it found. */
function createSilentBuild(
  { folder, program }: Shop,
  fault: Fault,
  way: Way,
  commit: (message: string, edits: readonly Edit[]) => string,
): string {
  const isPython = program.language === 'Python';
  const files = execFileSync('git', ['ls-files', isPython ? 'tests' : 'test'], {
    cwd: folder,
    encoding: 'utf8',
  })
    .trim()
    .split('\n');
  const tests = files.filter((path) => /test_\w+\.py$|\.test\.js$/.test(path) && !path.includes('worker'));
  const own = fault.test !== null && tests.includes(fault.test) ? [fault.test] : tests;
  for (const path of own) {
    if (way === 'the test is removed') rmSync(join(folder, path));
    else {
      const before = readFileSync(join(folder, path), 'utf8');
      const after =
        way === 'the test is skipped' ? skipAll(before, isPython) : dropAssertions(before, isPython);
      applyEdit(folder, { path, from: before, to: after });
    }
  }
  return commit('Make the build green', []);
}

function skipAll(text: string, isPython: boolean): string {
  if (!isPython) return text.replaceAll(/^(\s*)(test|it)\(/gm, '$1$2.skip(');
  return `import pytest\n\n${text.replaceAll(/^def test_/gm, "@pytest.mark.skip(reason='later')\ndef test_")}`;
}

function dropAssertions(text: string, isPython: boolean): string {
  const lines = text.split('\n');
  if (isPython)
    return lines.map((line) => line.replace(/^(\s+)(?:assert|with pytest\.raises).*$/, '$1pass')).join('\n');
  // If an assertion has several lines, all of them are removed.
  return text.replaceAll(/^[ \t]+assert[\s\S]*?;\n/gm, '');
}

function findCode(folder: string): string {
  const files = execFileSync('git', ['ls-files'], { cwd: folder, encoding: 'utf8' }).trim().split('\n');
  const isCode = (path: string) =>
    /^(?:src|lib)\/(?!worker)[\w-]+\.js$|^(?!scripts|tests|worker|.*test|.*__init__)[\w/]+\.py$/.test(path);
  const found = files.find(isCode);
  if (found === undefined) throw new Error(`no code in ${files.join(', ')}`);
  return found;
}

/** Folders that no job reads. */
const UNREAD = /\t(?:notes|tools|src\/parts)\//;

/**
 * Runs the job at a commit and checks how it ends. The same files with the same variables are run only once.
 */
function expectRun(
  { folder, program, runs }: Shop,
  commit: string,
  environment: Readonly<Record<string, string>>,
  status: Run['status'],
): Run {
  const files = execFileSync('git', ['ls-tree', '-r', commit], { cwd: folder, encoding: 'utf8' }).split('\n');
  const key = JSON.stringify([files.filter((line) => !UNREAD.test(line)), environment]);
  const run = runs.get(key) ?? runJob(folder, program, commit, environment);
  runs.set(key, run);
  if (run.status !== status)
    throw new Error(`${program.name} at ${commit} should have ${status}:\n${run.log}`);
  return { ...run, commit };
}
