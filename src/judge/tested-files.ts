import type { FailingTest } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import type { Project } from './own-frames.ts';
import { isTestClass, type JvmClass, jvmClassOf, modulesOf, pathIn, sharedSegments, sourcePathOf, twinOf } from './paths.ts';

/** A failing test's file, and the files that its name says it tests: its twin first, then bolder guesses. */
export interface TestedFiles {
  /** For people. */
  readonly name: string;
  readonly file: string;
  readonly line: number | null;
  readonly twin: string | null;
  /** `StringUtilsTrimTest` may test `StringUtils`. */
  readonly guesses: readonly string[];
}

const MAX_TESTS = 20;

/** The files of the failing tests; where no test was named, those of the test classes that the traces lead to. */
export function testedFilesOf(subject: TriageSubject, project: Project): TestedFiles[] {
  const extension = extensionOf(subject);
  const named = subject.failingTests.slice(0, MAX_TESTS).flatMap((test) => {
    const type = classOfTest(test, project);
    const file = type === null ? (test.file ?? moduleOfTest(test)) : pathOfTest(test.file, type, extension);
    return file === null ? [] : [testedBy(test.name, pathIn(file, project), test.line)];
  });
  if (subject.failingTests.length > 0) return named;
  return project.tests.slice(0, MAX_TESTS).map((type) => testedBy(type.name, sourcePathOf(type, `${type.name}${extension}`), null));
}

function testedBy(name: string, file: string, line: number | null): TestedFiles {
  const twin = twinOf(file);
  return { name, file, line, twin, guesses: guessesOf(file, twin) };
}

/** unittest names a test that it could not trace by its module alone. */
function moduleOfTest({ framework, suite }: FailingTest): string | null {
  return framework === 'unittest' ? (modulesOf(suite)[0] ?? null) : null;
}

function classOfTest({ suite, file }: FailingTest, { tests }: Project): JvmClass | null {
  const simple = (suite ?? '')
    .split('.')
    .find((part) => /^[A-Z]/.test(part))
    ?.split('$')[0];
  const known = tests.find(
    (type) => type.name === simple && (type.packages.length === 0 || !suite?.includes('.') || suite.startsWith(type.packages.join('.'))),
  );
  return known !== undefined && (file === null || /\.(?:java|kt|scala|groovy)$/.test(file)) ? known : null;
}

/** A test's file as the log gives it, with the folders of its package where the log leaves them out. */
function pathOfTest(file: string | null, type: JvmClass, extension: string): string {
  const own = file?.split(/[\\/]/).at(-1)?.startsWith(`${type.name}.`) === true ? file : `${type.name}${extension}`;
  return /[\\/]/.test(own) ? own : sourcePathOf(type, own);
}

/** What the project's own sources end in, by the traces: Java unless only another language of the JVM is seen. */
function extensionOf(subject: TriageSubject): string {
  const files = subject.exceptions.flatMap(({ frames }) => frames.filter(({ own }) => own).map(({ file }) => file));
  if (files.some((file) => file.endsWith('.java'))) return '.java';
  return /\.(?:kt|scala|groovy)$/.exec(files.find((file) => /\.(?:kt|scala|groovy)$/.test(file)) ?? '')?.[0] ?? '.java';
}

/** Bolder guesses than the twin at what a test file tests, by its name alone; at most two, the likelier first. */
function guessesOf(file: string, twin: string | null): string[] {
  return (file.endsWith('.py') ? moduleGuesses(file) : classGuesses(twin ?? file)).slice(0, 2);
}

/** `test_utils_gz.py` tests `utils/gz.py` where tests lie flat, or `utils.py`; the package `test_settings` tests `settings`. */
function moduleGuesses(file: string): string[] {
  const name = /(?:^|[\\/])test_([a-z0-9_]{2,120})(?:\.py|[\\/]__init__\.py)$/.exec(file)?.[1];
  if (name === undefined) return [];
  const packaged = file.endsWith('__init__.py');
  const at = name.lastIndexOf('_');
  if (at < 2 || at === name.length - 1) return packaged ? [`${name}/__init__.py`, `${name}.py`] : [];
  return [`${name.slice(0, at)}/${name.slice(at + 1)}.py`, packaged ? `${name}.py` : `${name.slice(0, at)}.py`];
}

/** The name without a ticket's number, and the longest part of it that ends as classes usually do. */
function classGuesses(path: string): string[] {
  const [, folder = '', name = '', extension = ''] = /^(.*\/)?([A-Z][A-Za-z0-9]{1,120})(\.(?:java|kt|scala|groovy|cs))$/.exec(path) ?? [];
  const whole = name.replace(/(?:Bug|Issue|Jira)?\d{2,7}$/, '');
  const role = ROLE.exec(whole.slice(0, -1))?.[0];
  const shorter = [whole, role].filter((one) => one !== undefined && one.length > 3 && one !== name && !isTestClass(one));
  return [...new Set(shorter)].map((one) => `${folder}${one}${extension}`);
}

/** What classes are usually called by at their end, with another word behind it. */
const ROLE =
  /^[A-Z]\w{0,80}(?:Utils?|Helper|Builder|Factory|Parser|Reader|Writer|Formatter|Converter|Handler|Manager|Service|Controller|Repository|Provider|Client|Server|Serializer|Deserializer|Mapper|Validator|Resolver|Generator|Processor|Iterator|Buffer|Cache|Registry|Engine|Compiler|Loader|Scanner)(?=[A-Z0-9])/;

const MAX_MESSAGE = 2_000;
const MAX_NAMED = 4;
/** Segments that a class must share with a failing test's package to be the project's; of a shorter package, all of them. */
const SHARED = 3;

/** Source files of the project's own classes that the failure's messages name in full, in their order. */
export function namedClasses(subject: TriageSubject, { tests }: Project): string[] {
  const said = [...subject.exceptions.map(({ message }) => message), ...subject.failures.map(({ message }) => message)];
  const types = said.flatMap((text) => classesIn(text.slice(0, MAX_MESSAGE)));
  const own = types.filter((type) => !isTestClass(type.name) && tests.some((test) => isOwn(type, test)));
  return [...new Set(own.map((type) => sourcePathOf(type, `${type.name}.java`)))].slice(0, MAX_NAMED);
}

function classesIn(text: string): JvmClass[] {
  return Array.from(text.matchAll(/(?<![\w.$])(?:[a-z]\w{0,40}\.){2,10}[A-Z]\w{0,100}/g), ([name]) => jvmClassOf(name) ?? []).flat();
}

function isOwn(type: JvmClass, test: JvmClass): boolean {
  return test.packages.length > 0 && sharedSegments(test.packages, type.packages) >= Math.min(SHARED, test.packages.length);
}
