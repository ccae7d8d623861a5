import type { Survey, SurveyedFile } from '../../domain/reading.ts';
import { findMax, takeFirstOfEach } from '../../lib/collections.ts';
import { countIn } from '../../lib/text.ts';
import type { Extraction } from '../extract/extraction.ts';
import { extractAll, openScanned } from '../extract/run.ts';
import { toLogBytes } from '../lines/bytes.ts';
import { stripEscapes } from '../lines/clean.ts';
import type { ReadableSource } from '../read-log.ts';
import { isStray, parseReport } from '../reports/report.ts';
import {
  countFileParts,
  countFolderParts,
  listReferences,
  type Reference,
  readFileName,
} from './references.ts';

/**
 * The maximum number of artifacts that are read because of their grade. More would displace the build's own
 * log.
 */
const MAX_RELEVANT = 6;
/** The maximum number of artifacts that are read because another file refers to them. */
const MAX_REFERRED = 6;
/** The maximum number of files that are read of a folder that is referred to. */
const MAX_OF_FOLDER = 3;
/** The maximum size in bytes of all artifacts that are read. */
const MAX_READ_BYTES = 32 * 1024 * 1024;
/**
 * The maximum length of a chain of references. Files that were read because of a reference are searched for
 * references, too.
 */
const MAX_DEPTH = 3;
const MAX_LISTED = 30;
const MAX_MISSING = 5;
const MAX_NAMED = 5;
const FILE = /\.(?:log|txt|out|err|dump|dumpstream|xml|json)$/i;

interface Choice {
  readonly file: GradedFile;
  readonly source: ReadableSource;
  read: SurveyedFile['read'];
  reason: string;
  referredBy?: { source: string; line: number };
}

/** The files of a build that are read, and what was done with each file. */
export interface Surveyed<Source> {
  readonly read: readonly Source[];
  readonly survey: Survey | null;
  readonly notes: readonly string[];
}

/**
 * Surveys all files of a build in three steps: grades each by its name and text, reads those that show a
 * failure, and follows references from these to other files. Logs and reports are always read. The survey is
 * null if there is only one log. The notes describe what was done with the artifacts. Deterministic; never
 * throws on any text.
 */
export function surveyFiles<Source extends ReadableSource>(sources: readonly Source[]): Surveyed<Source> {
  if (sources.length < 2) return { read: sources, survey: null, notes: [] };
  const choices = sources.map((source): Choice => {
    const file = gradeFile(source);
    return { file, source, read: source.kind === 'artifact' ? null : 'own', reason: file.reason };
  });
  const budget = { bytes: MAX_READ_BYTES };
  chooseRelevant(choices, budget);
  if (!choices.some(({ read }) => read !== null)) chooseAnything(choices, budget);
  const missing = follow(choices, budget);
  return {
    read: sources.filter((_, at) => choices[at]?.read !== null),
    survey: buildSurvey(choices, missing),
    notes: writeNotes(choices, missing),
  };
}

function chooseRelevant(choices: readonly Choice[], budget: { bytes: number }): void {
  const relevant = choices
    .filter(({ file, read }) => read === null && file.grade === 'relevant')
    .sort(compareScore);
  for (const [rank, choice] of relevant.entries()) {
    if (rank < MAX_RELEVANT) take(choice, 'relevant', budget);
    else choice.reason = `${choice.reason}; ${MAX_RELEVANT} others tell more`;
  }
}

/** Chooses files that may show a failure if there is no log, no report, and no file that does show one. */
function chooseAnything(choices: readonly Choice[], budget: { bytes: number }): void {
  const maybe = choices.filter(({ file }) => file.grade === 'maybe').sort(compareScore);
  for (const choice of maybe.slice(0, MAX_OF_FOLDER)) {
    if (take(choice, 'relevant', budget))
      choice.reason = `${choice.reason}, and there is nothing else to read`;
  }
}

/**
 * Reads the files that the read files refer to, up to {@link MAX_DEPTH} times. Returns the references to
 * missing files.
 */
