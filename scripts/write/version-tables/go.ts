import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VersionTable } from './table.ts';

/** The oldest release with entries. Older ones are not in use. */
const OLDEST = 13;
const ADDED = /^pkg (?<pkg>[\w/]{1,80})(?: \([^)]{1,40}\))?, (?:func|type|var|const) (?<name>[A-Z]\w{0,80})/;
const METHOD =
  /^pkg (?<pkg>[\w/]{1,80})(?: \([^)]{1,40}\))?, method \(\*?(?<type>\w{1,80})(?:\[[^\]]{1,80}\])?\) (?<name>[A-Z]\w{0,80})/;

/** Reads `api/go1.N.txt` of a Go distribution: packages ("slices"), their members ("slices.Sort") and methods ("bytes.Buffer.Available"). */
export function readGoTable(folder: string): VersionTable {
  const since = new Map<string, number>();
  for (const file of readdirSync(folder)) {
    const minor = Number(/^go1\.(\d{1,3})\.txt$/.exec(file)?.[1] ?? (file === 'go1.txt' ? 0 : Number.NaN));
    if (!Number.isNaN(minor))
      for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) read(line, minor);
  }
  const kept = [...since].filter(([name, minor]) => minor >= OLDEST && !covers(name, minor));
  const newest = [...since.values()].reduce((most, minor) => Math.max(most, minor), 0);
  return {
    source: `api/go1.*.txt of Go 1.${newest}`,
    license: 'BSD-3-Clause',
    members: Object.fromEntries(kept.toSorted().map(([name, minor]) => [name, `1.${minor}`])),
  };

  function read(line: string, minor: number): void {
    const method = METHOD.exec(line)?.groups;
    const { pkg = '', name = '' } = ADDED.exec(line)?.groups ?? method ?? {};
    if (pkg === '' || pkg === 'syscall') return;
    for (const full of [pkg, `${pkg}.${method === undefined ? '' : `${method.type}.`}${name}`])
      since.set(full, Math.min(minor, since.get(full) ?? minor));
  }

  /**
   * Tells whether the package or type of a member has the same version, so that the member needs no entry.
   */
  function covers(name: string, minor: number): boolean {
    const at = name.lastIndexOf('.');
    return at > 0 && since.get(name.slice(0, at)) === minor;
  }
}
