import type { FailingTest } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { takeFirstOfEach } from '../lib/collections.ts';
import { listNamedPaths } from '../lib/text.ts';
import { stripEscapes } from '../log/lines/clean.ts';
import {
  countSharedSegments,
  findTwin,
  isForeignPath,
  isReportPath,
  isTestClass,
  type JvmClass,
  listOwnFrames,
  listTraces,
  type OwnFrame,
  type Project,
  parseJvmClass,
  readProject,
  toModulePaths,
  toRepositoryPath,
  toSourcePath,
} from './paths.ts';
import { computeLikeness, getToolName, listWords } from './wording.ts';

/** A file of the project that the failure names, with its line if known. */
export interface Place {
  readonly path: string;
  readonly line: number | null;
  readonly from: 'diagnostic' | 'frame' | 'test';
  /** The suspicion, 0..1. */
  readonly score: number;
  readonly reason: string;
}

const MAX_TRACES = 20;
const MAX_FRAME_FILES = 8;
const DIAGNOSED = 0.95;
const OWN_FRAME = 0.8;
const TWIN = 0.6;
const TWIN_IN_TRACE = 0.08;
const NAMED_ALIKE = 0.1;
const TEST_FILE = 0.45;
/**
 * The score of a class that a message names, because the failure is about it: equal to that of a frame in the
 * middle of a trace, and just below that of the twin.
 */
const IN_MESSAGE = 0.59;
const GUESS = 0.3;
const LOGGED = 0.4;
const [MAX_INFORMATIVE, MAX_LOGGED] = [5, 5];
/** Folders of runners and tools for their own files. */
const OUTSIDE = /^(?:~|\/(?:tmp|etc|var|dev|proc|root|opt|bin|sbin|lib)\/|\$)|(?:^|\/)_temp\/|^actions\//;
/**
 * Hidden folders in home directories. They contain caches or logs of a tool, unless a runner checks out
 * there; `findPath` removes the folder of such a checkout.
 */
const KEPT_AT_HOME = /^(?:\/(?:home|Users)\/[^/]{1,60}|\/root)\/\.[^/]/;
/**
 * Names without a folder that are likely to be a file of the project. Other names may be frames or products
 * (Node.js).
 */
const BARE = /\.(?:json|toml|ya?ml|xml|gradle|kts|cmake)$/;
const FADE = 0.92;

/**
 * Lists the files that the failure names, most suspicious first. Each file is listed once, under the longest
 * path in the log.
 */
export function rankPlaces(subject: TriageSubject): readonly Place[] {
  const project = readProject(subject);
  const tested = listTestedFiles(subject, project);
  const named = [...listDiagnosedPlaces(subject, project), ...listFramePlaces(subject, project, tested)];
  const found = mergeFiles([...named, ...listMessagePlaces(subject, project), ...testPlaces(tested, named)]);
  const logged = listLoggedPlaces(subject, project).filter(
    ({ path }) => !found.some((place) => isSameFile(place.path, path) || place.path.endsWith(` ${path}`)),
  );
  return [...found, ...mergeFiles(logged)].sort((left, right) => right.score - left.score);
}

/** Checks whether two paths may be the same file: they are equal, or one ends with the other. */
export function isSameFile(left: string, right: string): boolean {
  return left === right || left.endsWith(`/${right}`) || right.endsWith(`/${left}`);
}

function listDiagnosedPlaces(subject: TriageSubject, project: Project): Place[] {
  const errors = subject.diagnostics
    .filter((entry) => entry.severity === 'error' && entry.tool !== 'make')
    .slice(0, 20);
  return errors.flatMap((entry, rank) => {
    const path =
      entry.file === null || isForeignPath(entry.file) ? null : toRepositoryPath(entry.file, project);
    if (path === null || KEPT_AT_HOME.test(path)) return [];
    const reason = `${getToolName(entry)} names it`;
    return [{ path, line: entry.line, from: 'diagnostic' as const, score: fade(DIAGNOSED, rank), reason }];
  });
}

