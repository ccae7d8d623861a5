import { basename } from 'node:path';
import type { FailingTest } from '../domain/failure.ts';

/** More tests than this are run as the whole command: a filter of hundreds of names saves nothing. */
const MAX_TESTS = 20;
const MAX_NAME = 500;

type Tests = readonly FailingTest[];

interface Filter {
  /** Names of the program, or of the module after `-m`, by which the command is known. */
  readonly programs: readonly string[];
  /** What the reader calls the tests of this tool. */
  readonly frameworks: readonly string[];
  /** Arguments that select exactly these tests; null where the names do not suffice. */
  readonly args: (tests: Tests) => readonly string[] | null;
  /** Where the arguments stand: behind everything, or before the first argument that is no option. */
  readonly before?: boolean;
  /** A line of the output that proves that a selected test ran and passed. */
  readonly ran: RegExp;
}

/** A test's name as each tool's own filter takes it. Filters by pattern get the name escaped and anchored. */
const FILTERS: readonly Filter[] = [
  {
    programs: ['pytest', 'py.test'],
    frameworks: ['pytest'],
    args: (tests) => each(tests, ({ file, suite, name }) => (file === null ? null : [file, ...(suite?.split('.') ?? []), name].join('::'))),
    ran: /\b[1-9]\d* passed\b/,
  },
  {
    programs: ['jest', 'vitest'],
    frameworks: ['jest', 'vitest'],
    args: (tests) => [...filesOf(tests), '-t', anyOf(tests.map(fullName))],
    ran: /\b[1-9]\d* passed\b/,
  },
  { programs: ['mocha'], frameworks: ['mocha'], args: (tests) => ['--grep', anyOf(tests.map(fullName))], ran: /\b[1-9]\d* passing\b/ },
  {
    programs: ['playwright'],
    frameworks: ['playwright'],
    args: (tests) => [...filesOf(tests), '--grep', tests.map(({ name }) => escaped(name)).join('|')],
    ran: /\b[1-9]\d* passed\b/,
  },
  {
    programs: ['node'],
    frameworks: ['node', 'tap', 'tests'],
    args: (tests) => tests.map(({ name }) => `--test-name-pattern=${anyOf([name])}`),
    before: true,
    ran: /^(?:# |ℹ )pass [1-9]/m,
  },
  {
    programs: ['go'],
    frameworks: ['go'],
    args: (tests) => ['-count=1', '-v', '-run', `^(${tests.map(({ name }) => escaped(name.split('/')[0] ?? name)).join('|')})$`],
    before: true,
    ran: /--- (?:PASS|FAIL): /,
  },
  {
    programs: ['cargo'],
    frameworks: ['cargo'],
    args: (tests) => ['--', '--exact', ...tests.map(({ name }) => name)],
    ran: /\b[1-9]\d* passed\b/,
  },
  {
    programs: ['mvn', 'mvnw'],
    frameworks: ['maven'],
    args: (tests) => joined(tests, '-Dtest=', ',', ({ suite, name }) => (suite === null ? null : `${suite}#${name}`)),
    ran: /Tests run: [1-9]/,
  },
  {
    programs: ['gradle', 'gradlew'],
    frameworks: ['gradle', 'maven'],
    args: (tests) => tests.flatMap(({ suite, name }) => ['--tests', suite === null ? name : `${suite}.${name}`]),
    ran: /BUILD (?:SUCCESSFUL|FAILED)/,
  },
  { programs: ['rspec'], frameworks: ['rspec'], args: (tests) => tests.flatMap(({ name }) => ['-e', name]), ran: /\b[1-9]\d* examples?\b/ },
  {
    programs: ['phpunit'],
    frameworks: ['phpunit'],
    args: (tests) => ['--filter', `/(${tests.map(({ name }) => escaped(name)).join('|')})$/`],
    ran: /\bOK \([1-9]|Tests: [1-9]/,
  },
  { programs: ['ctest'], frameworks: ['ctest'], args: (tests) => ['-R', anyOf(tests.map(({ name }) => name))], ran: /\b[1-9]\d* tests? / },
  {
    programs: ['unittest'],
    frameworks: ['unittest'],
    args: (tests) => each(tests, ({ suite, name }) => (suite === null || suite.startsWith('unittest.') ? null : `${suite}.${name}`)),
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
 * The same command for these tests only, by its tool's own filter; null where the tool is not known, the names do not suffice, or one of them
 * could be read as an option. The result is an argument vector: no shell reads it.
 */
export function narrow(argv: readonly string[], tests: Tests): Narrowed | null {
  if (tests.length === 0 || tests.length > MAX_TESTS || !tests.every(isPlain)) return null;
  const names = [...argv.slice(0, 4).map((word) => basename(word)), argv[argv.indexOf('-m') + 1] ?? ''];
  const isScript = SCRIPTS.includes(names[0] ?? '');
  const filter = isScript
    ? FILTERS.find(({ frameworks }) => frameworks.includes(tests[0]?.framework ?? ''))
    : FILTERS.find(({ programs }) => programs.some((program) => names.includes(program)));
  const args = filter?.args(tests) ?? null;
  if (filter === undefined || args === null || args.length === 0) return null;
  if (isScript) return { argv: [...argv, ...(argv.includes('--') ? [] : ['--']), ...args], ran: filter.ran };
  if (filter.before !== true) return { argv: [...argv, ...args], ran: filter.ran };
  // Behind the words that say what to do: `go test`, `node --test`.
  return { argv: [...argv.slice(0, 2), ...args, ...argv.slice(2)], ran: filter.ran };
}

function isPlain({ name, suite, file }: FailingTest): boolean {
  return [name, suite ?? '', file ?? ''].every((text) => text.length <= MAX_NAME && !text.startsWith('-') && !/\p{Cc}/u.test(text));
}

/** As Jest and its kin join the names of nested suites. */
function fullName({ suite, name }: FailingTest): string {
  return suite === null ? name : `${suite.replaceAll(/ [>›] /g, ' ')} ${name}`;
}

function filesOf(tests: Tests): string[] {
  return [...new Set(tests.flatMap(({ file }) => (file === null || file.startsWith('/') ? [] : [file])))];
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function anyOf(names: readonly string[]): string {
  return names.length === 1 ? `^${escaped(names[0] ?? '')}$` : `^(?:${names.map(escaped).join('|')})$`;
}

function each(tests: Tests, nameOf: (test: FailingTest) => string | null): string[] | null {
  const names = tests.map(nameOf);
  return names.every((name) => name !== null) ? names : null;
}

function joined(tests: Tests, prefix: string, by: string, nameOf: (test: FailingTest) => string | null): string[] | null {
  const names = each(tests, nameOf);
  return names === null ? null : [`${prefix}${names.join(by)}`];
}
