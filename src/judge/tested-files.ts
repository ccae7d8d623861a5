import type { FailingTest } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { guessesOf } from './guessed-twins.ts';
import { type JvmClass, sourcePathOf } from './jvm-classes.ts';
import type { Project } from './own-frames.ts';
import { twinOf } from './paths.ts';
import { modulesOf, pathIn } from './project-root.ts';

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
