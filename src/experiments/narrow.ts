import { basename, relative } from 'node:path';
import { z } from 'zod';
import type { FailingTest } from '../domain/failure.ts';
import { jsonIn } from '../lib/text.ts';
import { fileWithin, type WorkFolder } from './checkout-paths.ts';

/** More tests than this are run as the whole command: a filter of hundreds of names saves nothing. */
const MAX_TESTS = 20;
const MAX_NAME = 500;
/** Size limit of all arguments together, in bytes. Linux allows 128 KiB for one argument. */
const MAX_BYTES = 120_000;

type Tests = readonly FailingTest[];

interface Filter {
  /** Names of the program, or of the module after `-m`, by which the command is known. */
  readonly programs: readonly string[];
  /** Names that the log reader gives to frameworks of this tool. */
  readonly frameworks: readonly string[];
  /** Arguments that select exactly these tests; null where the names do not suffice. */
  readonly args: (tests: Tests, argv: readonly string[]) => readonly string[] | null;
  /**
   * True if the arguments come directly after the words that say what to do, such as `go test`. Otherwise,
   * they come last.
   */
  readonly before?: boolean;
  /** A line of the output that proves that a selected test ran and passed. */
  readonly ran: RegExp;
  /**
   * The way to list the tests with the tool. Absent if the tool cannot list them in the order in which it
   * runs them.
   */
  readonly list?: Listing;
  /** Options that are left out, since with them it does not say what it ran. */
  readonly quiet?: readonly string[];
  /** These options make the tool write its snapshots again. */
  readonly update?: readonly string[];
}

interface Listing {
  readonly argv: (argv: readonly string[]) => readonly string[];
  readonly read: (output: string, cwd: string) => readonly NamedTest[];
}

type NamedTest = Pick<FailingTest, 'name'> & Partial<FailingTest>;

