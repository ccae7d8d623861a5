import type { FailingTest, StackFrame } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { takeFirstOfEach } from '../lib/collections.ts';
import { getProjectPath } from '../log/paths.ts';

/** Checks whether a path belongs to a package, a runtime, or a tool instead of the project. */
export function isForeignPath(path: string): boolean {
  if (
    /^(?:node:|<frozen|java\.base|\/usr\/(?:lib|local)\/|\/opt\/hostedtoolcache\/|(?:testing|asm_\w{1,10}|proc|panic)\.(?:go|s)$)/.test(
      path,
    )
  )
    return true;
  return /(?:^|[\\/])(?:node_modules|site-packages|dist-packages|\.?venv|\.tox|\.nox|\.next|\.nuxt|\.pub-cache|_actions|_temp|_diag|Pods|DerivedData|hostedtoolcache|\.cargo[\\/]registry|\.m2|\.gradle|go[\\/]pkg[\\/]mod|vendor|gems)[\\/]/.test(
    path,
  );
}

/** Checks whether a path is that of a test, by the usual names. */
export function isTestPath(path: string): boolean {
  return /(?:^|[\\/])(?:tests?|__tests__|spec|specs|it)[\\/]|(?:Tests?|IT|Spec|TestCase)\.\w{1,6}$|[._-](?:test|spec)\.\w{1,5}$|(?:^|[\\/])test_[^\\/]{1,120}\.py$|_test\.(?:go|py|rb|exs?|cc|cpp)$/.test(
    path,
  );
}

const REPORT_PATH = new RegExp(
  String.raw`(?:^|[\\/._-])(?:junit|xunit|nunit|tests?[._-]?results?|reports?)(?=[\\/._-])` +
    String.raw`[^\n]{0,300}\.(?:xml|trx)$`,
  'i',
);

/** Checks whether a path is a test report by the usual names: a run writes it, so that it has no fault. */
export function isReportPath(path: string): boolean {
  return REPORT_PATH.test(path);
}

/**
 * Returns the most likely production file of a test: FooTest → Foo, test_foo.py → foo.py. Includes the folder
 * only if tests are in the same folder as their code, or in Maven's mirror of it. Returns null if the name
 * gives no clue.
 */
export function findTwin(path: string): string | null {
  const name = path.split(/[\\/]/).pop() ?? '';
  const twin = name
    .replace(/^test_(.{1,120}\.py)$/, '$1')
    .replace(/^Test(?=[A-Z])/, '')
    .replace(/(?:Tests?|IT|ITCase|Spec|TestCase)(?=\.\w{1,6}$)/, '')
    .replace(/[._-](?:test|spec)(?=\.\w{1,6}$)/, '')
    .replace(/_test(?=\.\w{1,4}$)/, '');
  if (twin === name || twin.startsWith('.')) return null;
  const folder = path
    .slice(0, path.length - name.length)
    .replace(/([\\/])test([\\/]java|[\\/]kotlin|[\\/]scala|[\\/]groovy)/, '$1main$2');
  const beside = folder.replace(/__tests__[\\/]$/, '');
  return /(?:^|[\\/])(?:tests?|spec|specs|__tests__)[\\/]/.test(beside) ? twin : beside + twin;
}

/**
 * Returns the folder of the checkout, with a slash at its end: as pytest prints it, or the part before a test
 * whose repository path is known from its dotted name or relative path. Returns null if the log does not show
 * it.
 */
function findRoot(subject: TriageSubject): string | null {
  for (const { text } of subject.excerpts) {
    const printed = /^rootdir: (\/[^\n,]{1,300}?)\/?(?:,|[ \t\r]{0,20}$)/m.exec(text)?.[1];
    if (printed !== undefined) return `${printed}/`;
  }
  const files = [...subject.failingTests.flatMap(({ file }) => file ?? []), ...listFrameFiles(subject)];
  const absolute = files.filter((file) => file.startsWith('/') && !isForeignPath(file));
  const inside = new Set(
    subject.failingTests.flatMap(({ suite, file }) => [
      ...(file === null ? [] : [file]),
      ...toModulePaths(suite),
    ]),
  );
  for (const path of inside) {
    const found = path.startsWith('/')
      ? undefined
      : absolute.find((file) => path.includes('/') && file.endsWith(`/${path}`));
    if (found !== undefined) return found.slice(0, -path.length);
  }
  return null;
}

/** Returns a path relative to the checkout. */
export function toRepositoryPath(file: string, project: { readonly root: string | null }): string {
  return project.root !== null && file.startsWith(project.root)
    ? file.slice(project.root.length)
    : getProjectPath(file);
}

function listFrameFiles(subject: TriageSubject): string[] {
  return subject.exceptions
    .slice(0, 20)
    .flatMap(({ frames }) => frames.filter(({ own }) => own).map(({ file }) => file));
}

/**
 * Returns the possible paths of a module: "tests.test_black.BlackTestCase" is in tests/test_black.py, or in a
 * package of that name.
 */
