import { TriageError } from '../domain/errors.ts';
import type { Finding } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { repositoryPathCandidates } from '../log/paths/repository-path.ts';
import type { CodeHost } from '../ports/code-host.ts';

/** The commit that answers, with a remark where it is not the one that was built. */
export interface ResolvedCommit {
  readonly ref: string;
  readonly note: string | null;
}

export type Located = { readonly path: string } | { readonly candidates: readonly string[] } | null;

/** Most files named when a path fits several. */
const MAX_NAMED = 8;
/** Suffixes tried before giving up. */
const MAX_TRIES = 12;

/** Why no code can be read for this build, or null. */
export async function codeUnavailable(codeHost: CodeHost, subject: TriageSubject): Promise<string | null> {
  if (await codeHost.canRead(subject.build.repository)) return null;
  return `No clone of ${subject.build.repository} is configured, so its code cannot be read.`;
}

/** The built commit, or what stands in for it. Throws `not-found` where the repository holds no commit. */
export async function resolveCommit(codeHost: CodeHost, subject: TriageSubject, signal: AbortSignal): Promise<ResolvedCommit> {
  const { repository, commit } = subject.build;
  const resolved = await codeHost.resolve({ repository, ref: commit }, signal);
  if (resolved.ref === null) throw new TriageError('not-found', `${repository} has no readable commit.`);
  const unnamed = commit === null ? `as of ${resolved.ref.slice(0, 10)}: the build names no commit` : null;
  return { ref: resolved.ref, note: resolved.note ?? unnamed };
}

/** Finds the file that a path from a log means; several fit where the path is too short to tell. */
export async function locateFile(
  codeHost: CodeHost,
  query: { repository: string; ref: string; path: string },
  signal: AbortSignal,
): Promise<Located> {
  for (const suffix of repositoryPathCandidates(query.path).slice(0, MAX_TRIES)) {
    const matches = await codeHost.findFiles({ repository: query.repository, ref: query.ref, suffix, limit: MAX_NAMED }, signal);
    const [first] = matches;
    if (first === undefined) continue;
    if (matches.includes(suffix)) return { path: suffix };
    return matches.length === 1 ? { path: first } : { candidates: matches };
  }
  return null;
}

/** Says that a path fits several files, so that the next question can name one. */
export function ambiguousPath(asked: string, candidates: readonly string[]): Finding {
  return {
    title: `${asked} fits ${candidates.length} files; name one of them`,
    text: candidates.join('\n'),
    source: 'repository',
    data: { candidates: [...candidates] },
  };
}

/** The remark on a commit as the end of a title. */
export function withNote(title: string, commit: ResolvedCommit): string {
  return commit.note === null ? title : `${title} (${commit.note})`;
}
