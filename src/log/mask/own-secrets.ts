import { digestOfToken, isTokenForm } from '../../domain/access.ts';
import { createKnownFinder } from './known.ts';
import type { Masked } from './span.ts';

/** Returns the SHA-256, in hexadecimal, of each own secret in a text, in any spelling. */
export type FindOwnSecrets = (text: string) => readonly string[];

/**
 * The form of access tokens. The database stores only their digests, so they are recognized by form and
 * checksum.
 */
const TOKEN = /\bflt_[0-9A-Za-z]{49}\b/g;
/** The maximum number of tokens of one text. A hostile log could contain any number. */
const MAX_TOKENS = 20;

/**
 * Creates a finder for these secrets and for all text in the form of a token. The caller decides whether such
 * a token exists.
 */
export function createOwnSecretFinder(secrets: readonly string[]): FindOwnSecrets {
  const findAny = createKnownFinder(secrets);
  const each = secrets.map((secret) => ({
    digest: digestOfToken(secret),
    find: createKnownFinder([secret]),
  }));
  return (text) => {
    const configured =
      findAny === null || findAny(text).length === 0
        ? []
        : each.filter(({ find }) => (find?.(text).length ?? 0) > 0);
    const tokens = text.includes('flt_')
      ? [...new Set(text.match(TOKEN))].filter(isTokenForm).slice(0, MAX_TOKENS)
      : [];
    return [...new Set([...configured.map(({ digest }) => digest), ...tokens.map(digestOfToken)])];
  };
}

/** Lists the own secrets that were hidden in any of the texts, each once. */
export function collectOwnSecrets(masked: readonly Masked[]): readonly string[] {
  return [...new Set(masked.flatMap(({ own = [] }) => own))];
}
