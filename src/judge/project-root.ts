import type { TriageSubject } from '../domain/triage.ts';
import { isForeignPath, projectPath } from './paths.ts';

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
