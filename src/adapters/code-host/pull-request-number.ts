/** How GitHub, Bitbucket and Azure DevOps title a merge, and how GitHub titles a squashed pull request. */
const MERGE = /^(?:Merge pull request #|Merged in [^\n]{1,200} \(pull request #|Merged PR )(\d{1,9})\b/;
const SQUASH = /\(#(\d{1,9})\)$/;

/** The pull request that a commit's own subject names, or null. A revert's quoted title does not count. */
export function pullRequestOf(subject: string): number | null {
  const named = MERGE.exec(subject) ?? SQUASH.exec(subject.trimEnd());
  return named === null ? null : Number(named[1]);
}
