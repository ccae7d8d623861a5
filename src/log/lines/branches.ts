/** Literals whose lines {@link branchNames} needs. */
export const BRANCH_LITERALS = ['[Pipeline] { (Branch: '] as const;

/** Names of the branches of parallel stages: Jenkins puts them in brackets before each line of theirs. */
export function branchNames(plain: string): readonly string[] {
  if (!plain.includes('[Pipeline] { (Branch: ')) return [];
  return [...new Set(Array.from(plain.matchAll(/\[Pipeline\] \{ \(Branch: ([^\n)]{1,100})\)/g), ([, name]) => name ?? ''))].slice(0, 50);
}
