import { basename } from 'node:path';
import type { FailingTest } from '../domain/failure.ts';
import { toFileArgument, type WorkFolder } from './checkout-paths.ts';
import { addSeparator, insert } from './test-arguments.ts';
import { FILTERS, type Filter, isPlain, joinSuiteNames, type Tests } from './test-filters.ts';

/**
 * The maximum number of tests that are selected. For more, the whole command is run, because a filter of
 * hundreds of names saves nothing.
 */
const MAX_TESTS = 20;
/** The maximum size of all arguments together, in bytes. Linux allows 128 KiB for one argument. */
const MAX_BYTES = 120_000;

/** The package managers whose scripts get the arguments after `--`. */
const SCRIPTS = ['npm', 'pnpm', 'yarn', 'bun'];

export interface Narrowed {
  readonly argv: readonly string[];
  readonly ran: RegExp;
}

/**
 * Returns the command for these tests only, with the filter of its tool. Returns null if the tool is not
 * known, the names are not sufficient, or a name could be read as an option. Files outside the worktree of
 * `place` are left out. The result is an argument vector, which no shell reads.
 */
export function narrow(
  argv: readonly string[],
  named: Tests,
  place: WorkFolder,
  most: number = MAX_TESTS,
): Narrowed | null {
  const tests = named.map((test) => ({
    ...test,
    file: test.file === null ? null : toFileArgument(place, test.file),
  }));
  if (tests.length === 0 || tests.length > most || !tests.every(isPlain)) return null;
  const filter = filterFor(argv, tests);
  const args = filter?.args(tests, isScript(argv) ? [] : argv) ?? null;
  if (filter === undefined || args === null || args.length === 0) return null;
  if (args.reduce((bytes, arg) => bytes + Buffer.byteLength(arg), 0) > MAX_BYTES) return null;
  const loud = argv.filter((word) => filter.quiet?.includes(word) !== true);
  return { argv: extend(loud, args, filter), ran: filter.ran };
}

/**
 * Returns the command of these tests with options that also rewrite their expected results. Returns null if
 * its tool has no snapshots.
 */
export function updatingSnapshots(argv: readonly string[], tests: Tests): string[] | null {
  const filter = filterFor(argv, tests);
  return filter?.update === undefined ? null : extend(argv, filter.update, filter);
}

/**
 * Returns the name that the log reader gives to the framework of a command's tests. Returns null if the tool
 * is not known.
 */
export function findFramework(argv: readonly string[], tests: Tests): string | null {
  return filterFor(argv, tests)?.frameworks[0] ?? null;
}

/** Adds arguments for the tool to the command. */
export function withArguments(argv: readonly string[], tests: Tests, args: readonly string[]): string[] {
  const filter = filterFor(argv, tests);
  return filter === undefined ? [...argv] : extend(argv, args, filter);
}

function isScript(argv: readonly string[]): boolean {
  return SCRIPTS.includes(basename(argv[0] ?? ''));
}

function filterFor(argv: readonly string[], tests: Tests): Filter | undefined {
  return isScript(argv)
    ? FILTERS.find(({ frameworks }) => frameworks.includes(tests[0]?.framework ?? ''))
    : findFilter(argv);
}

function extend(argv: readonly string[], args: readonly string[], { before }: Filter): string[] {
  if (isScript(argv)) return [...argv, ...addSeparator(argv), ...args];
  return before === true ? insert(argv, args) : [...argv, ...args];
}

export interface TestList {
  /** A command that prints the names of the tests without running them, or runs all of them. */
  readonly argv: readonly string[];
  /** Reads the printed tests, in the order in which they run. */
  readonly read: (output: string, cwd: string) => FailingTest[];
}

/** Returns how the tests of a command are listed. Returns null if its tool cannot list them. */
export function testList(argv: readonly string[]): TestList | null {
  const filter = findFilter(argv);
  const { list } = filter ?? {};
  if (filter === undefined || list === undefined) return null;
  const unknown = {
    suite: null,
    file: null,
    line: null,
    message: null,
    expected: null,
    actual: null,
    at: null,
  };
  const framework = filter.frameworks[0] ?? '';
  return {
    argv: list.argv(argv),
    read: (output, cwd) => list.read(output, cwd).map((test) => ({ ...unknown, framework, ...test })),
  };
}

/** Checks whether both names refer to the same test. One of them may have less information. */
export function isSameTest(left: FailingTest, right: FailingTest): boolean {
  if (left.name !== right.name || (left.file !== null && right.file !== null && left.file !== right.file))
    return false;
  return left.suite === null || right.suite === null || joinSuiteNames(left) === joinSuiteNames(right);
}

function findFilter(argv: readonly string[]): Filter | undefined {
  const names = listPrograms(argv);
  return FILTERS.find(({ programs }) => programs.some((program) => names.includes(program)));
}

/**
 * Lists the names by which a command may be recognized: its first words without their folders, and the module
 * after `-m`.
 */
export function listPrograms(argv: readonly string[]): string[] {
  return [...argv.slice(0, 4).map((word) => basename(word)), argv[argv.indexOf('-m') + 1] ?? ''];
}
