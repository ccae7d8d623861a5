import { z } from 'zod';
import type { Finding } from '../domain/evidence.ts';
import type { FailingTest } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { findMax } from '../lib/collections.ts';
import { showReadableLine } from '../log/reports/passages.ts';
import { parseReport } from '../log/reports/report.ts';
import type { ArchivedSource, BuildArchive } from '../ports/build-archive.ts';
import { chooseSource, findWindowAround, type LogLines, listWindowPieces } from './findings.ts';
import { withOwnLines } from './own-lines.ts';
import { ANY_CATEGORY, defineTool, type Tool } from './tool.ts';

const CONTEXT = 30;

const BuildLogParameters = z.strictObject({
  source: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('Name of the log; by default the one in which the build failed'),
  line: z
    .int()
    .min(1)
    .optional()
    .describe('The line of interest, 1-based; by default the end of the failing step'),
  context: z.int().min(0).max(100).default(CONTEXT).describe('Lines on either side'),
});

/** Creates the tool that shows the build log around a line. */
export function readBuildLog(archive: BuildArchive): Tool {
  return defineTool({
    name: 'read_build_log',
    question: 'What does the build log say around this line, or at the end of the failing step?',
    serves: { INFRA_ERROR: 4 },
    investigator: 'history',
    asks: 'log',
    costClass: 'low',
    usualLatencyMs: 100,
    provider: `build-archive:${archive.driver}`,
    parameters: BuildLogParameters,
    alternative: { tool: 'read_failure_history', args: () => ({}) },
    argumentsFrom({ subject: { excerpts, exits } }) {
      const [excerpt] = [...excerpts].sort((left, right) => right.weight - left.weight);
      const exit = exits.at(-1);
      if (exit !== undefined) return { source: exit.source, line: exit.line, context: 40 };
      return excerpt === undefined ? {} : { source: excerpt.source, line: excerpt.lineStart, context: 40 };
    },
    async run({ source: named, line, context }, { subject }) {
      const source = await chooseSource(archive, subject, named);
      if (source === null) return [];
      const focus = Math.min(
        line ?? findInformativeLine(subject, source.name) ?? source.lines,
        Math.max(source.lines, 1),
      );
      const window = await withOwnLines(archive, subject).lines(
        subject.build.id,
        source.name,
        Math.max(1, focus - context),
        focus + context,
      );
      const finding = window === null ? null : findWindowAround(source.name, source.name, window, focus);
      return finding === null ? [] : [finding];
    },
  });
}

/**
 * Returns the last line of the failed step, or else the line of the exit code, or else the end of the first
 * excerpt.
 */
function findInformativeLine(subject: TriageSubject, source: string): number | undefined {
  const section = subject.failedSections.find((item) => item.source === source)?.lineEnd;
  const exit = subject.exits.find((item) => item.source === source)?.line;
  return section ?? exit ?? subject.excerpts.find((item) => item.source === source)?.lineEnd;
}

/** The number of lines shown after the exit mark, because a build prints more as it ends. */
const AFTER_EXIT = 10;

const ConsoleParameters = z.strictObject({
  source: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('Name of the log; by default the one in which the build failed'),
  lines: z.int().min(1).max(200).default(60).describe('How many lines'),
  from: z
    .enum(['exit', 'tail'])
    .default('exit')
    .describe('Up to where the process ended, or up to the end of the log'),
});

/** Creates the tool that shows the last output before the process ended. */
export function readConsoleOutput(archive: BuildArchive): Tool {
  return defineTool({
    name: 'read_console_output',
    question: 'What was printed last, before the process ended?',
    serves: { INFRA_ERROR: 5, CONFIG_ERROR: 3, DEPENDENCY_ERROR: 5 },
    investigator: 'history',
    asks: 'log',
    costClass: 'low',
    usualLatencyMs: 100,
    provider: `build-archive:${archive.driver}`,
    parameters: ConsoleParameters,
    argumentsFrom({ subject: { excerpts, sources } }) {
      const source = excerpts[0]?.source ?? sources[0]?.name;
      return source === undefined ? { lines: 80 } : { source, lines: 80 };
    },
    async run({ source: named, lines, from }, { subject }) {
      const source = await chooseSource(archive, subject, named);
      if (source === null) return [];
      const exit =
        from === 'exit' ? subject.exits.find((item) => item.source === source.name)?.line : undefined;
      const last = Math.min(exit === undefined ? source.lines : exit + AFTER_EXIT, source.lines);
      const first = Math.max(findStart(subject, source.name, exit ?? last), last - lines + 1);
      const window = await withOwnLines(archive, subject).lines(subject.build.id, source.name, first, last);
      const title = exit === undefined ? `End of ${source.name}` : `${source.name} where the process ended`;
      const finding = window === null ? null : findWindowAround(source.name, title, window, exit ?? last);
      return finding === null ? [] : [finding];
    },
  });
}

