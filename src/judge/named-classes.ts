import type { TriageSubject } from '../domain/triage.ts';
import { isTestClass, type JvmClass, jvmClassOf, sharedSegments, sourcePathOf } from './jvm-classes.ts';
import type { Project } from './own-frames.ts';

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
