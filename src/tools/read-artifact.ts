import { z } from 'zod';
import { CATEGORIES } from '../domain/category.ts';
import type { Finding } from '../domain/evidence.ts';
import type { FailingTest } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { parseReport } from '../log/reports/report.ts';
import type { ArchivedSource, BuildArchive } from '../ports/build-archive.ts';
import { chooseSource, windowPieces } from './log-window.ts';
import { defineTool, type Tool } from './tool.ts';

const MAX_LINES = 200;
const MAX_LISTED = 60;
/** Failing cases of a report that are shown. */
const MAX_CASES = 10;
/** Bytes of a report that is read for its cases. */
const MAX_REPORT_BYTES = 64 * 1024 * 1024;

const Parameters = z.strictObject({
  source: z.string().min(1).max(500).optional().describe('Name of the artifact, report or log; without it all are listed'),
  from: z.int().min(1).optional().describe('First line, 1-based; without from and to: the failing cases of a report, else the beginning'),
  to: z.int().min(1).optional().describe('Last line, inclusive; at most 200 lines'),
});

/**
 * What files did the build leave, and what does one of them say? Without a name: a list with what each is, its grade, why, and how it was
 * read. With one: its failing cases where it is a report, else a window of at most 200 lines.
 */
export function readArtifact(archive: BuildArchive): Tool {
  return defineTool({
    name: 'read_artifact',
    question: 'Which logs, reports and artifacts did the build leave, and what does one of them say?',
    categories: CATEGORIES,
    costClass: 'low',
    usualLatencyMs: 100,
    provider: `build-archive:${archive.driver}`,
    parameters: Parameters.refine(({ from = 1, to = from + MAX_LINES - 1 }) => to >= from && to - from < MAX_LINES, {
      error: `from must not be after to, and the limit is ${MAX_LINES} lines`,
    }).refine(({ source, from, to }) => source !== undefined || (from === undefined && to === undefined), {
      error: 'from and to need a source',
    }),
    unavailable: async ({ build }) =>
      (await archive.list(build.id)).length < 2 ? 'The build has no file besides its log; use view_log and grep_log to read that.' : null,
    async run({ source: named, from, to }, { subject }) {
      if (named === undefined) return listed(await archive.list(subject.build.id), subject);
      const source = await chooseSource(archive, subject, named);
      if (source === null) return [];
      if (source.bytes === 0) return [{ title: source.name, text: source.notes.join('\n') || 'It is empty.', source: source.name }];
      if (from === undefined && to === undefined && source.kind === 'report') return await casesOf(archive, subject, source);
      const first = from ?? Math.max(1, (to ?? MAX_LINES) - MAX_LINES + 1);
      if (first > source.lines) return [];
      const window = await archive.lines(subject.build.id, source.name, first, Math.min(to ?? first + MAX_LINES - 1, source.lines));
      return window === null ? [] : windowPieces(source.name, source.name, window);
    },
  });
}

function listed(sources: readonly ArchivedSource[], subject: TriageSubject): Finding[] {
  if (sources.length === 0) return [];
  const shown = sources.slice(0, MAX_LISTED).map((source) => lineOf(source, subject));
  const more = sources.length > shown.length ? [`and ${sources.length - shown.length} more`] : [];
  return [{ title: `${sources.length} files of the build`, text: [...shown, ...more].join('\n').slice(0, 4_000), source: 'artifacts' }];
}

function lineOf({ name, kind, lines, bytes, notes }: ArchivedSource, { survey }: TriageSubject): string {
  const seen = survey?.files.find((file) => file.name === name);
  const size = bytes === 0 ? (notes[0] ?? 'empty') : `${lines} lines, ${bytes} bytes`;
  if (seen === undefined) return `${name}: ${kind}, ${size}`;
  const read = seen.read === null ? 'not read' : 'read';
  return `${name}: ${seen.what}, ${size}, ${seen.grade} (${seen.reason}), ${read}`;
}

/** The failing cases with what they say; a report without any says so. */
async function casesOf(archive: BuildArchive, subject: TriageSubject, source: ArchivedSource): Promise<Finding[]> {
  const text = source.bytes > MAX_REPORT_BYTES ? null : await archive.read(subject.build.id, source.name);
  if (text === null) return [];
  const { failingTests, testResults, diagnostics } = parseReport(source.name, text);
  const title = `${source.name}: ${failingTests.length} of ${testResults.length} tests failed`;
  const cases = failingTests.slice(0, MAX_CASES).map((test) => findingOf(source.name, test));
  if (cases.length > 0) return cases;
  const said = diagnostics.slice(0, MAX_CASES).map(({ file, line, message }) => `${file ?? ''}:${line ?? ''} ${message}`);
  return [{ title, text: said.join('\n') || 'No test case failed.', source: source.name }];
}

function findingOf(source: string, test: FailingTest): Finding {
  const name = test.suite === null ? test.name : `${test.suite} › ${test.name}`;
  const values = test.expected === null || test.actual === null ? [] : [`expected: ${test.expected}`, `actual: ${test.actual}`];
  const place = test.file === null ? [] : [`at ${test.file}${test.line === null ? '' : `:${test.line}`}`];
  return { title: name, text: [test.message ?? 'It failed without a message.', ...values, ...place].join('\n'), source };
}