export function toModulePaths(suite: string | null): string[] {
  const parts = (suite ?? '').split('.').filter((part) => /^[a-z_]\w*$/.test(part));
  return parts.length < 2 ? [] : [`${parts.join('/')}.py`, `${parts.join('/')}/__init__.py`];
}

/** A class of the JVM as traces and test reports name it. */
export interface JvmClass {
  /**
   * The segments of its package: ["org", "apache", "commons", "csv"]. Empty if it has none or the log does
   * not show it.
   */
  readonly packages: readonly string[];
  /** The outermost class: "CSVPrinter" of "CSVPrinter$Row". */
  readonly name: string;
}

/**
 * Returns the class in a dotted name with or without a method at its end. Returns null if no segment looks
 * like a class.
 */
export function parseJvmClass(dotted: string): JvmClass | null {
  if (!/^[\w$.<>-]{1,400}$/.test(dotted)) return null;
  const segments = dotted.split('.');
  const at = segments.findIndex((segment) => /^[A-Z_$]/.test(segment));
  const name = segments[at]?.split('$')[0];
  if (name === undefined || name === '') return null;
  const packages = segments.slice(0, at);
  return packages.every((segment) => /^[a-z][\w]{0,80}$/.test(segment)) ? { packages, name } : null;
}

/**
 * Returns the path of a source file with the folders of its package, which Java and Groovy require. For
 * Kotlin and Scala, which do not, only the file name is certain.
 */
export function toSourcePath(type: JvmClass, file: string): string {
  return /\.(?:java|groovy)$/.test(file) ? [...type.packages, file].join('/') : file;
}

/**
 * Checks whether a class is a test or supports tests: its name contains "Test" as a separate word, or has the
 * ending of an integration test. `TypeSpec` is not a test in Java.
 */
export function isTestClass(name: string): boolean {
  return /(?:^|[a-z0-9_])(?:Tests?|TestNG)(?=$|[A-Z0-9_$])|[a-z0-9](?:IT|ITCase)$/.test(name);
}

/** Counts the leading segments that two packages have in common. */
export function countSharedSegments(left: readonly string[], right: readonly string[]): number {
  const different = left.findIndex((segment, at) => segment !== right[at]);
  return different === -1 ? left.length : different;
}

/** A frame in a file of the project. */
export interface OwnFrame {
  /** The path in the repository, as complete as the frame shows it. */
  readonly path: string;
  readonly line: number | null;
  readonly isTest: boolean;
  /**
   * True if the frame only creates or passes on an error of its caller: an exception's class, a method that
   * reports.
   */
  readonly onlyReports: boolean;
}

/** The properties that identify the project's own code, as far as its failing tests show them. */
export interface Project {
  /** The classes of failing tests. Their packages distinguish the project's code from libraries. */
  readonly tests: readonly JvmClass[];
  /** The names of the project's folder as tools print it: pytest's "rootdir: …/ansible". */
  readonly names: ReadonlySet<string>;
  /** The folder of the checkout with a slash at its end; null if the log does not show it. */
  readonly root: string | null;
}

const MAX_TESTS = 50;

/** Reads what identifies the project, from the failing tests or, if none is named, from the traces. */
export function readProject(subject: TriageSubject): Project {
  const named = listTestClasses(subject);
  const traced = named.some(({ packages }) => packages.length > 0)
    ? []
    : listTraces(subject).flatMap((frames) => testClassIn(frames) ?? []);
  const root = findRoot(subject);
  const name = root?.split('/').at(-2);
  const tests = takeFirstOfEach([...named, ...traced], getFullName).slice(0, MAX_TESTS);
  return { tests, names: new Set(name === undefined ? [] : [normalizeName(name)]), root };
}

/**
 * Lists all traces, those of failing tests first. A trace that belongs to both a failure and an exception is
 * listed once.
 */
export function listTraces(subject: TriageSubject): readonly (readonly StackFrame[])[] {
  const outer = new Map(
    subject.exceptions.map((entry) => [buildTraceKey(entry.frames), entry.outerFrames ?? []]),
  );
  const traces = new Map<string, readonly StackFrame[]>();
  for (const { frames } of [...subject.failures, ...subject.exceptions]) {
    const key = buildTraceKey(frames);
    if (frames.length > 0 && !traces.has(key)) traces.set(key, [...frames, ...(outer.get(key) ?? [])]);
  }
  return [...traces.values()];
}

/** Lists the project's frames of one trace, deepest first. */
export function listOwnFrames(frames: readonly StackFrame[], project: Project): OwnFrame[] {
  return frames.flatMap((frame) => {
    const type = readFrameClass(frame);
    return type === null ? parseScriptFrame(frame, project) : parseJvmFrame(frame, type, project);
  });
}

function parseJvmFrame(frame: StackFrame, type: JvmClass, project: Project): OwnFrame[] {
  if (!isOwnClass(type, frame.own, project) || !/\.\w{1,8}$/.test(frame.file)) return [];
  const isTest =
    isTestClass(type.name) ||
    /Spec\.(?:groovy|kt|scala)$/.test(frame.file) ||
    project.tests.some((test) => getFullName(test) === getFullName(type));
  const onlyReports = /(?:Exception|Error|Exceptions|Errors)$/.test(type.name) || isReporting(frame.function);
  return [{ path: toSourcePath(type, frame.file), line: frame.line, isTest, onlyReports }];
}

