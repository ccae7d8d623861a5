import type { Facts } from './facts.ts';
import { isForeignPath } from './paths.ts';

/** The module that a line says is missing, as written: "react", "./tax", "six", "app.models"; null where it names none. */
export function missingModuleName(text: string): string | null {
  for (const pattern of NAMED) {
    const name = pattern.exec(text)?.[1];
    if (name !== undefined) return name;
  }
  return null;
}

/** Whether the missing module is a file of the project: a relative or absolute path, or a root that our own frames live under. */
export function isOwnModule(text: string, facts: Facts): boolean {
  const name = missingModuleName(text);
  if (name === null) return false;
  if (isPathName(name)) return !isForeignPath(name);
  const from = /cannot import name .{1,120}\((\/[^)\n]{1,300})\)/.exec(text)?.[1];
  if (from !== undefined) return !isForeignPath(from);
  const root = name.split(/[./]/)[0] ?? name;
  return ownRoots(facts).has(root);
}

/** Whether a missing header is one of the project: quoted by a path that our own sources live under. */
export function isOwnHeader(text: string, facts: Facts): boolean {
  const header = /([\w./+-]{1,160}\.h(?:pp|h|xx)?)'?(?::| file)/.exec(text)?.[1];
  if (header === undefined) return false;
  const folder = header.includes('/') ? (header.split('/')[0] ?? '') : '';
  return header.startsWith('.') || (folder !== '' && ownRoots(facts).has(folder));
}

/** Whether the name goes through a path mapping: "@/x", "~/x", "src/x". */
export function isMappedName(name: string): boolean {
  return /^(?:@\/|~\/|#\/|src\/)/.test(name);
}

/** The name under which the package of a Python module is published, where it differs. */
export function packageOf(module: string): string {
  return PUBLISHED_AS[module.split('.')[0] ?? module] ?? module;
}

const PUBLISHED_AS: Readonly<Record<string, string>> = {
  yaml: 'PyYAML',
  cv2: 'opencv-python',
  PIL: 'Pillow',
  sklearn: 'scikit-learn',
  bs4: 'beautifulsoup4',
  dotenv: 'python-dotenv',
  dateutil: 'python-dateutil',
  Crypto: 'pycryptodome',
  jwt: 'PyJWT',
  git: 'GitPython',
  attr: 'attrs',
};

const NAMED: readonly RegExp[] = [
  /No module named '?([\w.]{1,120})'?/,
  /Cannot find (?:module|package) '([^'\n]{1,200})'/,
  /Can't resolve '([^'\n]{1,200})'/,
  /Failed to resolve import "([^"\n]{1,200})"/,
  /Could not resolve "([^"\n]{1,200})"/,
  /cannot import name .{1,120}? from (?:partially initialized module )?'?([\w.]{1,120})/,
  /module named "([\w.]{1,120})"/,
];

function isPathName(name: string): boolean {
  return /^(?:\.{1,2}\/|\/|[A-Za-z]:\\)/.test(name) || isMappedName(name);
}

/** First folders of own files: "app" of app/models.py, "src" and "billing" of src/billing/tax.py. */
function ownRoots(facts: Facts): ReadonlySet<string> {
  const roots = new Set<string>();
  for (const path of ownPaths(facts)) {
    const parts = path.replace(/^\.?\//, '').split(/[\\/]/);
    for (const part of parts.slice(-4)) roots.add(part.replace(/\.\w{1,4}$/, ''));
  }
  for (const common of ['tests', 'test', 'src', 'lib', 'node_modules', 'python', '']) roots.delete(common);
  return roots;
}

function ownPaths(facts: Facts): string[] {
  const frames = facts.subject.exceptions.flatMap((entry) => entry.frames.filter((frame) => frame.own).map((frame) => frame.file));
  const tests = facts.subject.failingTests.flatMap((test) => (test.file === null ? [] : [test.file]));
  const diagnosed = facts.subject.diagnostics.flatMap((entry) => (entry.file === null ? [] : [entry.file]));
  return [...frames, ...tests, ...diagnosed].filter((path) => !isForeignPath(path));
}