/** A test's name as each tool's own filter takes it. Filters by pattern get the name escaped and anchored. */
const FILTERS: readonly Filter[] = [
  {
    programs: ['pytest', 'py.test'],
    frameworks: ['pytest'],
    args: (tests) =>
      each(tests, ({ file, suite, name }) =>
        file === null ? null : [file, ...(suite?.split('.') ?? []), name].join('::'),
      ),
    ran: /\b[1-9]\d* passed\b/,
    list: {
      argv: (argv) => [...argv, '--collect-only', '--verbosity=-1'],
      read: (output) => output.split('\n').flatMap(readPytestId),
    },
  },
  {
    programs: ['vitest'],
    frameworks: ['vitest'],
    args: (tests) => [...listFiles(tests), '-t', buildAnyPattern(tests.map(fullName))],
    ran: /\b[1-9]\d* passed\b/,
    list: {
      argv: (argv) =>
        [...argv.filter((word) => word !== 'run'), '--json'].flatMap((word) =>
          basename(word) === 'vitest' ? [word, 'list'] : word,
        ),
      read: readVitestList,
    },
    update: ['-u'],
  },
  {
    programs: ['jest'],
    frameworks: ['jest'],
    args: (tests) => [...listFiles(tests), '-t', buildAnyPattern(tests.map(fullName))],
    ran: /\b[1-9]\d* passed\b/,
    update: ['-u'],
  },
  {
    programs: ['mocha'],
    frameworks: ['mocha'],
    args: (tests) => ['--grep', buildAnyPattern(tests.map(fullName))],
    ran: /\b[1-9]\d* passing\b/,
  },
  {
    programs: ['playwright'],
    frameworks: ['playwright'],
    args: (tests) => [...listFiles(tests), '--grep', tests.map(({ name }) => escaped(name)).join('|')],
    ran: /\b[1-9]\d* passed\b/,
    update: ['--update-snapshots'],
  },
  {
    programs: ['node'],
    frameworks: ['node-test'],
    // A file that crashes is reported as a test of its name, which no pattern selects.
    args: (tests) =>
      each(tests, ({ name }) =>
        /^\S+\.[cm]?[jt]sx?$/.test(name) ? null : `--test-name-pattern=${buildAnyPattern([name])}`,
      ),
    before: true,
    ran: /^(?:# |ℹ )pass [1-9]/m,
    list: {
      argv: (argv) => insert(argv, ['--test-reporter=tap']),
      read: readTap,
    },
  },
  {
    programs: ['go'],
    frameworks: ['go'],
    args: (tests) => [
      '-count=1',
      '-v',
      '-run',
      `^(${tests.map(({ name }) => escaped(name.split('/')[0] ?? name)).join('|')})$`,
    ],
    before: true,
    ran: /--- (?:PASS|FAIL): /,
    list: {
      argv: (argv) => insert(argv, ['-list', '.']),
      read: (output) => matches(output, /^((?:Test|Example|Fuzz)\S*)$/gm, ([, name = '']) => ({ name })),
    },
  },
  {
    programs: ['cargo'],
    frameworks: ['cargo'],
    args: (tests, argv) => [...separator(argv), '--exact', ...tests.map(({ name }) => name)],
    ran: /\b[1-9]\d* passed\b/,
    list: {
      argv: (argv) => [...argv, ...separator(argv), '--list'],
      read: (output) => matches(output, /^(\S.*): test$/gm, ([, name = '']) => ({ name })),
    },
  },
  {
    programs: ['mvn', 'mvnw'],
    frameworks: ['maven'],
    args: (tests) => {
      const names = each(tests, ({ suite, name }) => (suite === null ? null : `${suite}#${name}`));
      return names === null ? null : [`-Dtest=${names.join(',')}`];
    },
    ran: /Tests run: [1-9]/,
    quiet: ['-q', '--quiet'],
  },
  {
    programs: ['gradle', 'gradlew'],
    frameworks: ['gradle', 'maven'],
    args: (tests) =>
      tests.flatMap(({ suite, name }) => ['--tests', suite === null ? name : `${suite}.${name}`]),
    ran: /BUILD (?:SUCCESSFUL|FAILED)/,
    quiet: ['-q', '--quiet'],
  },
  {
    programs: ['rspec'],
    frameworks: ['rspec'],
    args: (tests) => tests.flatMap(({ name }) => ['-e', name]),
    ran: /\b[1-9]\d* examples?\b/,
  },
  {
    programs: ['phpunit'],
    frameworks: ['phpunit'],
    args: (tests) => ['--filter', `/(${tests.map(({ name }) => escaped(name)).join('|')})$/`],
    ran: /\bOK \([1-9]|Tests: [1-9]/,
  },
  {
    programs: ['ctest'],
    frameworks: ['ctest'],
    args: (tests) => ['-R', buildAnyPattern(tests.map(({ name }) => name))],
    ran: /\b[1-9]\d* tests? /,
  },
  {
    programs: ['unittest'],
    frameworks: ['unittest'],
    args: (tests) =>
      each(tests, ({ suite, name }) =>
        isDotted(`${suite}.${name}`) && suite?.startsWith('unittest.') === false ? `${suite}.${name}` : null,
      ),
    ran: /^Ran [1-9]/m,
  },
];

/** Package managers whose scripts get the arguments behind `--`. */
const SCRIPTS = ['npm', 'pnpm', 'yarn', 'bun'];

export interface Narrowed {
  readonly argv: readonly string[];
  readonly ran: RegExp;
}

/**
 * Returns the command for these tests only, with the filter of its tool. Returns null if the tool is not
 * known, the names are not sufficient, or a name could be read as an option. Files outside the worktree of
 * `place` are left out. The result is an argument vector that no shell reads.
 */
export function narrow(
  argv: readonly string[],
  named: Tests,
  place: WorkFolder,
  most: number = MAX_TESTS,
): Narrowed | null {
  const tests = named.map((test) => ({
    ...test,
    file: test.file === null ? null : fileWithin(place, test.file),
  }));
  if (tests.length === 0 || tests.length > most || !tests.every(isPlain)) return null;
  const filter = filterFor(argv, tests);
  const args = filter?.args(tests, isScript(argv) ? [] : argv) ?? null;
  if (filter === undefined || args === null || args.length === 0) return null;
  if (args.reduce((bytes, arg) => bytes + Buffer.byteLength(arg), 0) > MAX_BYTES) return null;
  const loud = argv.filter((word) => filter.quiet?.includes(word) !== true);
  return { argv: extended(loud, args, filter), ran: filter.ran };
}

/**
 * Returns the command of these tests with options that also write their expected results again. Returns null
 * if its tool has no snapshots.
 */
export function updatingSnapshots(argv: readonly string[], tests: Tests): string[] | null {
  const filter = filterFor(argv, tests);
  return filter?.update === undefined ? null : extended(argv, filter.update, filter);
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
  return filter === undefined ? [...argv] : extended(argv, args, filter);
}

function isScript(argv: readonly string[]): boolean {
  return SCRIPTS.includes(basename(argv[0] ?? ''));
}

function filterFor(argv: readonly string[], tests: Tests): Filter | undefined {
  return isScript(argv)
    ? FILTERS.find(({ frameworks }) => frameworks.includes(tests[0]?.framework ?? ''))
    : findFilter(argv);
}

function extended(argv: readonly string[], args: readonly string[], { before }: Filter): string[] {
  if (isScript(argv)) return [...argv, ...separator(argv), ...args];
  return before === true ? insert(argv, args) : [...argv, ...args];
}

export interface TestList {
  /** Prints the names of the tests and runs none, or runs them all. */
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
export function isSameTest(one: FailingTest, other: FailingTest): boolean {
  if (one.name !== other.name || (one.file !== null && other.file !== null && one.file !== other.file))
    return false;
  return one.suite === null || other.suite === null || fullName(one) === fullName(other);
}

function findFilter(argv: readonly string[]): Filter | undefined {
  const names = programsIn(argv);
  return FILTERS.find(({ programs }) => programs.some((program) => names.includes(program)));
}

/**
 * Lists the names by which a command may be recognized: its first words without their folders, and the module
 * after `-m`.
 */
export function programsIn(argv: readonly string[]): string[] {
  return [...argv.slice(0, 4).map((word) => basename(word)), argv[argv.indexOf('-m') + 1] ?? ''];
}

/** Inserts arguments after the words that say what to do: `go test`, `node --test`. */
export function insert(argv: readonly string[], args: readonly string[]): string[] {
  return [...argv.slice(0, 2), ...args, ...argv.slice(2)];
}

/**
 * Returns `--` if the command does not have it yet. Arguments after it belong to the program that the command
 * starts.
 */
function separator(argv: readonly string[]): string[] {
  return argv.includes('--') ? [] : ['--'];
}

function matches(
  output: string,
  pattern: RegExp,
  testOf: (match: RegExpMatchArray) => NamedTest,
): NamedTest[] {
  return [...output.matchAll(pattern)].map(testOf);
}

/**
 * Reads a line that pytest prints when it collects tests, such as `tests/test_a.py::TestOf::test_b[1::2]`.
 */
function readPytestId(line: string): NamedTest[] {
  const at = line.indexOf('::');
  if (at <= 0 || /^\s|:/.test(line.slice(0, at))) return [];
  const rest = line.slice(at + 2);
  const parameters = rest.includes('[') ? rest.slice(rest.indexOf('[')) : '';
  const [name = '', ...suites] = rest
    .slice(0, rest.length - parameters.length)
    .split('::')
    .reverse();
  return name === ''
    ? []
    : [
        {
          file: line.slice(0, at),
          suite: suites.length === 0 ? null : suites.reverse().join('.'),
          name: name + parameters,
        },
      ];
}

/**
 * Reads tests, but not suites, from the Test Anything Protocol as `node --test` writes it: the type stands
 * three lines below the result.
 */
function readTap(output: string): NamedTest[] {
  const lines = output.split('\n').map((line) => line.trim());
  return lines.flatMap((line, at) => {
    const [, said = ''] = /^(?:not )?ok \d+ - (.+)$/.exec(line) ?? [];
    if (said === '' || lines[at + 1] !== '---' || lines[at + 3] !== "type: 'test'") return [];
    const [name = ''] = said.split(/ # (?:SKIP|TODO)/);
    return name === '' ? [] : [{ name: name.replaceAll(/\\([\\#])/g, '$1') }];
  });
}

const VitestList = z.array(z.object({ name: z.string(), file: z.string() }));

function readVitestList(output: string, cwd: string): NamedTest[] {
  const text = output.slice(output.search(/^\[/m), output.lastIndexOf(']') + 1);
  const listed = VitestList.safeParse(jsonIn(text));
  return (listed.data ?? []).map(({ name: fullName, file }) => {
    const names = fullName.split(' > ');
    const name = names.pop() ?? '';
    return { name, suite: names.length === 0 ? null : names.join(' > '), file: relative(cwd, file) };
  });
}

function isDotted(name: string): boolean {
  return /^\w+(?:\.\w+)*$/.test(name);
}

function isPlain({ name, suite, file }: FailingTest): boolean {
  return [name, suite ?? '', file ?? ''].every(
    (text) => text.length <= MAX_NAME && !text.startsWith('-') && !/\p{Cc}/u.test(text),
  );
}

/** Joins the names of nested suites as Jest and similar tools do. */
function fullName({ suite, name }: FailingTest): string {
  return suite === null ? name : `${suite.replaceAll(/ [>›] /g, ' ')} ${name}`;
}

function listFiles(tests: Tests): string[] {
  return [...new Set(tests.flatMap(({ file }) => (file === null ? [] : [file])))];
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function buildAnyPattern(names: readonly string[]): string {
  return names.length === 1 ? `^${escaped(names[0] ?? '')}$` : `^(?:${names.map(escaped).join('|')})$`;
}

function each(tests: Tests, nameOf: (test: FailingTest) => string | null): string[] | null {
  const names = tests.map(nameOf);
  return names.every((name) => name !== null) ? names : null;
}