function follow(choices: readonly Choice[], budget: { bytes: number }): Reference[] {
  if (!choices.some(({ source }) => source.kind === 'artifact')) return [];
  const missing: Reference[] = [];
  let from = choices.filter(({ read, source }) => read !== null && source.kind !== 'report');
  let left = MAX_REFERRED;
  for (let depth = 0; depth < MAX_DEPTH && from.length > 0; depth++) {
    const taken: Choice[] = [];
    for (const reference of from.flatMap(({ source }) => listReferences(source))) {
      const { known, wanted } = resolveReference(reference, choices);
      if (!known && FILE.test(reference.path)) missing.push(reference);
      for (const choice of wanted.slice(0, left)) {
        choice.referredBy = { source: reference.source, line: reference.line };
        if (choice.source.kind !== 'artifact' || !take(choice, 'referred', budget)) continue;
        choice.reason = `${reference.source} refers to it on line ${reference.line}`;
        taken.push(choice);
        left -= 1;
      }
    }
    from = taken;
  }
  return missing;
}

/**
 * Returns the files that a reference points to and that are not read yet. `known` is true if it points to any
 * file of the build.
 */
function resolveReference(
  { path }: Reference,
  choices: readonly Choice[],
): { known: boolean; wanted: Choice[] } {
  const files = chooseBest(choices, ({ file }) => countFileParts(path, file.name));
  if (files.length > 0) return { known: true, wanted: files.filter(isLeft) };
  const inside = chooseBest(choices, ({ file }) =>
    path.includes('/') ? countFolderParts(path, file.name) : 0,
  );
  return {
    known: inside.length > 0,
    wanted: inside.filter(isLeft).sort(compareScore).slice(0, MAX_OF_FOLDER),
  };
}

/** Returns the files that match a reference best. */
function chooseBest(choices: readonly Choice[], common: (choice: Choice) => number): Choice[] {
  const parts = choices.map(common);
  const most = findMax(parts);
  return most === 0 ? [] : choices.filter((_, at) => parts[at] === most);
}

function isLeft({ read, source }: Choice): boolean {
  return read === null && source.kind === 'artifact';
}

/** Marks a file as read if it has a text and fits into the budget. Returns whether it was marked. */
function take(choice: Choice, as: 'relevant' | 'referred', budget: { bytes: number }): boolean {
  const { bytes } = choice.file;
  if (!('text' in choice.source) || choice.source.text.trim() === '') return false;
  if (bytes > budget.bytes) {
    choice.reason = `${choice.reason}; too large to read beside the others`;
    return false;
  }
  budget.bytes -= bytes;
  choice.read = as;
  return true;
}

function compareScore(left: Choice, right: Choice): number {
  return right.file.score - left.file.score;
}

const ORDER = { relevant: 0, maybe: 1, skip: 2 } as const;

function buildSurvey(choices: readonly Choice[], missing: readonly Reference[]): Survey {
  const sorted = [...choices].sort(
    (a, b) =>
      Number(b.read !== null) - Number(a.read !== null) ||
      ORDER[a.file.grade] - ORDER[b.file.grade] ||
      compareScore(a, b),
  );
  return {
    files: sorted
      .slice(0, MAX_LISTED)
      .map(({ file: { score: _score, ...file }, read, reason, referredBy }) => {
        return { ...file, reason, read, ...(referredBy === undefined ? {} : { referredBy }) };
      }),
    unlisted: Math.max(0, sorted.length - MAX_LISTED),
    missing: missing.slice(0, MAX_MISSING).map(({ path, source, line }) => ({ path, source, line })),
  };
}

