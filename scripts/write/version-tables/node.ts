import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareVersions, type VersionTable } from './table.ts';

/** The oldest release with entries. Older ones are not in use. */
const OLDEST = '12.0.0';

interface Support {
  readonly version_added?: string | false;
  readonly flags?: unknown;
  readonly partial_implementation?: boolean;
}
interface Compat {
  readonly support: { readonly nodejs?: Support | readonly Support[] };
  readonly spec_url?: string | readonly string[];
}

/** Reads JavaScript's built-ins ("Array#toReversed", "Object.groupBy", "structuredClone") and the exports of Node's modules ("node:util.styleText"). */
export function readNodeTable(compatibility: string, types: string): VersionTable {
  const data = JSON.parse(readFileSync(join(compatibility, 'data.json'), 'utf8')) as Data;
  const since = new Map<string, string>();
  for (const [path, compat] of listEntries(data.javascript?.builtins ?? {}))
    note(findBuiltinKey(path, compat), findFirstVersion(compat));
  for (const [path, compat] of listEntries(data.api ?? {}))
    note(findInterfaceKey(path), findFirstVersion(compat));
  for (const [stub, module] of listStubs(types)) {
    note(`node:${module}`, readSinceWhen(stub.slice(0, stub.indexOf('declare module'))));
    for (const [name, version] of listExports(stub)) note(`node:${module}.${name}`, version);
  }
  const [compat, node] = [compatibility, types].map(
    (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version,
  );
  return {
    source: `@mdn/browser-compat-data ${compat}, @types/node ${node}`,
    license: 'CC0-1.0 (browser-compat-data), MIT (@types/node)',
    members: Object.fromEntries([...since].filter(isKept).toSorted()),
  };

  /** Leaves out old members, and methods that any class has had for long: their name tells nothing. */
  function isKept([key, version]: [string, string]): boolean {
    const method = key.split('#')[1];
    const others = method === undefined ? [] : [...since].filter(([other]) => other.endsWith(`#${method}`));
    return (
      compareVersions(version, OLDEST) >= 0 &&
      others.every(([, other]) => compareVersions(other, OLDEST) >= 0)
    );
  }

  function note(key: string | null, version: string | null): void {
    if (key === null || version === null) return;
    const known = since.get(key);
    if (known === undefined || compareVersions(version, known) < 0) since.set(key, version);
  }
}

interface Data {
  readonly [name: string]: Data | undefined;
}

function* listEntries(data: Data, path: readonly string[] = []): Generator<[readonly string[], Compat]> {
  for (const [name, value] of Object.entries(data)) {
    if (name === '__compat') yield [path, value as unknown as Compat];
    else if (value !== undefined && path.length < 2) yield* listEntries(value, [...path, name]);
  }
}

/** Names a member of the language: `Class#method` where the specification has it on the prototype. */
function findBuiltinKey(path: readonly string[], { spec_url: urls = [] }: Compat): string | null {
  return createKey(path, [urls].flat().some((url) => /prototype/i.test(url)) ? '#' : '.');
}

/** Names a member of an interface of the web: static ones are marked as such. */
function findInterfaceKey(path: readonly string[]): string | null {
  const names = path.map((part) => part.replace(/_static$/, ''));
  return createKey(names, names.join() === path.join() ? '#' : '.');
}

/** Joins owner and name; null for what is no name, such as an event or a behavior. */
function createKey([owner = '', name]: readonly string[], separator: '#' | '.'): string | null {
  if (![owner, name ?? 'a'].every((part) => /^[A-Za-z][A-Za-z\d]*$/.test(part)) || name === owner)
    return null;
  return name === undefined ? owner : `${owner}${separator}${name}`;
}

/** Returns the first release without a flag; a backport to an older line counts. */
function findFirstVersion({ support: { nodejs } }: Compat): string | null {
  const whole = [nodejs ?? []]
    .flat()
    .filter((support) => support.flags === undefined && support.partial_implementation !== true);
  const versions = whole.flatMap(({ version_added: added }) => (added ? [added] : []));
  const numbers = versions.filter((version) => /^\d/.test(version)).toSorted(compareVersions);
  return numbers[0] ?? null;
}

/** Returns the stubs of Node's modules, each with the module's name: `fs/promises`. */
function listStubs(folder: string): [text: string, module: string][] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^[a-z_/]+\.d\.ts$/.test(file),
  );
  return files.flatMap((file): [string, string][] => {
    const text = readFileSync(join(folder, file), 'utf8');
    const module = /^declare module "(?:node:)?(?<name>[\w/]{1,40})" \{/m.exec(text)?.groups?.name;
    return module === undefined ? [] : [[text, module]];
  });
}

/** Returns the functions and classes that a module declares, with the release that their comment names. */
function listExports(stub: string): [name: string, version: string][] {
  const found = stub.matchAll(
    /^ {4}\/\*\*(?<comment>(?:(?!\*\/)[\s\S])*)\*\/\n {4}(?:export )?(?:function|class|const) (?<name>\w{1,60})\b/gm,
  );
  return [...found].flatMap(({ groups: { comment = '', name = '' } = {} }): [string, string][] => {
    const version = readSinceWhen(comment);
    return version === null ? [] : [[name, version]];
  });
}

function readSinceWhen(comment: string): string | null {
  return /@since v(?<version>\d{1,3}\.\d{1,3}\.\d{1,3})/.exec(comment)?.groups?.version ?? null;
}