function listFramePlaces(subject: TriageSubject, project: Project, tested: readonly TestedFiles[]): Place[] {
  const words = listWords(tested.map(({ name, file }) => `${file.split(/[\\/]/).at(-1)} ${name}`).join(' '));
  return listTraces(subject)
    .slice(0, MAX_TRACES)
    .flatMap((frames, trace) => {
      const ownFrames = listOwnFrames(frames, project);
      return [
        ...rankFiles(ownFrames.filter(({ isTest, onlyReports }) => !isTest && !onlyReports)),
        ...rankFiles(ownFrames.filter(({ isTest, onlyReports }) => !isTest && onlyReports)).map((place) => ({
          ...place,
          rank: place.rank + 4,
        })),
        ...rankFiles(ownFrames.filter(({ isTest }) => isTest)),
      ].map(({ path, line, isTest, rank }) => {
        const alike = isTest ? 0 : NAMED_ALIKE * computeLikeness(path, words);
        const score = round(Math.min(0.99, fade(isTest ? TEST_FILE : OWN_FRAME, trace + rank) + alike));
        return { path, line, from: 'frame' as const, score, reason: describeFrame(isTest, rank) };
      });
    });
}

function describeFrame(isTest: boolean, rank: number): string {
  if (isTest) return 'contains the failing test';
  return rank === 0 ? 'innermost project frame in the stack trace' : 'in the stack trace';
}

function listMessagePlaces(subject: TriageSubject, project: Project): Place[] {
  const reason = 'the message names its class';
  return listNamedClasses(subject, project).map((path, rank) => ({
    path,
    line: null,
    from: 'frame',
    score: fade(IN_MESSAGE, rank),
    reason,
  }));
}

/**
 * Lists the paths in the most informative lines and in the name of the failed step. They are mentioned, but
 * not as the place of the error.
 */
function listLoggedPlaces(subject: TriageSubject, project: Project): Place[] {
  const best = subject.messages.slice(0, MAX_INFORMATIVE).map(({ text }) => text);
  const heaviest = [...subject.excerpts]
    .sort((left, right) => right.weight - left.weight)
    .slice(0, MAX_INFORMATIVE);
  const texts = [
    ...best,
    ...subject.failedSections.map(({ name }) => name),
    ...heaviest.map(({ text }) => text),
  ];
  const paths = listNamedPaths(texts.map(stripEscapes))
    .filter(
      ({ path }) =>
        !isForeignPath(path) &&
        !isReportPath(path) &&
        !OUTSIDE.test(path) &&
        (path.includes('/') || BARE.test(path)),
    )
    .map(({ path, line }) => ({ path: toRepositoryPath(path, project), line }));
  const distinct = takeFirstOfEach(paths, ({ path }) => path).filter(({ path }) => !path.startsWith('/'));
  return distinct.slice(0, MAX_LOGGED).map(({ path, line }, rank) => {
    return { path, line, from: 'frame', score: fade(LOGGED, rank), reason: 'the log names it' };
  });
}

/** Returns one entry for each file, with its deepest frame. */
function rankFiles(frames: readonly OwnFrame[]): (OwnFrame & { rank: number })[] {
  const first = takeFirstOfEach(frames, ({ path }) => path);
  return first.slice(0, MAX_FRAME_FILES).map((frame, rank) => ({ ...frame, rank }));
}

/**
 * Lists the files of failing tests, their twins, and guesses. A twin without a folder is left out if the log
 * names a file of that name.
 */
function testPlaces(tested: readonly TestedFiles[], named: readonly Place[]): Place[] {
  return tested.flatMap(({ file, line, twin, guesses }, rank) => {
    const itself = {
      path: file,
      line,
      from: 'test' as const,
      score: fade(TEST_FILE, rank),
      reason: 'contains the failing test',
    };
    const guessed = guesses.map((path, at) => {
      return {
        path,
        line: null,
        from: 'test' as const,
        score: fade(GUESS, rank + at),
        reason: 'the failing test may be named after it',
      };
    });
    if (twin === null || isTestClass(twin.split('/').at(-1)?.replace(/\..*$/, '') ?? ''))
      return [itself, ...guessed];
    const traced = named.find((place) => isSameFile(place.path, twin) && place.path !== file);
    const score =
      traced === undefined ? fade(TWIN, rank) : round(Math.min(0.99, traced.score + TWIN_IN_TRACE));
    return [
      itself,
      {
        path: twin,
        line: null,
        from: 'test' as const,
        score,
        reason: 'the failing test is named after it',
      },
      ...guessed,
    ];
  });
}