function writeNotes(choices: readonly Choice[], missing: readonly Reference[]): string[] {
  const artifacts = choices.filter(({ source }) => source.kind === 'artifact');
  if (artifacts.length === 0) return [];
  const by = (how: SurveyedFile['read']) => artifacts.filter(({ read }) => read === how);
  const [relevant, referred, left] = [by('relevant'), by('referred'), by(null)];
  const unread = left.flatMap(({ file, referredBy, reason }) =>
    referredBy === undefined
      ? []
      : [`${file.name} (line ${referredBy.line} of ${referredBy.source} refers to it): ${reason}`],
  );
  const absent = missing.slice(0, 3).map(({ path, source, line }) => `${path} (line ${line} of ${source})`);
  return [
    `${artifacts.length} ${artifacts.length === 1 ? 'artifact was' : 'artifacts were'} looked ` +
      `at; ${relevant.length + referred.length} read, ${left.length} left.`,
    relevant.length === 0 ? '' : `Read for what they say: ${formatNames(relevant)}.`,
    referred.length === 0 ? '' : `Read because they are referred to: ${formatNames(referred)}.`,
    unread.length === 0 ? '' : `Referred to and not read: ${unread.slice(0, MAX_NAMED).join('; ')}.`,
    absent.length === 0 ? '' : `Referred to and not brought: ${absent.join(', ')}.`,
  ].filter((note) => note !== '');
}

