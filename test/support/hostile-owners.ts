/** Rules of CODEOWNERS that match late; `provider` is the host that reads them so. */
export const HOSTILE_OWNERS = [
  { kind: 'globs that match late', provider: 'github', rule: `/${'*a'.repeat(90)}b` },
  { kind: 'folders in folders', provider: 'gitlab', rule: `${'**/'.repeat(60)}x` },
  { kind: 'regular expressions that repeat much', provider: 'gitea', rule: `${'(a?){99}'.repeat(20)}b` },
] as const;

/** Lists paths that such rules match late. They are as long as a frame of a stack may name. */
export function listLongPaths(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${'a'.repeat(140 - at)}/${'a'.repeat(140)}.ts`);
}

/** Writes a CODEOWNERS file of about so many bytes. */
export function hostileOwners(rule: string, bytes: number): string {
  const lines = Array.from(
    { length: Math.ceil(bytes / (rule.length + 9)) },
    (_, at) => `${rule}${at % 2_000} @x\n`,
  );
  return lines.join('');
}
