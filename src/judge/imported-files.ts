import type { Evidence } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/subject.ts';
import { isTestClass, jvmClassOf, sharedSegments, sourcePathOf } from './jvm-classes.ts';
import { projectOf } from './own-frames.ts';
import { isTestPath } from './paths.ts';

const MAX_IMPORTS = 5;

/** Files of the project that a failing test's source imports, where a tool has read it; in their order, at most five. */
export function importedFiles(subject: TriageSubject, evidence: readonly Evidence[]): string[] {
  const sources = evidence.filter(({ tool }) => tool === 'read_test_file');
  const found = sources.flatMap(({ source, text }) => text.split('\n').flatMap((line) => importedBy(source, line, subject)));
  return [...new Set(found)].filter((path) => !isTestPath(path)).slice(0, MAX_IMPORTS);
}

function importedBy(file: string, line: string, subject: TriageSubject): string[] {
  const code = line.replace(/^\s{0,8}(?:\d{1,7}[:| ]\s?)?/, '').slice(0, 400);
  if (/\.(?:java|groovy)$/.test(file)) return javaImport(file, code, subject);
  if (/\.[cm]?[jt]sx?$/.test(file)) return scriptImport(file, code);
  return file.endsWith('.py') ? pythonImport(file, code, subject) : [];
}

/** A class is the project's where it shares three segments with a failing test's package, or the whole of a shorter one. */
function javaImport(file: string, code: string, subject: TriageSubject): string[] {
  const type = jvmClassOf(/^import (?:static )?([\w.]{3,300});?/.exec(code)?.[1] ?? '');
  if (type === null || isTestClass(type.name)) return [];
  const { tests } = projectOf(subject);
  const isOwn = tests.some(
    ({ packages }) => packages.length > 0 && sharedSegments(packages, type.packages) >= Math.min(3, packages.length),
  );
  return isOwn ? [sourcePathOf(type, `${type.name}${file.slice(file.lastIndexOf('.'))}`)] : [];
}

/** `../src/cart` beside `test/cart.test.ts` is `src/cart.ts`: another ending only where the import writes one. */
function scriptImport(file: string, code: string): string[] {
  const named = /(?:\bfrom |\brequire\(|^import )\s{0,4}['"](\.{1,2}\/[^'"]{1,200})['"]/.exec(code)?.[1];
  if (named === undefined) return [];
  const parts = file.split('/').slice(0, -1);
  for (const part of named.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  const path = parts.join('/');
  return [/\.[cm]?[jt]sx?$/.test(path) ? path : `${path}${file.slice(file.lastIndexOf('.'))}`];
}

/** Only what is imported from a package called like the project or one of the test's own folders: the rest may be a library. */
function pythonImport(file: string, code: string, subject: TriageSubject): string[] {
  const name = /^from ([\w.]{2,200}) import /.exec(code)?.[1] ?? /^import ([\w.]{2,200})/.exec(code)?.[1];
  const top = name?.split('.')[0] ?? '';
  const known = new Set([...file.split('/').slice(0, -1), ...projectOf(subject).names]);
  if (name?.includes('.') !== true || !known.has(top)) return [];
  return [`${name.replaceAll('.', '/')}.py`];
}