function mergeFiles(places: readonly Place[]): Place[] {
  const merged: Place[] = [];
  for (const place of places) {
    const at = merged.findIndex((other) => isSameFile(other.path, place.path));
    const known = merged[at];
    if (known === undefined) merged.push(place);
    else merged[at] = mergePlaces(known, place);
  }
  return merged;
}

/**
 * Merges two places of one file: the better score with its reason, the longer path, and a line if either has
 * one.
 */
function mergePlaces(known: Place, place: Place): Place {
  const better = place.score > known.score ? place : known;
  const path = place.path.length > known.path.length ? place.path : known.path;
  // If the name of a test raises the score of a frame, both reasons are kept.
  const isRaised =
    known.from === 'frame' && place.from === 'test' && better === place && known.reason !== place.reason;
  const reason = isRaised ? `${known.reason}, and ${place.reason}` : better.reason;
  return { ...better, path, reason, line: better.line ?? known.line ?? place.line, from: known.from };
}

function fade(score: number, rank: number): number {
  return round(score * FADE ** rank);
}

function round(score: number): number {
  return Math.round(score * 100) / 100;
}

type TestedFiles = ReturnType<typeof findTestedFiles>;

const MAX_TESTS = 20;

/** Lists the files of the failing tests, or, if no test is named, those of the test classes in the traces. */
function listTestedFiles(subject: TriageSubject, project: Project): TestedFiles[] {
  const extension = findExtension(subject);
  const named = subject.failingTests.slice(0, MAX_TESTS).flatMap((test) => {
    const type = findClassOfTest(test, project);
    // unittest names a test that it could not load only by its module.
    const [module = null] = test.framework === 'unittest' ? toModulePaths(test.suite) : [];
    const file = type === null ? (test.file ?? module) : getPathOfTest(test.file, type, extension);
    return file === null ? [] : [findTestedFiles(test.name, toRepositoryPath(file, project), test.line)];
  });
  if (subject.failingTests.length > 0) return named;
  return project.tests
    .slice(0, MAX_TESTS)
    .map((type) => findTestedFiles(type.name, toSourcePath(type, `${type.name}${extension}`), null));
}

/**
 * Returns a failing test's file, and the files that it may test judging by its name: its twin and less
 * certain guesses. For example, `StringUtilsTrimTest` may test `StringUtils`.
 */
function findTestedFiles(name: string, file: string, line: number | null) {
  const twin = findTwin(file);
  return { name, file, line, twin, guesses: guessTestedFiles(file, twin) };
}

function findClassOfTest({ suite, file }: FailingTest, { tests }: Project): JvmClass | null {
  const simple = (suite ?? '')
    .split('.')
    .find((part) => /^[A-Z]/.test(part))
    ?.split('$')[0];
  const known = tests.find(
    (type) =>
      type.name === simple &&
      (type.packages.length === 0 || !suite?.includes('.') || suite.startsWith(type.packages.join('.'))),
  );
  return known !== undefined && (file === null || /\.(?:java|kt|scala|groovy)$/.test(file)) ? known : null;
}

/** Returns the path of a test's file, with the folders of its package if the log omits them. */
function getPathOfTest(file: string | null, type: JvmClass, extension: string): string {
  const path =
    file?.split(/[\\/]/).at(-1)?.startsWith(`${type.name}.`) === true ? file : `${type.name}${extension}`;
  return /[\\/]/.test(path) ? path : toSourcePath(type, path);
}

/**
 * Returns the extension of the project's sources according to the traces: Java, unless they show only another
 * JVM language.
 */
