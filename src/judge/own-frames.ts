import type { FailingTest, StackFrame } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import {
  isForeignPath,
  isTestClass,
  isTestPath,
  type JvmClass,
  jvmClassOf,
  pathIn,
  rootOf,
  sharedSegments,
  sourcePathOf,
} from './paths.ts';

/** A frame in a file of the project. */
export interface OwnFrame {
  /** As long a part of the repository's path as the frame tells. */
  readonly path: string;
  readonly line: number | null;
  readonly isTest: boolean;
  /** The frame only words or passes on an error that its caller met: an exception's class, a method that reports. */
  readonly onlyReports: boolean;
}

/** What belongs to the project, as far as its failing tests tell. */
export interface Project {
  /** Classes of failing tests; their packages tell own code from a library's. */
  readonly tests: readonly JvmClass[];
  /** Names of the project's folder as tools print it: pytest's "rootdir: …/ansible". */
  readonly names: ReadonlySet<string>;
  /** The folder the project is checked out into, where the log tells it; ends in a slash. */
  readonly root: string | null;
}

const MAX_TESTS = 50;

/** Reads from the failing tests, and where none is named from the traces, what belongs to the project. */
export function projectOf(subject: TriageSubject): Project {
  const named = testClassesOf(subject);
  const traced = named.some(({ packages }) => packages.length > 0) ? [] : tracesOf(subject).flatMap((frames) => testClassIn(frames) ?? []);
  const root = rootOf(subject);
  const name = root?.split('/').at(-2);
  return { tests: distinct([...named, ...traced]), names: new Set(name === undefined ? [] : [normalName(name)]), root };
}

/** All traces, those of failing tests first; a trace that hangs on both is given once. */
export function tracesOf(subject: TriageSubject): readonly (readonly StackFrame[])[] {
  const outer = new Map(subject.exceptions.map((entry) => [keyOf(entry.frames), entry.outerFrames ?? []]));
  const traces = new Map<string, readonly StackFrame[]>();
  for (const { frames } of [...subject.failures, ...subject.exceptions]) {
    const key = keyOf(frames);
    if (frames.length > 0 && !traces.has(key)) traces.set(key, [...frames, ...(outer.get(key) ?? [])]);
  }
  return [...traces.values()];
}

/** The project's frames of one trace, deepest first. */
export function ownFramesOf(frames: readonly StackFrame[], project: Project): OwnFrame[] {
  return frames.flatMap((frame) => {
    const type = jvmTypeOf(frame);
    return type === null ? scriptFrame(frame, project) : jvmFrame(frame, type, project);
  });
}

function jvmFrame(frame: StackFrame, type: JvmClass, project: Project): OwnFrame[] {
  if (!isOwnClass(type, frame.own, project) || !/\.\w{1,8}$/.test(frame.file)) return [];
  const isTest =
    isTestClass(type.name) || /Spec\.(?:groovy|kt|scala)$/.test(frame.file) || project.tests.some((test) => isSameClass(test, type));
  const onlyReports = /(?:Exception|Error|Exceptions|Errors)$/.test(type.name) || isReporting(frame.function);
  return [{ path: sourcePathOf(type, frame.file), line: frame.line, isTest, onlyReports }];
}

function scriptFrame(frame: StackFrame, project: Project): OwnFrame[] {
  const installed = installedPath(frame.file, project);
  if (installed === null && (!frame.own || isForeignPath(frame.file))) return [];
  const path = installed ?? pathIn(frame.file, project);
  return [{ path, line: frame.line, isTest: isTestPath(path), onlyReports: isReporting(frame.function) }];
}

/** A library's or runner's class is own only where it shares more of its package with a failing test than a vendor's name. */
function isOwnClass(type: JvmClass, own: boolean, { tests }: Project): boolean {
  if (tests.length === 0) return own;
  return tests.some(({ packages }) => {
    if (packages.length === 0) return own;
    const shared = sharedSegments(packages, type.packages);
    const needed = own ? (isVendorless(packages) ? 1 : 2) : 3;
    return shared >= Math.min(needed, own ? packages.length : 3);
  });
}