/**
 * Returns the first line of the innermost failed step in which a process ended, or the first line of the
 * log. The line of an exit may be the one after its step.
 */
function findStart({ failedSections }: TriageSubject, source: string, exit: number): number {
  const around = failedSections.filter(
    (section) => section.source === source && section.lineStart <= exit && exit <= section.lineEnd + 1,
  );
  return findMax(
    around.map(({ lineStart }) => lineStart),
    1,
  );
}

const MAX_LINES_VIEW_LOG = 200;

const ViewLogParameters = z
  .strictObject({
    source: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Name of the log, report or artifact; by default the log in which the build failed'),
    from: z.int().min(1).describe('First line, 1-based'),
    to: z.int().min(1).describe('Last line, inclusive; at most 200 lines'),
  })
  .refine(({ from, to }) => to >= from && to - from < MAX_LINES_VIEW_LOG, {
    error: `from must not be after to, and the limit is ${MAX_LINES_VIEW_LOG} lines`,
  });

/** Creates the tool that shows the requested lines of a log. */
export function createViewLog(archive: BuildArchive): Tool {
  return defineTool({
    name: 'view_log',
    question: 'What stands on these lines of the log?',
    serves: ANY_CATEGORY,
    investigator: 'history',
    asks: 'log',
    costClass: 'low',
    usualLatencyMs: 100,
    provider: `build-archive:${archive.driver}`,
    parameters: ViewLogParameters,
    async run({ source: named, from, to }, { subject }) {
      const source = await chooseSource(archive, subject, named);
      if (source === null || from > source.lines) return [];
      const window = await withOwnLines(archive, subject).lines(
        subject.build.id,
        source.name,
        from,
        Math.min(to, source.lines),
      );
      return window === null ? [] : listWindowPieces(source.name, source.name, toReadable(source, window));
    },
  });
}

/** Decodes entities and escapes in the lines of a report, because they are read and quoted decoded. */
function toReadable({ kind }: ArchivedSource, window: LogLines): LogLines {
  return kind === 'report' ? { ...window, lines: window.lines.map(showReadableLine) } : window;
}

const MAX_LINES_ARTIFACT = 200;
const MAX_LISTED = 60;
/** The maximum number of failed cases of a report that are shown. */
const MAX_CASES = 10;
/** The maximum size in bytes of a report that is read for its cases. */
const MAX_REPORT_BYTES = 64 * 1024 * 1024;

const ArtifactParameters = z
  .strictObject({
    source: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Name of the artifact, report or log; without it all are listed'),
    from: z
      .int()
      .min(1)
      .optional()
      .describe(
        'First line, 1-based; without from and to: the failing cases of a report, else the beginning',
      ),
    to: z.int().min(1).optional().describe('Last line, inclusive; at most 200 lines'),
  })
  .refine(
    ({ from = 1, to = from + MAX_LINES_ARTIFACT - 1 }) => to >= from && to - from < MAX_LINES_ARTIFACT,
    {
      error: `from must not be after to, and the limit is ${MAX_LINES_ARTIFACT} lines`,
    },
  )
  .refine(({ source, from, to }) => source !== undefined || (from === undefined && to === undefined), {
    error: 'from and to need a source',
  });

/**
 * Creates the tool that reads the build's files. Without a name it lists the files with content type, grade,
 * the reason for it, and how each was
 * read. With a name it returns the failing cases of a report, or else a window of at most 200 lines.
 */