function findExtension(subject: TriageSubject): string {
  const files = subject.exceptions.flatMap(({ frames }) =>
    frames.filter(({ own }) => own).map(({ file }) => file),
  );
  if (files.some((file) => file.endsWith('.java'))) return '.java';
  return (
    /\.(?:kt|scala|groovy)$/.exec(files.find((file) => /\.(?:kt|scala|groovy)$/.test(file)) ?? '')?.[0] ??
    '.java'
  );
}

/**
 * Guesses what a test file tests from its name, with less certainty than the twin. Returns at most two files,
 * the more likely one first.
 */
function guessTestedFiles(file: string, twin: string | null): string[] {
  return (file.endsWith('.py') ? guessModules(file) : guessClasses(twin ?? file)).slice(0, 2);
}

/**
 * Guesses modules: `test_utils_gz.py` tests `utils/gz.py` if tests are in a flat folder, or `utils.py`; the
 * package `test_settings` tests `settings`.
 */
function guessModules(file: string): string[] {
  const name = /(?:^|[\\/])test_([a-z0-9_]{2,120})(?:\.py|[\\/]__init__\.py)$/.exec(file)?.[1];
  if (name === undefined) return [];
  const packaged = file.endsWith('__init__.py');
  const at = name.lastIndexOf('_');
  if (at < 2 || at === name.length - 1) return packaged ? [`${name}/__init__.py`, `${name}.py`] : [];
  return [
    `${name.slice(0, at)}/${name.slice(at + 1)}.py`,
    packaged ? `${name}.py` : `${name.slice(0, at)}.py`,
  ];
}

/**
 * Guesses classes: the name without a ticket number, and the longest part of it that has the ending of a
 * class name.
 */
function guessClasses(path: string): string[] {
  const [, folder = '', name = '', extension = ''] =
    /^(.*\/)?([A-Z][A-Za-z0-9]{1,120})(\.(?:java|kt|scala|groovy|cs))$/.exec(path) ?? [];
  const whole = name.replace(/(?:Bug|Issue|Jira)?\d{2,7}$/, '');
  const role = ROLE.exec(whole.slice(0, -1))?.[0];
  const shorter = [whole, role].filter(
    (prefix) => prefix !== undefined && prefix.length > 3 && prefix !== name && !isTestClass(prefix),
  );
  return [...new Set(shorter)].map((prefix) => `${folder}${prefix}${extension}`);
}

/** The usual endings of class names, before another word. */
const ROLE =
  /^[A-Z]\w{0,80}(?:Utils?|Helper|Builder|Factory|Parser|Reader|Writer|Formatter|Converter|Handler|Manager|Service|Controller|Repository|Provider|Client|Server|Serializer|Deserializer|Mapper|Validator|Resolver|Generator|Processor|Iterator|Buffer|Cache|Registry|Engine|Compiler|Loader|Scanner)(?=[A-Z0-9])/;

const MAX_MESSAGE = 2_000;
const MAX_NAMED = 4;
/**
 * The number of leading package segments that a class of the project shares with a failing test. If the
 * package is shorter, all of them.
 */
const SHARED = 3;

/**
 * Lists the source files of the project's classes whose full names are in the failure's messages, in the
 * order of the messages.
 */
function listNamedClasses(subject: TriageSubject, { tests }: Project): string[] {
  const texts = [
    ...subject.exceptions.map(({ message }) => message),
    ...subject.failures.map(({ message }) => message),
  ];
  const names = texts.flatMap(
    (text) => text.slice(0, MAX_MESSAGE).match(/(?<![\w.$])(?:[a-z]\w{0,40}\.){2,10}[A-Z]\w{0,100}/g) ?? [],
  );
  const types = names.flatMap((name) => parseJvmClass(name) ?? []);
  const classes = types.filter((type) => !isTestClass(type.name) && tests.some((test) => isOwn(type, test)));
  return [...new Set(classes.map((type) => toSourcePath(type, `${type.name}.java`)))].slice(0, MAX_NAMED);
}

function isOwn(type: JvmClass, test: JvmClass): boolean {
  return (
    test.packages.length > 0 &&
    countSharedSegments(test.packages, type.packages) >= Math.min(SHARED, test.packages.length)
  );
}
