import { join, resolve } from 'node:path';

/**
 * The part of the git configuration of a checkout and its user that an experiment uses. None of it starts a
 * program.
 */
export interface GitSettings {
  /**
   * The settings for the files that git writes: line endings, links, modes, and the part of the tree that is
   * checked out.
   */
  readonly files: readonly (readonly [string, string])[];
  /** The settings that commands may read with git. */
  readonly shown: readonly (readonly [string, string])[];
  /** The names of filters that change files as they are checked out, with their commands. */
  readonly smudges: ReadonlyMap<string, string>;
  readonly hasSparseFiles: boolean;
  /** The remote from which a partial clone fetches missing objects. */
  readonly promisor: string | null;
  /** The folder in which Git LFS stores its fetched objects. */
  readonly lfsObjects: string;
}

const OF_FILES = new RegExp(
  String.raw`^core\.(?:autocrlf|eol|symlinks|filemode|ignorecase|precomposeunicode|longpaths|` +
    'checkroundtripencoding|sparsecheckout|sparsecheckoutcone)$',
);
const SHOWN = /^(?:remote\.[\s\S]+\.(?:url|fetch)|user\.(?:name|email))$/;

/** Reads `git config --list -z`. Later values override earlier ones. */
export function readGitSettings(
  listed: string,
  folders: { readonly common: string; readonly home: string; readonly config: string },
): GitSettings {
  const values = new Map<string, string>();
  for (const record of listed.split('\0')) {
    const end = record.indexOf('\n');
    // A name without a value is true.
    if (record !== '')
      values.set(end === -1 ? record : record.slice(0, end), end === -1 ? 'true' : record.slice(end + 1));
  }
  const all = [...values];
  const smudges = new Map<string, string>();
  for (const [name, value] of all) {
    const filter = /^filter\.([\s\S]+)\.(?:smudge|process)$/.exec(name)?.[1];
    // Filters without a command, or with `cat`, change nothing.
    if (filter !== undefined && value !== '' && value !== 'cat') smudges.set(filter, value);
  }
  const attributes =
    values.get('core.attributesfile')?.replace(/^~(?=\/)/, folders.home) ??
    join(folders.config, 'git/attributes');
  return {
    files: [...all.filter(([name]) => OF_FILES.test(name)), ['core.attributesfile', attributes]],
    shown: all.filter(([name]) => SHOWN.test(name)),
    smudges,
    hasSparseFiles: values.get('core.sparsecheckout') === 'true',
    promisor: findPromisor(values),
    lfsObjects: resolve(folders.common, values.get('lfs.storage') ?? 'lfs', 'objects'),
  };
}

function findPromisor(values: ReadonlyMap<string, string>): string | null {
  const old = values.get('extensions.partialclone');
  if (old !== undefined) return old;
  const name = [...values].find(
    ([key, value]) => /^remote\.[\s\S]+\.promisor$/.test(key) && value === 'true',
  )?.[0];
  return name?.slice('remote.'.length, -'.promisor'.length) ?? null;
}
