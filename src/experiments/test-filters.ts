import { basename, relative } from 'node:path';
import { z } from 'zod';
import type { FailingTest } from '../domain/failure.ts';
import { escapePattern, parseJson } from '../lib/text.ts';
import { addSeparator, findNamedTests, insert, MAX_NAME, type NamedTest } from './test-arguments.ts';

export type Tests = readonly FailingTest[];

export interface Filter {
  /** The names of the program, or of the module after `-m`, by which the command is recognized. */
  readonly programs: readonly string[];
  /** The names that the log reader gives to frameworks of this tool. */
  readonly frameworks: readonly string[];
  /** Returns arguments that select exactly these tests. Returns null if the names are not sufficient. */
  readonly args: (tests: Tests, argv: readonly string[]) => readonly string[] | null;
  /** True if the arguments follow the subcommand directly, as in `go test`. Otherwise, they come last. */
  readonly before?: boolean;
  /** A line of the output that proves that a selected test ran and passed. */
  readonly ran: RegExp;
  /**
   * The way to list the tests with the tool. Absent if the tool cannot list them in the order in which it
   * runs them.
   */
  readonly list?: Listing;
  /** The options that are removed, because the output with them does not name the tests that ran. */
  readonly quiet?: readonly string[];
  /** The options with which the tool rewrites its snapshots. */
  readonly update?: readonly string[];
}

interface Listing {
  readonly argv: (argv: readonly string[]) => readonly string[];
  readonly read: (output: string, cwd: string) => readonly NamedTest[];
}

/**
 * The filters of each tool. They take the name of a test in the form that the tool expects. Filters by
 * pattern get the name escaped and anchored.
 */
export const FILTERS: readonly Filter[] = [
  {
    programs: ['pytest', 'py.test'],
    frameworks: ['pytest'],
    args: (tests) =>
      nameEach(tests, ({ file, suite, name }) =>
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
    args: (tests) => [...listFiles(tests), '-t', buildAnyPattern(tests.map(joinSuiteNames))],
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
    args: (tests) => [...listFiles(tests), '-t', buildAnyPattern(tests.map(joinSuiteNames))],
    ran: /\b[1-9]\d* passed\b/,
    update: ['-u'],
  },
  {
    programs: ['mocha'],
    frameworks: ['mocha'],
    args: (tests) => ['--grep', buildAnyPattern(tests.map(joinSuiteNames))],
    ran: /\b[1-9]\d* passing\b/,
  },
  {
    programs: ['playwright'],
    frameworks: ['playwright'],
    args: (tests) => [...listFiles(tests), '--grep', tests.map(({ name }) => escapePattern(name)).join('|')],
    ran: /\b[1-9]\d* passed\b/,
    update: ['--update-snapshots'],
  },
  {
    programs: ['node'],
    frameworks: ['node-test'],
    // A file that crashes is reported as a test with its name, which no pattern selects.
    args: (tests) =>
      nameEach(tests, ({ name }) =>
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
      `^(${tests.map(({ name }) => escapePattern(name.split('/')[0] ?? name)).join('|')})$`,
    ],
    before: true,
    ran: /--- (?:PASS|FAIL): /,
    list: {
      argv: (argv) => insert(argv, ['-list', '.']),
      read: (output) =>
        findNamedTests(output, /^((?:Test|Example|Fuzz)\S*)$/gm, ([, name = '']) => ({ name })),
    },
  },
  {
    programs: ['cargo'],
    frameworks: ['cargo'],
    args: (tests, argv) => [...addSeparator(argv), '--exact', ...tests.map(({ name }) => name)],
    ran: /\b[1-9]\d* passed\b/,
    list: {
      argv: (argv) => [...argv, ...addSeparator(argv), '--list'],
      read: (output) => findNamedTests(output, /^(\S.*): test$/gm, ([, name = '']) => ({ name })),
    },
  },
  {
    programs: ['mvn', 'mvnw'],
    frameworks: ['maven'],
    args: (tests) => {
      const names = nameEach(tests, ({ suite, name }) => (suite === null ? null : `${suite}#${name}`));
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
    args: (tests) => ['--filter', `/(${tests.map(({ name }) => escapePattern(name)).join('|')})$/`],
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
      nameEach(tests, ({ suite, name }) =>
        isDotted(`${suite}.${name}`) && suite?.startsWith('unittest.') === false ? `${suite}.${name}` : null,
      ),
    ran: /^Ran [1-9]/m,
  },
];

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
 * Reads tests, but not suites, from the Test Anything Protocol as `node --test` writes it. The type is three
 * lines below the result.
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
  const listed = VitestList.safeParse(parseJson(text));
  return (listed.data ?? []).map(({ name: fullName, file }) => {
    const names = fullName.split(' > ');
    const name = names.pop() ?? '';
    return { name, suite: names.length === 0 ? null : names.join(' > '), file: relative(cwd, file) };
  });
}

function isDotted(name: string): boolean {
  return /^\w+(?:\.\w+)*$/.test(name);
}

export function isPlain({ name, suite, file }: FailingTest): boolean {
  return [name, suite ?? '', file ?? ''].every(
    (text) => text.length <= MAX_NAME && !text.startsWith('-') && !/\p{Cc}/u.test(text),
  );
}

/** Joins the names of nested suites as Jest and similar tools do. */
export function joinSuiteNames({ suite, name }: FailingTest): string {
  return suite === null ? name : `${suite.replaceAll(/ [>›] /g, ' ')} ${name}`;
}

function listFiles(tests: Tests): string[] {
  return [...new Set(tests.flatMap(({ file }) => (file === null ? [] : [file])))];
}

function buildAnyPattern(names: readonly string[]): string {
  return names.length === 1
    ? `^${escapePattern(names[0] ?? '')}$`
    : `^(?:${names.map(escapePattern).join('|')})$`;
}

function nameEach(tests: Tests, nameOf: (test: FailingTest) => string | null): string[] | null {
  const names = tests.map(nameOf);
  return names.every((name) => name !== null) ? names : null;
}