function parseScriptFrame(frame: StackFrame, project: Project): OwnFrame[] {
  const installed = findInstalledPath(frame.file, project);
  if (installed === null && (!frame.own || isForeignPath(frame.file))) return [];
  const path = installed ?? toRepositoryPath(frame.file, project);
  return [{ path, line: frame.line, isTest: isTestPath(path), onlyReports: isReporting(frame.function) }];
}

/**
 * Checks whether a class belongs to the project. A class of a library or runner counts only if it shares more
 * than a vendor's name with the package of a failing test.
 */
function isOwnClass(type: JvmClass, isOwnPackage: boolean, { tests }: Project): boolean {
  if (tests.length === 0) return isOwnPackage;
  return tests.some(({ packages }) => {
    if (packages.length === 0) return isOwnPackage;
    const shared = countSharedSegments(packages, type.packages);
    const needed = isOwnPackage ? (isVendorless(packages) ? 1 : 2) : 3;
    return shared >= Math.min(needed, isOwnPackage ? packages.length : 3);
  });
}

/**
 * Checks whether a package begins with the project's name ("gumtree.spoon") instead of a domain
 * ("org.jsoup").
 */
function isVendorless(packages: readonly string[]): boolean {
  return !/^(?:[a-z]{2,3}|info|name|biz)$/.test(packages[0] ?? '');
}

/**
 * Returns the path after site-packages if the project itself is installed there for its tests, as tox does.
 * Returns null otherwise.
 */
function findInstalledPath(file: string, { names }: Project): string | null {
  const inside = /[\\/](?:site|dist)-packages[\\/](?:[^\\/]{1,120}\.egg[\\/])?(.{1,300})$/.exec(file)?.[1];
  const top = inside?.split(/[\\/]/)[0];
  return inside !== undefined && top !== undefined && names.has(normalizeName(top)) ? inside : null;
}

function isReporting(name: string | null): boolean {
  const method = name?.split(/[.:]/).at(-1) ?? '';
  return /^_{0,2}(?:throw|raise|report|fail|abort|panic|reject|die)(?:$|[A-Z_])|(?:Exception|Error)$|_(?:error|exception)$|^handle(?:Missing|Unexpected|Unknown|Weird|Bad|Invalid)/.test(
    method,
  );
}

/**
 * Returns the class that the runner calls: the outermost one with the name of a test, or else the one that a
 * runner calls by reflection.
 */
function testClassIn(frames: readonly StackFrame[]): JvmClass | null {
  const types = frames.map(readFrameClass);
  const isRunner = (type: JvmClass | null | undefined) =>
    type != null &&
    /^(?:java|javax|jdk|sun|junit|org\.(?:junit|testng|gradle|mockito)|org\.apache\.(?:maven|tools\.ant)|com\.(?:sun|intellij))(?:\.|$)/.test(
      type.packages.join('.'),
    );
  const named = types.findLast((type) => type !== null && isTestClass(type.name) && !isRunner(type));
  if (named !== undefined) return named;
  const entered = types.findLastIndex(
    (type, at) => type !== null && !isRunner(type) && isRunner(types[at + 1]),
  );
  return types[entered] ?? null;
}

function readFrameClass({ file, function: name }: StackFrame): JvmClass | null {
  return /\.(?:java|kt|scala|groovy)$|^(?:Unknown Source|Native Method)$/.test(file) && name !== null
    ? parseJvmClass(name)
    : null;
}

/**
 * Lists the classes of the failing tests. If a summary omits the package, it is taken from another line of
 * the log.
 */
function listTestClasses(subject: TriageSubject): JvmClass[] {
  const types = subject.failingTests
    .filter((test) => isJvmTest(test))
    .flatMap(({ suite }) => parseJvmClass(suite ?? '') ?? []);
  if (types.every(({ packages }) => packages.length > 0)) return types;
  const text = subject.excerpts.map((excerpt) => excerpt.text).join('\n');
  const named = Array.from(
    text.matchAll(/(?<![\w.])(?:[a-z]\w{0,40}\.){1,12}[A-Z]\w{0,120}/g),
    ([name]) => parseJvmClass(name) ?? [],
  ).flat();
  return types.map((type) =>
    type.packages.length > 0 ? type : (named.find(({ name }) => name === type.name) ?? type),
  );
}

function isJvmTest({ framework, file }: FailingTest): boolean {
  return (
    /^(?:maven|junit|gradle)$/.test(framework) || (file !== null && /\.(?:java|kt|scala|groovy)$/.test(file))
  );
}

function getFullName({ packages, name }: JvmClass): string {
  return [...packages, name].join('.');
}

function buildTraceKey(frames: readonly StackFrame[]): string {
  return frames.map(({ file, line, function: name }) => `${file}:${line}:${name}`).join('\n');
}

function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[-.]/g, '_');
}
