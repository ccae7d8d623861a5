import type { TriageSubject } from '../domain/triage.ts';
import { repositoryPathCandidates } from '../log/paths/repository-path.ts';

/** Files that nobody reads for a cause, unless the failure names them. */
const LITTLE_TELLING = /(?:^|\/)(?:docs?|changelogs?|LICENSE[\w.-]{0,20})(?:\/|$)|\.(?:md|rst|txt|svg|png|jpe?g|gif|snap|min\.js|map)$/i;

/** The files that the failure names come first, then those with the most changed lines; documents and pictures last. */
export function mentionedFirst<File extends { readonly path: string; readonly additions: number; readonly deletions: number }>(
  files: readonly File[],
  subject: TriageSubject,
): File[] {
  const mentioned = mentionedPaths(subject);
  const rank = ({ path }: File) => {
    if (mentioned.some((one) => one === path || path.endsWith(`/${one}`))) return 0;
    return LITTLE_TELLING.test(path) ? 2 : 1;
  };
  const size = (file: File) => Math.min(1_000, file.additions + file.deletions);
  return [...files].sort((left, right) => rank(left) - rank(right) || size(right) - size(left));
}

/** Paths that the failure's traces, diagnostics and tests name, as the repository would call them. */
function mentionedPaths(subject: TriageSubject): string[] {
  const frames = [...subject.exceptions, ...subject.failures].flatMap((item) =>
    item.frames.filter(({ own }) => own).map(({ file }) => file),
  );
  const named = [...subject.diagnostics, ...subject.failingTests].flatMap(({ file }) => file ?? []);
  const paths = [...new Set([...named, ...frames])].slice(0, 60).flatMap((file) => repositoryPathCandidates(file)[0] ?? []);
  return [...new Set(paths)];
}
