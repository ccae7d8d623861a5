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

/** Artifacts that are read for their grade. More would crowd out the build's own log. */
const MAX_RELEVANT = 6;
/** Artifacts that are read because another file refers to them. */
const MAX_REFERRED = 6;
/** Limit on the files of one folder that is referred to. */
const MAX_OF_FOLDER = 3;
/** Bytes of all artifacts that are read. */
const MAX_READ_BYTES = 32 * 1024 * 1024;
/** The number of times that files read because of a reference are themselves searched for references. */
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

/** Says which files of a build are worth reading, and what was done with each. */
export interface Surveyed<Source> {
  readonly read: readonly Source[];
  readonly survey: Survey | null;
  readonly notes: readonly string[];
}

/**
 * Surveys all files of a build in three steps: grades each by its name and text, reads those that show a
 * failure, and follows the references in these to the files that were left. Logs and reports are always read.
 * The survey is null if there is nothing but one log; the notes say in sentences what was done with the
 * artifacts. Deterministic; never throws on any text.
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

/**
 * Chooses files that may show a failure if there is no log, no report, and nothing that does show one: they
 * are better than nothing.
 */
function chooseAnything(choices: readonly Choice[], budget: { bytes: number }): void {
  const maybe = choices.filter(({ file }) => file.grade === 'maybe').sort(compareScore);
  for (const choice of maybe.slice(0, MAX_OF_FOLDER)) {
    if (take(choice, 'relevant', budget))
      choice.reason = `${choice.reason}, and there is nothing else to read`;
  }
}

/**
 * Reads what is referred to by what is read, until nothing new comes. Returns what is referred to and is not
 * there.
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
 * Returns the files that a reference means and that are not read yet; `known` is true if it means any file of
 * the build.
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

/** Returns the files that have the most in common with what is meant. */
function chooseBest(choices: readonly Choice[], common: (choice: Choice) => number): Choice[] {
  const parts = choices.map(common);
  const most = findMax(parts);
  return most === 0 ? [] : choices.filter((_, at) => parts[at] === most);
}

function isLeft({ read, source }: Choice): boolean {
  return read === null && source.kind === 'artifact';
}

/** Marks it as read, where it has a text and there is room for it. */
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
 * A file with its grade, before it is decided what is read. `score` orders files of one grade, the most
 * informative first.
 */
interface GradedFile extends Omit<SurveyedFile, 'read' | 'referredBy'> {
  readonly score: number;
}

const PREVIEW_LINES = 3;
const PREVIEW_WIDTH = 160;
/** A message of less weight is as likely a warning. */
const TELLING_WEIGHT = 56;
/** The name said so: above any text that is merely a log. */
const NAMED_SCORE = 90;

/**
 * Looks at one file: its name, its kind, and the lines in it that tell of a failure. Never throws on any
 * text.
 */
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

/** Characters of a report that is looked into before it is read; a larger one is read once, in its thread. */
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
  const telling = pickInformativeLines(found);
  const words = telling.map(({ text }) => text).join('\n');
  const preview = createPreview(words === '' ? text.slice(0, 2_000) : words, 'start');
  const what = named?.what ?? 'text';
  const strength = measureStrength(found);
  if (strength >= TELLING_WEIGHT) {
    const score = named?.grade === 'relevant' ? NAMED_SCORE + 1 : Math.min(NAMED_SCORE, strength);
    return {
      what,
      grade: 'relevant',
      reason: `it tells of a failure on line ${telling[0]?.line ?? 1}`,
      preview,
      score,
    };
  }
  if (named?.grade === 'relevant') return { ...named, preview, score: NAMED_SCORE };
  const reason = strength > 0 ? 'a few lines sound like errors' : 'no line sounds like an error';
  return { what, grade: 'maybe', reason, preview, score: strength };
}

/** Returns how strongly the readers' findings indicate a failure, 0..100. */
function measureStrength({ failingTests, exceptions, diagnostics, messages }: Extraction): number {
  const structured =
    failingTests.length > 0 ||
    exceptions.length > 0 ||
    diagnostics.some(({ severity }) => severity === 'error');
  return messages.reduce((most, { weight }) => Math.max(most, weight), structured ? 80 : 0);
}

/** Returns the findings that the readers understood first, in the order of their lines. */
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
  const telling = texts.flatMap(({ at, text }) =>
    at === null ? [] : [{ line: at.line, text: toOneLine(text) }],
  );
  const oneALine = takeFirstOfEach(telling, ({ line }) => line);
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
