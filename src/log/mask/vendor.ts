import stored from './gitleaks/rules.json' with { type: 'json' };

/** Tokens that gitleaks' rules know by their form: literals (lower case) without which a text holds none, and the pattern. */
export const VENDOR_TOKENS: readonly (readonly [literals: readonly string[], pattern: string])[] = stored.tokens.map(
  ({ keywords, pattern }) => [keywords, pattern],
);

const NAMED = stored.named.map(({ name, value }) => ({ name: new RegExp(name, 'i'), value: new RegExp(`^(?:${value})$`) }));

/** Whether a value has the form of a secret of the maker in its name, as the 16 digits of `ASANA_TOKEN`, which could be anything elsewhere. */
export function isVendorValue(name: string, value: string): boolean {
  return NAMED.some((rule) => rule.value.test(value) && rule.name.test(name));
}