function formatNames(choices: readonly Choice[]): string {
  const listed = choices
    .slice(0, MAX_NAMED)
    .map(({ file, reason }) => `${file.name} (${file.what}; ${reason})`);
  const more = choices.length - listed.length;
  return listed.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/**
 * A graded file, before it is decided which files are read. `score` orders files of one grade, most
 * informative first.
 */
interface GradedFile extends Omit<SurveyedFile, 'read' | 'referredBy'> {
  readonly score: number;
}

const PREVIEW_LINES = 3;
const PREVIEW_WIDTH = 160;
/** The weight below which a message may just as well be a warning. */
const INFORMATIVE_WEIGHT = 56;
/**
 * The score of a file whose name indicates a failure: higher than that of any text that only looks like a
 * log.
 */
const NAMED_SCORE = 90;

/** Grades one file by its name, its kind, and the lines that report a failure. Never throws on any text. */
function gradeFile(source: ReadableSource): GradedFile {
  if ('bytes' in source) return { ...describeSize(source, 0, source.bytes.size), ...ownLog, preview: '' };
  const text = source.text;
  const size = describeSize(source, countIn(text, '\n') + 1, Buffer.byteLength(text));
  if (source.kind === 'report') return { ...size, ...gradeReport(source.name, text) };
  if (source.kind === 'log') return { ...size, ...ownLog, preview: createPreview(text.slice(-2_000), 'end') };
  return { ...size, ...gradeArtifact(source.name, text, source.notes) };
}

type Look = Pick<GradedFile, 'what' | 'grade' | 'reason' | 'preview' | 'score'>;

const ownLog = { what: 'log', grade: 'relevant', reason: "the build's own log", score: 100 } as const;

function describeSize(
  source: ReadableSource,
  lines: number,
  bytes: number,
): Pick<GradedFile, 'name' | 'kind' | 'lines' | 'bytes'> {
  return { name: source.name, kind: source.kind, lines, bytes };
}

/**
 * The maximum number of characters of a report that is parsed for its grade. A larger one is parsed only
 * once, in its thread.
 */
const MAX_GRADED = 1 << 20;

function gradeReport(name: string, text: string): Look {
  if (text.length > MAX_GRADED)
    return {
      what: 'report',
      grade: 'relevant',
      reason: 'a large report of the build',
      preview: '',
      score: 95,
    };
  const { failingTests, diagnostics, testResults } = parseReport(name, text);
  const what = testResults.length > 0 || failingTests.length > 0 ? 'test report' : 'report';
  const failures = failingTests.length + diagnostics.length;
  if (failures === 0)
    return {
      what,
      grade: 'maybe',
      reason: `no failure among ${testResults.length} results`,
      preview: '',
      score: 0,
    };
  const preview = [
    ...failingTests.map((test) => `${test.name}: ${test.message ?? 'failed'}`),
    ...diagnostics.map(({ message }) => message),
  ];
  const reason = failures === 1 ? 'it holds a failure' : `it holds ${failures} failures`;
  return {
    what,
    grade: 'relevant',
    reason,
    preview: createPreview(preview.slice(0, PREVIEW_LINES).map(toOneLine).join('\n'), 'start'),
    score: 95,
  };
}

function gradeArtifact(name: string, text: string, notes: readonly string[]): Look {
  const named = readFileName(name);
  if (text.trim() === '') {
    const reason = notes[0] ?? 'it is empty';
    return {
      what: named?.what ?? 'file',
      grade: 'skip',
      reason: named?.grade === 'skip' ? named.reason : reason,
      preview: '',
      score: 0,
    };
  }
  if (named?.grade === 'skip') return { ...named, preview: '', score: 0 };
  if (isStray(name, text)) {
    return {
      what: 'XML, JSON or a web page',
      grade: 'skip',
      reason: 'neither a log nor a known report',
      preview: '',
      score: 0,
    };
  }
  return gradeText(name, text, named);
}

function gradeText(name: string, text: string, named: ReturnType<typeof readFileName>): Look {
  const found = extractAll(openScanned(name, toLogBytes(text)));
  const informative = pickInformativeLines(found);
  const words = informative.map(({ text }) => text).join('\n');
  const preview = createPreview(words === '' ? text.slice(0, 2_000) : words, 'start');
  const what = named?.what ?? 'text';
  const strength = measureStrength(found);
  if (strength >= INFORMATIVE_WEIGHT) {
    const score = named?.grade === 'relevant' ? NAMED_SCORE + 1 : Math.min(NAMED_SCORE, strength);
    return {
      what,
      grade: 'relevant',
      reason: `it tells of a failure on line ${informative[0]?.line ?? 1}`,
      preview,
      score,
    };
  }
  if (named?.grade === 'relevant') return { ...named, preview, score: NAMED_SCORE };
  const reason = strength > 0 ? 'a few lines sound like errors' : 'no line sounds like an error';
  return { what, grade: 'maybe', reason, preview, score: strength };
}

/** Returns how strongly the findings indicate a failure, 0..100. */
function measureStrength({ failingTests, exceptions, diagnostics, messages }: Extraction): number {
  const structured =
    failingTests.length > 0 ||
    exceptions.length > 0 ||
    diagnostics.some(({ severity }) => severity === 'error');
  return messages.reduce((most, { weight }) => Math.max(most, weight), structured ? 80 : 0);
}

/** Returns the lines of the most reliable findings, ascending. */
function pickInformativeLines({
  failingTests,
  exceptions,
  diagnostics,
  messages,
}: Extraction): { readonly line: number; readonly text: string }[] {
  const texts = [
    ...failingTests
      .slice(0, PREVIEW_LINES)
      .map(({ at, name, message }) => ({ at, text: `${name}: ${message ?? 'failed'}` })),
    ...exceptions
      .slice(0, PREVIEW_LINES)
      .map(({ at, type, message }) => ({ at, text: `${type}: ${message}` })),
    ...diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ at, message }) => ({ at, text: message })),
    ...[...messages].sort((a, b) => b.weight - a.weight).slice(0, PREVIEW_LINES),
  ];
  const informative = texts.flatMap(({ at, text }) =>
    at === null ? [] : [{ line: at.line, text: toOneLine(text) }],
  );
  const oneALine = takeFirstOfEach(informative, ({ line }) => line);
  return oneALine.slice(0, PREVIEW_LINES).sort((a, b) => a.line - b.line);
}

/** Returns the first or last lines that are not blank, shortened. */
function createPreview(text: string, from: 'start' | 'end'): string {
  const lines = stripEscapes(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const kept = from === 'start' ? lines.slice(0, PREVIEW_LINES) : lines.slice(-PREVIEW_LINES);
  return kept.map((line) => line.slice(0, PREVIEW_WIDTH).toWellFormed()).join('\n');
}

function toOneLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').trim();
}
