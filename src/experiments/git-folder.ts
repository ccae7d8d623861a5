import { copyFile, mkdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The contents of a `.git` folder. */
export interface GitFolder {
  /** The folders of objects that it borrows. */
  readonly objects: readonly string[];
  readonly format: 'sha1' | 'sha256';
  /** The settings as names and values, such as `core.autocrlf` and `true`. */
  readonly settings: readonly (readonly [string, string])[];
  /** A commit, or a branch without commits. */
  readonly head: string;
  /** The lines of `packed-refs`. */
  readonly refs?: string | undefined;
  /** The lines of `shallow`: commits whose parents are missing. */
  readonly shallow?: string | undefined;
  /** The lines of `info/attributes`. */
  readonly attributes?: string | undefined;
  /** The lines of `info/sparse-checkout`. */
  readonly sparse?: string | undefined;
}

/** Writes a new `.git` folder without hooks. */
export async function writeGitFolder(path: string, from: GitFolder): Promise<void> {
  await rm(path, { recursive: true, force: true });
  for (const part of ['objects/info', 'refs/heads', 'info'])
    await mkdir(join(path, part), { recursive: true });
  await writeFile(
    join(path, 'objects/info/alternates'),
    from.objects.map((folder) => `${folder}\n`).join(''),
  );
  await writeFile(join(path, 'HEAD'), `${from.head}\n`);
  if (from.refs !== undefined) await writeFile(join(path, 'packed-refs'), from.refs);
  if (from.shallow !== undefined) await writeFile(join(path, 'shallow'), from.shallow);
  await writeSettings(path, from);
}

/**
 * Writes the files that determine how git behaves there again, so that changes by other programs have no
 * effect.
 */
export async function writeSettings(
  path: string,
  { format, settings, attributes, sparse }: GitFolder,
): Promise<void> {
  const basics: [string, string][] = [
    ['core.repositoryformatversion', format === 'sha1' ? '0' : '1'],
    ['core.bare', 'false'],
  ];
  if (format !== 'sha1') basics.push(['extensions.objectformat', format]);
  await writeFile(join(path, 'config'), [...basics, ...settings].map(formatConfigLine).join(''));
  for (const [name, text] of [
    ['attributes', attributes],
    ['sparse-checkout', sparse],
  ] as const) {
    if (text === undefined) await rm(join(path, 'info', name), { force: true });
    else await writeFile(join(path, 'info', name), text);
  }
}

/**
 * Copies an index with its modification time, because git compares files of the same second or later by
 * content.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const second = Math.floor((await stat(from)).mtimeMs / 1000);
  await utimes(to, second, second);
}

function formatConfigLine([name, value]: readonly [string, string]): string {
  const [first, last] = [name.indexOf('.'), name.lastIndexOf('.')];
  const quote = (text: string) =>
    `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
  const section =
    first === last ? name.slice(0, first) : `${name.slice(0, first)} ${quote(name.slice(first + 1, last))}`;
  return `[${section}]\n\t${name.slice(last + 1)} = ${quote(value)}\n`;
}
