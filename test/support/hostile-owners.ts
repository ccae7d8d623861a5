/** The rules of CODEOWNERS that take long to match. `provider` is the host that reads them in this way. */
export const HOSTILE_OWNERS = [
  { kind: 'globs that match late', provider: 'github', rule: `/${'*a'.repeat(90)}b` },
  { kind: 'folders in folders', provider: 'gitlab', rule: `${'**/'.repeat(60)}x` },
  { kind: 'regular expressions that repeat much', provider: 'gitea', rule: `${'(a?){99}'.repeat(20)}b` },
] as const;

/** Lists paths on which such rules take long. They are as long as a stack frame may name. */
export function listLongPaths(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${'a'.repeat(140 - at)}/${'a'.repeat(140)}.ts`);
}

/** Creates a CODEOWNERS file of about this size in bytes. */
export function createHostileOwners(rule: string, bytes: number): string {
  const lines = Array.from(
    { length: Math.ceil(bytes / (rule.length + 9)) },
    (_, at) => `${rule}${at % 2_000} @x\n`,
  );
  return lines.join('');
}
