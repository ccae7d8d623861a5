import type { FailingTest } from '../domain/failure.ts';
import { append } from '../lib/lists.ts';

const JVM_ENDINGS = ['java', 'kt', 'scala', 'groovy'];

/**
 * Paths that may hold a failing test, most likely first: the file that its report names, then what its class or module
 * name stands for (`com.shop.CartTest` → `com/shop/CartTest.java`, `tests.test_cart.TestCart` → `tests/test_cart.py`).
 */
export function testFilePaths(test: Pick<FailingTest, 'file' | 'suite' | 'name'>): string[] {
  const paths: string[] = [];
  if (test.file !== null) paths.push(test.file);
  const inName = test.name.match(/^([^\s:]+\.\w{1,5})::/)?.[1];
  if (inName !== undefined) paths.push(inName);
  for (const name of [test.suite, test.name]) if (name !== null) append(paths, pathsOfDotted(name));
  return [...new Set(paths)];
}

/** A dotted class or module name as paths; nothing for a name with spaces or slashes, which is a sentence or a path. */
function pathsOfDotted(name: string): string[] {
  const dotted = name.replace(/[(#[$].*/s, '');
  if (/\.(?:[cm]?[jt]sx?|py|rb|go|rs|php)$/.test(dotted) && !/\s/.test(dotted)) return [dotted];
  if (!/^[\w]+(?:\.[\w]+)*$/.test(dotted)) return [];
  const parts = dotted.split('.');
  const classAt = parts.findIndex((part) => /^[A-Z]/.test(part));
  if (classAt >= 0) {
    const jvm = parts.slice(0, classAt + 1).join('/');
    const module = parts.slice(0, classAt).join('/');
    return [...JVM_ENDINGS.map((ending) => `${jvm}.${ending}`), ...(module === '' ? [] : [`${module}.py`]), `${parts[classAt]}.cs`];
  }
  return parts.length < 2 ? [] : [`${parts.join('/')}.py`, `${parts.slice(0, -1).join('/')}.py`];
}
