import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { TestResult } from '../domain/build.ts';
import type { FailingTest } from '../domain/failure.ts';
import { append } from '../lib/collections.ts';
import { parseReport } from '../log/reports/report.ts';
import type { Bench } from './bench.ts';
import { disableCaches } from './caches.ts';
import { findFramework, withArguments } from './narrow.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

/**
 * The results of one run in the tool's own report: each test and its outcome. Null if there is no such
 * report.
 */
export type Seen = readonly TestResult[] | null;

interface Reporting {
  /** The name that the log reader gives to the framework of this tool. */
  readonly framework: string;
  /** Returns arguments with which the tool also writes a report to this file. */
  readonly args?: (file: string) => readonly string[];
  /**
   * Returns variables that do the same, either in addition to the arguments or if a script starts the tool.
   */
  readonly env?: (file: string, env: NodeJS.ProcessEnv) => NodeJS.ProcessEnv;
  /** The names of folders in which the tool writes reports by default. */
  readonly folders?: RegExp;
  /** Reads the report that the tool prints. */
  readonly read?: (output: string) => TestResult[];
}

const JVM_FOLDERS = /^(?:surefire-reports|failsafe-reports|test-results)$/;

const REPORTS: readonly Reporting[] = [
  {
    framework: 'pytest',
    env: (file, { PYTEST_ADDOPTS = '' }) => ({ PYTEST_ADDOPTS: `${PYTEST_ADDOPTS} --junit-xml='${file}'` }),
  },
  {
    framework: 'vitest',
    args: (file) => ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`],
  },
  { framework: 'jest', args: (file) => ['--json', `--outputFile=${file}`] },
  { framework: 'mocha', args: (file) => ['--reporter=json', `--reporter-option=output=${file}`] },
  {
    framework: 'playwright',
    args: () => ['--reporter=json'],
    env: (file) => ({ PLAYWRIGHT_JSON_OUTPUT_NAME: file, PLAYWRIGHT_JSON_OUTPUT_FILE: file }),
  },
  {
    framework: 'node-test',
    args: (file) => ['--test-reporter=junit', `--test-reporter-destination=${file}`],
  },
  // The tool writes its JSON to standard output.
  {
    framework: 'go',
    env: (_, env) => ({ GOFLAGS: `${disableCaches(env).GOFLAGS ?? ''} -json` }),
    read: readGo,
  },
  {
    framework: 'cargo',
    read: (output) => readLines(output, /^test (?<name>\S.*?) \.\.\. (?<how>ok|FAILED|ignored)\b/gm),
  },
  {
    framework: 'unittest',
    args: () => ['-v'],
    read: (output) =>
      readLines(
        output,
        /^(?<name>\w+) \((?<suite>[\w.]+)\)(?:\n.{0,500})? \.\.\. (?<how>ok|FAIL|ERROR|skipped)\b/gm,
      ),
  },
  { framework: 'maven', folders: JVM_FOLDERS },
  { framework: 'gradle', folders: JVM_FOLDERS },
  { framework: 'rspec', args: (file) => ['--format', 'progress', '--format', 'json', '--out', file] },
  { framework: 'phpunit', args: (file) => ['--log-junit', file] },
  { framework: 'ctest', args: (file) => ['--output-junit', file] },
];

const MAX_REPORT_BYTES = 32 * 1024 * 1024;
const MAX_FILES = 2_000;
const MAX_DEPTH = 12;

/**
 * Runs a command once more, so that its tool reports on each test: to a new file, in a new folder, or in its
 * own output format. `tests` are the tests that are known to fail. The report is null if the tool cannot
 * report, or wrote no report.
 */
export async function runWithReport(
  bench: Bench,
  {
    argv,
    cwd,
    env,
    tests,
  }: {
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
    readonly tests: readonly FailingTest[];
  },
): Promise<{ readonly exitCode: number | null; readonly seen: Seen }> {
  const known = findFramework(argv, tests);
  const framework = known ?? tests[0]?.framework;
  const reporting = REPORTS.find((other) => other.framework === framework);
  if (reporting === undefined || (known === null && reporting.args !== undefined))
    return { exitCode: null, seen: null };
  return await withTemporaryFolder('faultline-report-', async (folder) => {
    const file = join(folder, 'report');
    const startedAt = Date.now();
    const command = known === null ? argv : listReportingCommand(argv, tests, reporting.args?.(file) ?? []);
    const run = await bench.run(command, cwd, reporting.env?.(file, env));
    const { read, folders } = reporting;
    const files = folders === undefined ? [file] : await listReports(cwd, folders, startedAt);
    const seen =
      read === undefined
        ? (await Promise.all(files.map(readReport))).flat()
        : read(stripVTControlCharacters(run.output));
    return { exitCode: run.exitCode, seen: seen.length === 0 ? null : seen };
  });
}

function listReportingCommand(
  argv: readonly string[],
  tests: readonly FailingTest[],
  args: readonly string[],
): string[] {
  if (basename(argv[0] ?? '') !== 'node') return withArguments(argv, tests, args);
  // Node requires a destination for each reporter.
  const withoutReporters = argv.filter((word) => !/^--test-reporter(?:-destination)?(?:=|$)/.test(word));
  return [withoutReporters[0] ?? '', ...args, ...withoutReporters.slice(1)];
}

/** Reads a report. Returns an empty list if it is not a file, is too large, or is not a report. */
async function readReport(file: string): Promise<readonly TestResult[]> {
  const stat = await lstat(file).catch(() => null);
  if (stat === null || !stat.isFile() || stat.size > MAX_REPORT_BYTES) return [];
  return parseReport('report', await readFile(file, 'utf8')).testResults;
}

/** Lists the reports that were written since the run began. Reports that a change contains are older. */
async function listReports(folder: string, folders: RegExp, since: number, depth = 0): Promise<string[]> {
  const entries = depth > MAX_DEPTH ? [] : await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !/^(?:\.git|node_modules)$/.test(entry.name))
      append(found, await listReports(path, folders, since, depth + 1));
    const isReport =
      entry.isFile() &&
      /^TEST-.*\.xml$/.test(entry.name) &&
      path.split('/').some((part) => folders.test(part));
    if (isReport && ((await lstat(path).catch(() => null))?.mtimeMs ?? 0) >= since) found.push(path);
    if (found.length >= MAX_FILES) break;
  }
  return found;
}

/**
 * Reads the events that Go prints. They are between other lines, possibly after the name of the script that
 * started Go.
 */
function readGo(output: string): TestResult[] {
  const events = output.split('\n').flatMap((line) => findEvent(line.trim()) ?? []);
  return events.length === 0 ? [] : [...parseReport('report', events.join('\n')).testResults];
}

/** Returns the event at the end of a line. Returns null if there is none. */
function findEvent(line: string): string | null {
  const at = line.search(/\{"(?:Time|Action|ImportPath)":/);
  return at === -1 || !line.endsWith('}') ? null : line.slice(at);
}

function readLines(output: string, pattern: RegExp): TestResult[] {
  const statuses: Readonly<Record<string, TestResult['status']>> = {
    ok: 'passed',
    FAILED: 'failed',
    FAIL: 'failed',
    ERROR: 'failed',
  };
  return [...output.matchAll(pattern)].map(({ groups }) => ({
    name: groups?.name ?? '',
    suite: groups?.suite ?? null,
    file: null,
    durationMs: null,
    status: statuses[groups?.how ?? ''] ?? 'skipped',
  }));
}

/**
 * Returns why two reports do not show that a change made the failing tests pass. Returns null if they do.
 * Each test that failed in the first report must have passed in the second. A file that could not be loaded
 * is reported as a test with its name; its tests represent it.
 */
export function explainUnseen(before: Seen, after: Seen, tests: readonly FailingTest[]): string | null {
  const failed = (before ?? []).filter(({ status }) => status === 'failed');
  if (failed.length === 0 && tests.length === 0) return null;
  if (failed.length === 0 || after === null)
    return 'no report of its tool showed that the failing tests ran and passed';
  for (const test of failed) {
    const same = after.filter((other) => other.name === test.name && other.suite === test.suite);
    if (same.length > 0 ? same.every(({ status }) => status === 'passed') : isLoadedBy(test, after)) continue;
    return `the report of its tool does not show that "${test.name}" ran and passed`;
  }
  return null;
}

function isLoadedBy({ name, suite }: TestResult, after: readonly TestResult[]): boolean {
  const isFileName = /[/.]|^test_|_test$/.test(name) && !/\s/.test(name);
  const file = suite === null || suite === '' ? name : `${suite}.${name}`;
  const related = after.filter((other) =>
    [other.suite, other.file].some((place) => place != null && isWithinAny(place, [name, file])),
  );
  return (
    isFileName &&
    related.length > 0 &&
    related.every(({ status }) => status !== 'failed') &&
    related.some(({ status }) => status === 'passed')
  );
}

function isWithinAny(place: string, names: readonly string[]): boolean {
  return names.some((name) => place === name || place.startsWith(`${name}.`) || place.endsWith(`/${name}`));
}