/** "gumtree.spoon" begins with the project's name, "org.jsoup" with a domain. */
function isVendorless(packages: readonly string[]): boolean {
  return !/^(?:[a-z]{2,3}|info|name|biz)$/.test(packages[0] ?? '');
}

/** The project itself, installed for its tests as tox does: the part of the path behind site-packages. */
function installedPath(file: string, { names }: Project): string | null {
  const inside = /[\\/](?:site|dist)-packages[\\/](?:[^\\/]{1,120}\.egg[\\/])?(.{1,300})$/.exec(file)?.[1];
  const top = inside?.split(/[\\/]/)[0];
  return inside !== undefined && top !== undefined && names.has(normalName(top)) ? inside : null;
}

function isReporting(name: string | null): boolean {
  const method = name?.split(/[.:]/).at(-1) ?? '';
  return /^_{0,2}(?:throw|raise|report|fail|abort|panic|reject|die)(?:$|[A-Z_])|(?:Exception|Error)$|_(?:error|exception)$|^handle(?:Missing|Unexpected|Unknown|Weird|Bad|Invalid)/.test(
    method,
  );
}

/** The class that the runner calls: the outermost one that is a test by its name, else what reflection enters for a runner. */
function testClassIn(frames: readonly StackFrame[]): JvmClass | null {
  const types = frames.map(jvmTypeOf);
  const isRunner = (type: JvmClass | null | undefined) =>
    type != null &&
    /^(?:java|javax|jdk|sun|junit|org\.(?:junit|testng|gradle|mockito)|org\.apache\.(?:maven|tools\.ant)|com\.(?:sun|intellij))(?:\.|$)/.test(
      type.packages.join('.'),
    );
  const named = types.findLast((type) => type !== null && isTestClass(type.name) && !isRunner(type));
  if (named !== undefined) return named;
  const entered = types.findLastIndex((type, at) => type !== null && !isRunner(type) && isRunner(types[at + 1]));
  return types[entered] ?? null;
}

function jvmTypeOf({ file, function: name }: StackFrame): JvmClass | null {
  return /\.(?:java|kt|scala|groovy)$|^(?:Unknown Source|Native Method)$/.test(file) && name !== null ? jvmClassOf(name) : null;
}

/** Classes of the failing tests. A summary leaves packages out; another line of the log often has them. */
function testClassesOf(subject: TriageSubject): JvmClass[] {
  const types = subject.failingTests.filter((test) => isJvmTest(test)).flatMap(({ suite }) => jvmClassOf(suite ?? '') ?? []);
  if (types.every(({ packages }) => packages.length > 0)) return types;
  const text = subject.excerpts.map((excerpt) => excerpt.text).join('\n');
  const named = Array.from(text.matchAll(/(?<![\w.])(?:[a-z]\w{0,40}\.){1,12}[A-Z]\w{0,120}/g), ([name]) => jvmClassOf(name) ?? []).flat();
  return types.map((type) => (type.packages.length > 0 ? type : (named.find(({ name }) => name === type.name) ?? type)));
}

function isJvmTest({ framework, file }: FailingTest): boolean {
  return /^(?:maven|junit|gradle)$/.test(framework) || (file !== null && /\.(?:java|kt|scala|groovy)$/.test(file));
}

function distinct(types: readonly JvmClass[]): JvmClass[] {
  return [...new Map(types.map((type) => [`${type.packages.join('.')}.${type.name}`, type])).values()].slice(0, MAX_TESTS);
}

function isSameClass(one: JvmClass, other: JvmClass): boolean {
  return one.name === other.name && one.packages.join('.') === other.packages.join('.');
}

function keyOf(frames: readonly StackFrame[]): string {
  return frames.map(({ file, line, function: name }) => `${file}:${line}:${name}`).join('\n');
}

function normalName(name: string): string {
  return name.toLowerCase().replace(/[-.]/g, '_');
}
