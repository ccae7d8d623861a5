import goTable from './go.json' with { type: 'json' };
import type { Tool, VersionNeed } from './need.ts';
import nodeTable from './node.json' with { type: 'json' };
import pythonTable from './python.json' with { type: 'json' };

const NODE: Readonly<Record<string, string>> = nodeTable.members;
const PYTHON: Readonly<Record<string, string>> = pythonTable.members;
const GO: Readonly<Record<string, string>> = goTable.members;

/**
 * Looks up the member that an error message reports as missing. Returns its name and the version that added
 * it, or with a minus sign the version that removed it. Returns undefined if the table does not contain it.
 */
type Lookup = (
  groups: Readonly<Record<string, string | undefined>>,
) => readonly [subject: string, version: string] | undefined;

interface MessageRow {
  readonly tool: Tool;
  readonly pattern: RegExp;
  readonly find: Lookup;
}

/** Messages about a missing name that a version of the language or its library may explain. */
// biome-ignore format: one row for each message
const ROWS: readonly MessageRow[] = [
  { tool: 'Node', pattern: /(?:(?<receiver>[\w$.]{1,120})\.)?(?<name>[\w$]{1,60})\)? is not a (?:function|constructor)\b/, find: findCalled },
  { tool: 'Node', pattern: /requested module '(?<module>(?:node:)?[\w/]{1,40})' does not provide an export named '(?<name>\w{1,60})'/, find: ({ module, name }) => lookUp(NODE, `${getNodeModule(module)}.${name}`, name) },
  { tool: 'Node', pattern: /ReferenceError: (?<name>[A-Za-z]\w{1,60}) is not defined/, find: ({ name }) => lookUp(NODE, name ?? '', name) },
  { tool: 'Node', pattern: /(?:No such built-in module: |Cannot find (?:module|package) ')(?<module>node:[\w/]{1,40})/, find: ({ module }) => lookUp(NODE, module ?? '', module) },
  { tool: 'Node', pattern: /SyntaxError: Unexpected token '(?<token>\?\?=|\|\|=|&&=)'/, find: ({ token }) => [`The operator \`${token}\``, '15.0.0'] },
  { tool: 'Node', pattern: /SyntaxError: Unexpected identifier 'assert'/, find: () => ['`import … assert`', '-22.0.0'] },
  { tool: 'Python', pattern: /cannot import name '(?<name>\w{1,80})' from '(?<module>[\w.]{1,120})'/, find: ({ module, name }) => lookUp(PYTHON, `${module}.${name}`) },
  { tool: 'Python', pattern: /module '(?<module>[\w.]{1,120})' has no attribute '(?<name>\w{1,80})'/, find: ({ module, name }) => lookUp(PYTHON, `${module}.${name}`) },
  { tool: 'Python', pattern: /No module named '(?<module>[\w.]{1,120})'/, find: ({ module }) => lookUp(PYTHON, module ?? '') ?? lookUp(PYTHON, (module ?? '').split('.')[0] ?? '') },
  { tool: 'Python', pattern: /(?:type object '(?<type>[\w.]{1,80})'|'(?<object>[\w.]{1,80})' object) has no attribute '(?<name>\w{1,80})'/, find: ({ type, object, name }) => findMethod(type ?? object ?? '', name ?? '') },
  { tool: 'Python', pattern: /unsupported operand type\(s\) for \|: '(?:type|_GenericAlias|ABCMeta|NoneType)' and '(?:type|NoneType|_GenericAlias|ABCMeta)'/, find: () => ['`X | Y` between types', '3.10'] },
  { tool: 'Python', pattern: /'(?:type|ABCMeta)' object is not subscriptable/, find: () => ['A built-in type with parameters, such as `list[int]`,', '3.9'] },
  { tool: 'Go', pattern: /undefined: (?<pkg>[a-z]\w{1,40})\.(?<name>[A-Z]\w{1,60})/, find: ({ pkg, name }) => findGo(pkg ?? '', name ?? '') },
  { tool: 'Go', pattern: /package (?<pkg>[a-z][\w/]{1,60}) is not in (?:std|GOROOT)/, find: ({ pkg }) => lookUp(GO, pkg ?? '', pkg) },
  { tool: 'Go', pattern: /\(type \*?(?<pkg>[a-z]\w{1,40})\.(?<type>[A-Z]\w{1,60}) has no field or method (?<name>[A-Z]\w{1,60})/, find: ({ pkg, type, name }) => findGo(pkg ?? '', `${type}.${name}`) },
];

/**
 * Returns the member of a standard library that an error message reports as missing, with the version that
 * added or removed it. Returns null for any other message.
 */
export function findMember(text: string): VersionNeed | null {
  for (const { tool, pattern, find } of ROWS) {
    const groups = pattern.exec(text)?.groups ?? (pattern.test(text) ? {} : undefined);
    const found = groups === undefined ? undefined : find(groups);
    if (found === undefined) continue;
    const [subject, version] = found;
    return {
      tool,
      subject,
      version: version.replace(/^-/, ''),
      isGone: version.startsWith('-'),
      running: null,
      isFromTable: true,
    };
  }
  return null;
}

function lookUp(
  table: Readonly<Record<string, string>>,
  key: string,
  name: string = key,
): ReturnType<Lookup> {
  return Object.hasOwn(table, key) ? [`\`${name}\``, table[key] ?? ''] : undefined;
}

function getNodeModule(name = ''): string {
  return name.startsWith('node:') ? name : `node:${name}`;
}

/**
 * Finds the function of a failed call. A static member is found by its class, and an export by the name of
 * its module, in the forms that compilers give it. A method is found by its name alone, but only if the name
 * has several words, because such names are rarely ambiguous.
 */
function findCalled({
  receiver = '',
  name = '',
}: Readonly<Record<string, string | undefined>>): ReturnType<Lookup> {
  const owner = receiver.split('.').at(-1) ?? '';
  const staticMember = lookUp(NODE, `${owner}.${name}`, `${owner}.${name}`);
  if (staticMember !== undefined) return staticMember;
  if (receiver === '' && Object.hasOwn(NODE, name)) return lookUp(NODE, name, name);
  const module =
    /^(?:import_|_)?(?:node_?)?(?<module>[a-z]+(?:_promises)?)(?:_?\d{0,3}|__?default|Default)$/.exec(owner)
      ?.groups?.module;
  const moduleExport =
    module === undefined ? undefined : lookUp(NODE, `node:${module.replace('_', '/')}.${name}`, name);
  if (moduleExport !== undefined) return moduleExport;
  const wordBreaks = name.match(/[a-z\d](?=[A-Z])/g)?.length ?? 0;
  if (wordBreaks === 0) return undefined;
  const isSame = (key: string) =>
    key.endsWith(`#${name}`) || (wordBreaks > 1 && key.startsWith('node:') && key.endsWith(`.${name}`));
  const keys = Object.keys(NODE).filter(isSame);
  const versions = new Set(keys.map((key) => NODE[key] ?? ''));
  const [version = ''] = versions;
  return versions.size === 1 ? [`\`${name}\``, version] : undefined;
}

/** Finds a method of a class that only one module of Python has. */
function findMethod(type: string, name: string): ReturnType<Lookup> {
  const owner = type.split('.').at(-1) ?? '';
  const keys = Object.keys(PYTHON).filter((key) => key.endsWith(`.${owner}.${name}`));
  const [key] = keys;
  return keys.length === 1 && key !== undefined ? lookUp(PYTHON, key, `${owner}.${name}`) : undefined;
}

/** Finds a member of a Go package by the last part of the package's path. */
function findGo(pkg: string, name: string): ReturnType<Lookup> {
  const paths = Object.keys(GO).filter((key) => (key.split('.')[0] ?? '').split('/').at(-1) === pkg);
  const exact =
    paths.find((key) => key.endsWith(`${pkg}.${name}`)) ?? paths.find((key) => !key.includes('.'));
  return exact === undefined ? undefined : lookUp(GO, exact, `${pkg}.${name}`);
}