export function readArtifact(archive: BuildArchive): Tool {
  return defineTool({
    name: 'read_artifact',
    question: 'Which logs, reports and artifacts did the build leave, and what does one of them say?',
    serves: ANY_CATEGORY,
    investigator: 'history',
    asks: 'log',
    costClass: 'low',
    usualLatencyMs: 100,
    provider: `build-archive:${archive.driver}`,
    parameters: ArtifactParameters,
    findUnavailableReason: async ({ build }) =>
      (await archive.list(build.id)).length < 2
        ? 'The build has no file besides its log; use view_log and grep_log to read that.'
        : null,
    async run({ source: named, from, to }, { subject }) {
      if (named === undefined) return listSources(await archive.list(subject.build.id), subject);
      const source = await chooseSource(archive, subject, named);
      if (source === null) return [];
      if (source.bytes === 0)
        return [{ title: source.name, text: source.notes.join('\n') || 'It is empty.', source: source.name }];
      if (from === undefined && to === undefined && source.kind === 'report')
        return await listCases(archive, subject, source);
      const first = from ?? Math.max(1, (to ?? MAX_LINES_ARTIFACT) - MAX_LINES_ARTIFACT + 1);
      if (first > source.lines) return [];
      const window = await withOwnLines(archive, subject).lines(
        subject.build.id,
        source.name,
        first,
        Math.min(to ?? first + MAX_LINES_ARTIFACT - 1, source.lines),
      );
      return window === null ? [] : listWindowPieces(source.name, source.name, toReadable(source, window));
    },
  });
}

function listSources(sources: readonly ArchivedSource[], subject: TriageSubject): Finding[] {
  if (sources.length === 0) return [];
  const described = sources.slice(0, MAX_LISTED).map((source) => describeSource(source, subject));
  const more = sources.length > described.length ? [`and ${sources.length - described.length} more`] : [];
  return [
    {
      title: `${sources.length} files of the build`,
      text: [...described, ...more].join('\n').slice(0, 4_000),
      source: 'artifacts',
    },
  ];
}

function describeSource(
  { name, kind, lines, bytes, notes }: ArchivedSource,
  { survey }: TriageSubject,
): string {
  const seen = survey?.files.find((file) => file.name === name);
  const size = bytes === 0 ? (notes[0] ?? 'empty') : `${lines} lines, ${bytes} bytes`;
  if (seen === undefined) return `${name}: ${kind}, ${size}`;
  const read = seen.read === null ? 'not read' : 'read';
  return `${name}: ${seen.what}, ${size}, ${seen.grade} (${seen.reason}), ${read}`;
}

/** Returns the failed cases with their messages. For a report without any, returns a finding that says so. */
async function listCases(
  archive: BuildArchive,
  subject: TriageSubject,
  source: ArchivedSource,
): Promise<Finding[]> {
  const text = source.bytes > MAX_REPORT_BYTES ? null : await archive.read(subject.build.id, source.name);
  if (text === null) return [];
  const { failingTests, testResults, diagnostics } = parseReport(source.name, text);
  const title = `${source.name}: ${failingTests.length} of ${testResults.length} tests failed`;
  const ownTests = failingTests.filter((test) => isOwnTest(test, subject));
  const cases = ownTests.slice(0, MAX_CASES).map((test) => toFinding(source.name, test));
  if (cases.length > 0) return cases;
  const described = diagnostics
    .slice(0, MAX_CASES)
    .map(({ file, line, message }) => `${file ?? ''}:${line ?? ''} ${message}`);
  const isOther = failingTests.length > 0;
  const nothing = isOther
    ? 'Its failed tests belong to other failures of this build.'
    : 'No test case failed.';
  return [{ title, text: described.join('\n') || nothing, source: source.name }];
}

/** Checks whether a failed test is one of this failure's. A build with one cause has no others. */
function isOwnTest({ name, suite }: FailingTest, { failures, foreign }: TriageSubject): boolean {
  if (foreign === undefined) return true;
  return failures.some(({ test }) => test?.name === name && test.suite === suite);
}

function toFinding(source: string, test: FailingTest): Finding {
  const name = test.suite === null ? test.name : `${test.suite} › ${test.name}`;
  const values =
    test.expected === null || test.actual === null
      ? []
      : [`expected: ${test.expected}`, `actual: ${test.actual}`];
  const place = test.file === null ? [] : [`at ${test.file}${test.line === null ? '' : `:${test.line}`}`];
  return {
    title: name,
    text: [test.message ?? 'It failed without a message.', ...values, ...place].join('\n'),
    source,
  };
}
