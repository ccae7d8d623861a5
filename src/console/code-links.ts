import { type Build, CODE_HOSTS, type CodeHostName, isCodeHost } from '../domain/build.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { ShownStores } from '../stores/stores.ts';
import { linkTarget } from './html.ts';

/** A build whose page is below the page of its repository. */
export type BuildAtHost = Pick<Build, 'provider' | 'repository' | 'url'>;

/** A file at a commit, and the lines of it that matter. */
export interface CodePlace {
  readonly path: string;
  readonly commit: string;
  readonly lineStart?: number | null | undefined;
  readonly lineEnd?: number | null | undefined;
}

/**
 * Returns the address of lines of a file at the host of a build's repository. Returns null if the build does
 * not come from a code host, or if its page is not known.
 */
export function formatCodeAddress(
  { provider, repository, url }: BuildAtHost,
  { path, commit, lineStart, lineEnd }: CodePlace,
): string | null {
  const page = linkTarget(url);
  const end = page?.indexOf(`/${repository}/`) ?? -1;
  if (
    page === null ||
    end < 0 ||
    !isCodeHost(provider) ||
    !isPlainPath(path) ||
    !/^[0-9a-f]{7,64}$/.test(commit)
  )
    return null;
  const root = page.slice(0, end + repository.length + 1);
  const file = path.split('/').map(encodeURIComponent).join('/');
  const { folder, until } = ADDRESS_FORMS[provider];
  if (lineStart == null) return `${root}${folder}/${commit}/${file}`;
  const last = lineEnd != null && lineEnd > lineStart ? `${until}${lineEnd}` : '';
  return `${root}${folder}/${commit}/${file}#L${lineStart}${last}`;
}

/** Returns the place of a finding in the code, or null if it is none, such as an excerpt of a log. */
export function findCodePlace({ data, lineStart, lineEnd }: Evidence): CodePlace | null {
  const { path, commit, line } = data ?? {};
  if (typeof path !== 'string' || typeof commit !== 'string') return null;
  return { path, commit, lineStart: lineStart ?? (typeof line === 'number' ? line : null), lineEnd };
}

/** Finds a build of a repository whose page is below the page of the repository at its code host. */
export async function findBuildAtHost(
  stores: Pick<ShownStores, 'builds'>,
  repository: string,
): Promise<BuildAtHost | null> {
  const newest = await Promise.all(
    CODE_HOSTS.map((provider) => stores.builds.list({ repository, provider }, { limit: 1, offset: 0 })),
  );
  return newest.flat()[0] ?? null;
}

/** The folder of files at a commit below the page of a repository, and what precedes the last line. */
const ADDRESS_FORMS: Readonly<Record<CodeHostName, { readonly folder: string; readonly until: string }>> = {
  github: { folder: '/blob', until: '-L' },
  gitea: { folder: '/src/commit', until: '-L' },
  gitlab: { folder: '/-/blob', until: '-' },
};

function isPlainPath(path: string): boolean {
  return (
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !/[\\\0]/.test(path)
  );
}
