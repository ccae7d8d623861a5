import type { TriageSubject } from '../domain/triage.ts';
import { projectPath as pathWithoutWorkspace } from '../log/paths.ts';

/** Whether a path belongs to a package, a runtime or a tool rather than to the project. */
export function isForeignPath(path: string): boolean {
  if (
    /^(?:node:|<frozen|java\.base|\/usr\/(?:lib|local)\/|\/opt\/hostedtoolcache\/|(?:testing|asm_\w{1,10}|proc|panic)\.(?:go|s)$)/.test(
      path,
    )
  )
    return true;
  return /(?:^|[\\/])(?:node_modules|site-packages|dist-packages|\.?venv|\.tox|\.nox|\.next|\.nuxt|\.pub-cache|Pods|DerivedData|hostedtoolcache|\.cargo[\\/]registry|\.m2|\.gradle|go[\\/]pkg[\\/]mod|vendor|gems)[\\/]/.test(
    path,
  );
}

/** Whether a path is a test by the usual names. */
export function isTestPath(path: string): boolean {
  return /(?:^|[\\/])(?:tests?|__tests__|spec|specs|it)[\\/]|(?:Tests?|IT|Spec|TestCase)\.\w{1,6}$|[._-](?:test|spec)\.\w{1,5}$|(?:^|[\\/])test_[^\\/]{1,120}\.py$|_test\.(?:go|py|rb|exs?|cc|cpp)$/.test(
    path,
  );
}

/**
 * Where a test's production file most likely is: FooTest → Foo, test_foo.py → foo.py. Its folder is given only where tests lie
 * beside their code, or in Maven's mirror of it. Null where the name says nothing.
 */
export function twinOf(path: string): string | null {
  const name = path.split(/[\\/]/).pop() ?? '';
  const twin = name
    .replace(/^test_(.{1,120}\.py)$/, '$1')
    .replace(/^Test(?=[A-Z])/, '')
    .replace(/(?:Tests?|IT|ITCase|Spec|TestCase)(?=\.\w{1,6}$)/, '')
    .replace(/[._-](?:test|spec)(?=\.\w{1,6}$)/, '')
    .replace(/_test(?=\.\w{1,4}$)/, '');
  if (twin === name || twin.startsWith('.')) return null;
  const folder = path.slice(0, path.length - name.length).replace(/([\\/])test([\\/]java|[\\/]kotlin|[\\/]scala|[\\/]groovy)/, '$1main$2');
  const beside = folder.replace(/__tests__[\\/]$/, '');
  return /(?:^|[\\/])(?:tests?|spec|specs|__tests__)[\\/]/.test(beside) ? twin : beside + twin;
}

/** The path inside the repository: without the folder a CI system checks out into. */
export function projectPath(path: string): string {
  return pathWithoutWorkspace(path);
}

/**
 * The folder that the project was checked out into, with a slash at its end: as pytest prints it, or what stands before a test whose
 * place in the repository is known from its dotted name or its relative path. Null where the log does not tell.
 */
export function rootOf(subject: TriageSubject): string | null {
  for (const { text } of subject.excerpts) {
    const printed = /^rootdir: (\/[^\n,]{1,300}?)\/?(?:,|[ \t\r]{0,20}$)/m.exec(text)?.[1];
    if (printed !== undefined) return `${printed}/`;
  }
  const files = [...subject.failingTests.flatMap(({ file }) => file ?? []), ...framesOf(subject)];
  const absolute = files.filter((file) => file.startsWith('/') && !isForeignPath(file));
  const inside = new Set(subject.failingTests.flatMap(({ suite, file }) => [...(file === null ? [] : [file]), ...modulesOf(suite)]));
  for (const path of inside) {
    const found = path.startsWith('/') ? undefined : absolute.find((file) => path.includes('/') && file.endsWith(`/${path}`));
    if (found !== undefined) return found.slice(0, -path.length);
  }
  return null;
}

/** A path in the repository: without the folder of the checkout. */
export function pathIn(file: string, project: { readonly root: string | null }): string {
  return project.root !== null && file.startsWith(project.root) ? file.slice(project.root.length) : projectPath(file);
}

function framesOf(subject: TriageSubject): string[] {
  return subject.exceptions.slice(0, 20).flatMap(({ frames }) => frames.filter(({ own }) => own).map(({ file }) => file));
}

/** "tests.test_black.BlackTestCase" lies in tests/test_black.py, or in the package of that name. */
export function modulesOf(suite: string | null): string[] {
  const parts = (suite ?? '').split('.').filter((part) => /^[a-z_]\w*$/.test(part));
  return parts.length < 2 ? [] : [`${parts.join('/')}.py`, `${parts.join('/')}/__init__.py`];
}

/** A class of the JVM as traces and test reports name it. */
export interface JvmClass {
  /** Segments of its package: ["org", "apache", "commons", "csv"]; empty where it has none or the log leaves it out. */
  readonly packages: readonly string[];
  /** The outermost class: "CSVPrinter" of "CSVPrinter$Row". */
  readonly name: string;
}

/** The class of a dotted name with or without a method behind it; null where no segment looks like a class. */
export function jvmClassOf(dotted: string): JvmClass | null {
  if (!/^[\w$.<>-]{1,400}$/.test(dotted)) return null;
  const segments = dotted.split('.');
  const at = segments.findIndex((segment) => /^[A-Z_$]/.test(segment));
  const name = segments[at]?.split('$')[0];
  if (name === undefined || name === '') return null;
  const packages = segments.slice(0, at);
  return packages.every((one) => /^[a-z][\w]{0,80}$/.test(one)) ? { packages, name } : null;
}

/**
 * A source file with the folders of its package, as Java and Groovy demand them. Kotlin and Scala may leave folders out, so that only
 * the file's own name is certain there.
 */
export function sourcePathOf(type: JvmClass, file: string): string {
  return /\.(?:java|groovy)$/.test(file) ? [...type.packages, file].join('/') : file;
}

/** Whether a class is a test or helps tests, by a word "Test" in its name or an integration test's ending. `TypeSpec` is none in Java. */
export function isTestClass(name: string): boolean {
  return /(?:^|[a-z0-9_])(?:Tests?|TestNG)(?=$|[A-Z0-9_$])|[a-z0-9](?:IT|ITCase)$/.test(name);
}

/** How many segments two packages share from their root. */
export function sharedSegments(one: readonly string[], other: readonly string[]): number {
  const different = one.findIndex((segment, at) => segment !== other[at]);
  return different === -1 ? one.length : different;
}
