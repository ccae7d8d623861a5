import type { FileGrade, SurveyedFile } from '../../domain/reading.ts';
import type { Extraction } from '../extract/extraction.ts';
import { branchLines, extractAll, readerMatcher } from '../extract/run.ts';
import { stripEscapes } from '../lines/clean.ts';
import { openLog } from '../lines/lines.ts';
import { bytesOfText } from '../lines/log-bytes.ts';
import type { ReadableSource } from '../read-sources.ts';
import { isStray, parseReport } from '../reports/report.ts';
import { scanLog } from '../scan/scan-log.ts';
import { namedAs } from './name-rules.ts';

/** A file with its grade, before it is decided what is read. `score` orders files of one grade, the most telling first. */
export interface GradedFile extends Omit<SurveyedFile, 'read' | 'referredBy'> {
  readonly score: number;
}

const PREVIEW_LINES = 3;
const PREVIEW_WIDTH = 160;
/** A message of less weight is as likely a warning. */
const TELLING_WEIGHT = 56;
/** The name said so: above any text that is merely a log. */
const NAMED_SCORE = 90;

/** Looks at one file: its name, its kind, and the lines in it that tell of a failure. Never throws on any text. */
export function gradeFile(source: ReadableSource): GradedFile {
  if ('bytes' in source) return { ...sized(source, 0, source.bytes.size), ...ownLog, preview: '' };
  const text = source.text;
  const size = sized(source, lineCount(text), Buffer.byteLength(text));
  if (source.kind === 'report') return { ...size, ...gradeReport(source.name, text) };
  if (source.kind === 'log') return { ...size, ...ownLog, preview: previewOf(text.slice(-2_000), 'end') };
  return { ...size, ...gradeArtifact(source.name, text, source.notes) };
}

type Look = Pick<GradedFile, 'what' | 'grade' | 'reason' | 'preview' | 'score'>;

const ownLog = { what: 'log', grade: 'relevant', reason: "the build's own log", score: 100 } as const;

function sized(source: ReadableSource, lines: number, bytes: number): Pick<GradedFile, 'name' | 'kind' | 'lines' | 'bytes'> {
  return { name: source.name, kind: source.kind, lines, bytes };
}

function gradeReport(name: string, text: string): Look {
  const { failingTests, diagnostics, testResults } = parseReport(name, text);
  const what = testResults.length > 0 || failingTests.length > 0 ? 'test report' : 'report';
  const failures = failingTests.length + diagnostics.length;
  if (failures === 0) return { what, grade: 'maybe', reason: `no failure among ${testResults.length} results`, preview: '', score: 0 };
  const shown = [...failingTests.map((test) => `${test.name}: ${test.message ?? 'failed'}`), ...diagnostics.map(({ message }) => message)];
  const reason = failures === 1 ? 'it holds a failure' : `it holds ${failures} failures`;
  return { what, grade: 'relevant', reason, preview: previewOf(shown.slice(0, PREVIEW_LINES).map(oneLine).join('\n'), 'start'), score: 95 };
}

function gradeArtifact(name: string, text: string, notes: readonly string[]): Look {
  const named = namedAs(name);
  if (text.trim() === '') {
    const reason = notes[0] ?? 'it is empty';
    return { what: named?.what ?? 'file', grade: 'skip', reason: named?.grade === 'skip' ? named.reason : reason, preview: '', score: 0 };
  }
  if (named?.grade === 'skip') return { ...named, preview: '', score: 0 };
  if (isStray(name, text)) {
    return { what: 'XML, JSON or a web page', grade: 'skip', reason: 'neither a log nor a known report', preview: '', score: 0 };
  }
  return gradeText(name, text, named);
}

function gradeText(name: string, text: string, named: ReturnType<typeof namedAs>): Look {
  const bytes = bytesOfText(text);
  const scan = scanLog(bytes, readerMatcher());
  const log = openLog(name, bytes, scan.index, branchLines(scan));
  const found = extractAll(log, scan);
  const telling = tellingOf(found);
  const said = telling.map(({ text }) => text).join('\n');
  const preview = previewOf(said === '' ? text.slice(0, 2_000) : said, 'start');
  const what = named?.what ?? 'text';
  const strength = strengthOf(found);
  if (strength >= TELLING_WEIGHT) {
    const score = named?.grade === 'relevant' ? NAMED_SCORE + 1 : Math.min(NAMED_SCORE, strength);
    return { what, grade: 'relevant', reason: `it tells of a failure on line ${telling[0]?.line ?? 1}`, preview, score };
  }
  if (named?.grade === 'relevant') return { ...named, preview, score: NAMED_SCORE };
  const reason = strength > 0 ? 'a few lines sound like errors' : 'no line sounds like an error';
  const grade: FileGrade = 'maybe';
  return { what, grade, reason, preview, score: strength };
}

/** How strongly the readers heard a failure, 0..100. */
function strengthOf({ failingTests, exceptions, diagnostics, messages }: Extraction): number {
  const structured = failingTests.length > 0 || exceptions.length > 0 || diagnostics.some(({ severity }) => severity === 'error');
  return messages.reduce((most, { weight }) => Math.max(most, weight), structured ? 80 : 0);
}

interface Telling {
  readonly line: number;
  readonly text: string;
}

/** What the readers understood first, in the order of its lines. */
function tellingOf({ failingTests, exceptions, diagnostics, messages }: Extraction): Telling[] {
  const said = [
    ...failingTests.slice(0, PREVIEW_LINES).map(({ at, name, message }) => ({ at, text: `${name}: ${message ?? 'failed'}` })),
    ...exceptions.slice(0, PREVIEW_LINES).map(({ at, type, message }) => ({ at, text: `${type}: ${message}` })),
    ...diagnostics.filter(({ severity }) => severity === 'error').map(({ at, message }) => ({ at, text: message })),
    ...[...messages].sort((a, b) => b.weight - a.weight).slice(0, PREVIEW_LINES),
  ];
  const telling = said.flatMap(({ at, text }) => (at === null ? [] : [{ line: at.line, text: oneLine(text) }]));
  const oneALine = telling.filter(({ line }, index) => telling.findIndex((other) => other.line === line) === index);
  return oneALine.slice(0, PREVIEW_LINES).sort((a, b) => a.line - b.line);
}

/** The first or last lines that say anything, shortened. */
function previewOf(text: string, from: 'start' | 'end'): string {
  const lines = stripEscapes(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const kept = from === 'start' ? lines.slice(0, PREVIEW_LINES) : lines.slice(-PREVIEW_LINES);
  return kept.map((line) => line.slice(0, PREVIEW_WIDTH).toWellFormed()).join('\n');
}

function oneLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').trim();
}

function lineCount(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
