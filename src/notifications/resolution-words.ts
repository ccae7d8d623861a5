import type { FixedFailure } from '../domain/graded.ts';
import type { Resolution } from '../domain/outcome.ts';
import { formatCount } from '../lib/text.ts';

/** Describes in one sentence how a failure was fixed. Names in the sentence are untrusted text. */
export function describeResolution({ kind, green, files, isRevert, commits, doubt }: Resolution): string {
  const build = `${green.pipeline} #${green.number}${green.attempt > 1 ? `, attempt ${green.attempt}` : ''}`;
  const commit =
    commits[0] === undefined ? '' : ` (${commits[0].commit.slice(0, 7)} by ${commits[0].author})`;
  const doubtful = doubt === null ? '' : ` What fixed it is doubtful: ${doubt}.`;
  switch (kind) {
    case 'rerun':
      return `The same commit passed in ${build}.${doubtful}`;
    case 'nothing':
      return `It passed in ${build}, and nothing that is built was changed.${doubtful}`;
    case 'base':
      return `It passed in ${build} after the target branch had moved.${doubtful}`;
    case 'unknown':
      return `It passed in ${build}; the change could not be read.`;
    case 'change': {
      const what = isRevert ? 'a revert of' : 'a change of';
      return `It passed in ${build} after ${what} ${listFiles(files)}${commit}.${doubtful}`;
    }
  }
}

function listFiles(files: readonly string[]): string {
  const listed = files.slice(0, 3).join(', ');
  const more = files.length - Math.min(3, files.length);
  return more === 0 ? listed || 'documents' : `${listed} and ${formatCount(more, 'more file')}`;
}

/**
 * Names the file whose edits fixed the last failures like this one, with the builds that prove it. Returns
 * null unless editing the same file fixed all of them: at least two, or one that failed in the same way.
 */
export function describeEarlierFix(
  fixes: readonly FixedFailure[],
): { readonly text: string; readonly path: string } | null {
  const same = fixes.filter(({ isSame }) => isSame);
  const meant = same.length > 0 ? same : fixes;
  const [first] = meant;
  const path = first?.files.find((file) => meant.every(({ files }) => files.includes(file)));
  if (path === undefined || (same.length === 0 && meant.length < 2)) return null;
  const lead = describeTimes(meant.length, same.length > 0);
  const builds = meant.map(({ pipeline, number }) => `${pipeline} #${number}`).join(', ');
  return { text: `${lead} fixed by editing ${path} (${builds}). No reviewer has confirmed this.`, path };
}

function describeTimes(count: number, isSame: boolean): string {
  if (count === 1) return 'The same failure was';
  return isSame
    ? `The last ${count} times this failed, it was`
    : `The last ${count} failures of this kind were`;
}
